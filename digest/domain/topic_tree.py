"""The tree of topics as data: change it here, and forms, rules and briefs follow.

Each row: name, parent, English label, Chinese label, English words and Chinese words that tell of it (patterns of
regular expressions in lower case, matched whatever the case).
"""

Row = tuple[str, str, str, str, str, str]

TREE: tuple[Row, ...] = (
    (
        "models",
        "",
        "Models",
        "模型",
        (
            r"language models?|llms?|foundation models?|reasoning models?|frontier models?|gpt-?\d[\w.]*"
            r"|gemini \d[\w.]*|claude (?:opus|sonnet|haiku)|llama|qwen[\w.-]*|deepseek[- ]?[vr]\d[\w.]*"
            r"|model card|system card"
        ),
        r"大模型|语言模型|推理模型|基座模型|基础模型|预览版|正式版发布|千问|文心|混元|豆包",
    ),
    (
        "open-models",
        "models",
        "Open models",
        "开放模型",
        r"open[- ]weights?|open[- ]source models?|open models?|hugging ?face",
        r"开源模型|正式开源|模型开源|开放权重|开源了",
    ),
    (
        "media-models",
        "models",
        "Image, video, and audio",
        "图像、视频与音频",
        (
            r"image (?:generation|model|editing)s?|video (?:generation|model)s?|text-to-(?:image|video|speech)"
            r"|speech model|sora|veo|midjourney|flux[.\d]*|chatgpt images|voice model"
        ),
        r"视频模型|图像模型|图像生成|视频生成|文生图|文生视频|语音合成|音乐生成|世界模型|多模态",
    ),
    (
        "agents",
        "",
        "Agents",
        "智能体",
        r"agents?|agentic|computer use|model context protocol|mcp",
        r"智能体|数字分身|自动化助手|龙虾|ai ?助手",
    ),
    (
        "tools",
        "",
        "Tools",
        "工具",
        r"apps?|features?|plugins?|extensions?|assistants?|sdk|api|workspace|now available|rolling out",
        r"应用|上线|插件|功能|助手|小程序|客户端|接入",
    ),
    (
        "coding",
        "tools",
        "Coding",
        "编程",
        r"coding|codex|claude code|copilot|cursor|developers?|software engineering|code review|ide",
        r"编程|程序员|代码|开发者|开发工具",
    ),
    (
        "chips",
        "",
        "Chips",
        "芯片",
        r"gpus?|tpus?|npus?|chips?|semiconductors?|blackwell|hopper|rubin|rtx|dgx|trainium|wafers?|tsmc|hbm",
        r"芯片|显卡|算力|半导体|晶圆|台积电|昇腾|光刻",
    ),
    (
        "data-centers",
        "chips",
        "Data centers",
        "数据中心",
        r"data ?cent(?:er|re)s?|gigawatts?|ai factor(?:y|ies)|supercomputers?|superclusters?|ai infrastructure",
        r"数据中心|超算|算力中心|智算",
    ),
    (
        "business",
        "",
        "Business",
        "商业",
        (
            r"partnerships?|partners with|revenue|customers?|enterprises?|acqui(?:res?|red|sition)|appoints?|ceo"
            r"|earnings|market share|chief \w+ officer"
        ),
        r"收购|营收|合作|客户|企业|财报|任命|首席|商业化|市场份额|一级部门",
    ),
    (
        "funding",
        "business",
        "Funding",
        "融资",
        r"funding|raises? \$?[\d.]+|series [a-h]\b|valuation|ipo|venture capital|invest(?:s|ed|ment|ments|ors?)",
        r"融资|估值|上市|投资|领投|ipo",
    ),
    (
        "policy",
        "",
        "Policy",
        "政策",
        (
            r"polic(?:y|ies|ymakers?)|regulat\w+|governments?|legislation|congress|senate|executive order|antitrust"
            r"|department of \w+|ministr(?:y|ies)|lawsuits?|sanctions?|export controls?"
        ),
        r"政策|监管|法规|政府|立法|广电|网信办|工信部|反垄断|出口管制|治理",
    ),
    (
        "copyright",
        "policy",
        "Copyright",
        "版权",
        r"copyright\w*|intellectual property|licensing deal|fair use|royalt(?:y|ies)",
        r"版权|著作权|侵权|肖像权|换脸",
    ),
    (
        "safety",
        "",
        "Safety",
        "安全",
        r"safety|alignment|misuse|red[- ]team\w*|guardrails?|safeguards?|teen protections?|chain-of-thought monitor\w*",
        r"安全|对齐|滥用|红队|防护|未成年人",
    ),
    (
        "cybersecurity",
        "safety",
        "Cybersecurity",
        "网络安全",
        r"cyber\w*|prompt injection|malware|vulnerabilit(?:y|ies)|hackers?|espionage|phishing",
        r"网络安全|漏洞|黑客|提示词注入|间谍|钓鱼",
    ),
    (
        "research",
        "",
        "Research",
        "研究",
        r"research(?:ers?)?|papers?|benchmarks?|neurips|icml|iclr|evaluat\w+|arxiv|state[- ]of[- ]the[- ]art",
        r"研究|论文|基准|评测|学术|登顶",
    ),
    (
        "science",
        "",
        "Science",
        "科学",
        r"scien(?:ce|tific|tists?)|biolog\w+|chemis\w+|physics|mathemat\w+|astronom\w+|climate|laborator(?:y|ies)",
        r"科学|生物|化学|物理|数学|天文|气候|实验室",
    ),
    (
        "health",
        "science",
        "Health",
        "医疗健康",
        r"health(?:care)?|medic(?:al|ine)|hospitals?|patients?|drug discovery|clinical|cancer",
        r"医疗|健康|医院|患者|药物|临床|癌症",
    ),
    (
        "education",
        "",
        "Education",
        "教育",
        r"educat\w+|students?|teachers?|classrooms?|schools?|universit(?:y|ies)|literacy|fellowships?|certifications?",
        r"教育|学生|教师|课堂|学校|大学|课程|认证",
    ),
    (
        "robotics",
        "",
        "Robotics",
        "机器人",
        r"robots?|robotics?|humanoids?|physical ai|embodied|drones?",
        r"机器人|具身|人形|无人机",
    ),
    (
        "driving",
        "robotics",
        "Self-driving",
        "自动驾驶",
        r"self-driving|autonomous (?:driving|vehicles?)|robotaxis?|waymo|tesla|automakers?",
        r"自动驾驶|智驾|车载|无人驾驶|特斯拉|汽车",
    ),
)
