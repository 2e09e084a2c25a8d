"""A generated text says only what its source says: figures in both scripts, dates, names."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.domain.fidelity import inventions, source_of
from digest.domain.figures import figures, figures_of_source, stands_in
from digest.domain.glossary import Glossary, Term
from digest.domain.language import Language
from digest.domain.names import named_in, names
from digest.domain.numerals import read_numeral
from digest.domain.story import Story, StoryText

EN, ZH = Language.ENGLISH, Language.CHINESE
NVIDIA = Term({EN: "NVIDIA", ZH: "英伟达"}, ("NVIDIA", "英伟达", "Nvidia", "辉达"), {EN: ("Nvidia",), ZH: ("辉达",)})
CHINA = Term({EN: "China", ZH: "中国"}, ("China", "中国", "Chinese"), {EN: (), ZH: ()})
GLOSSARY = Glossary((NVIDIA, CHINA), frozenset({"AI", "GPU"}))


def invented(said: str, source: str, language: Language = EN) -> list[str]:
    return inventions(StoryText(said), language, source, GLOSSARY)


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("It has 1.2 million users.", "目前用户已达 120 万。"),
        ("共有 120 万用户。", "It now has 1,200,000 users."),
        ("融资 34 亿美元。", "The round of $3.4 billion closed."),
        ("The round was $3.4bn.", "本轮融资 34 亿美元。"),
        ("Revenue of 3.4 billion yuan rose 12%.", "营收 34 亿元，同比增长百分之十二。"),
        ("效率提升 30%。", "效率提升三成。"),
        ("Up 10% to 20%.", "Up 10–20% on the year."),
        ("The first 320 people came.", "首批三百二十人到场。"),
        ("About 1.2 million came.", "Exactly 1,234,567 came."),
        ("It ships on December 2, 2026.", "将于 2026年12月2日发货。"),
        ("将于 12 月 2 日发货。", "It ships on Dec. 2."),
        ("It ships on June 9, 2027.", "Published 2027-06-09."),
        ("The GPU has 72 GB.", "配备 72GB 显存。"),
        ("速度是原来的 3 倍。", "It is three times as fast."),
        ("It runs 27 billion parameters.", "Qwen3.6-27B 正式开源，参数量 270 亿。"),
        ("写出 50 万条标题。", "It wrote half a million titles."),
        ("Twelve firms signed.", "12 家公司签署。"),
        ("It used 3.1 tokens.", "谷歌推出Gemini3.1Pro。"),
        ("千问十分重要，万一不行再说。", "Nothing with numbers."),
        ("A few, one or two, perhaps half of them.", "Nothing with numbers."),
    ],
)
def test_a_figure_that_stands_in_the_source_passes_in_either_script(said: str, source: str) -> None:
    language = ZH if any("\u4e00" <= c <= "\u9fff" for c in said) else EN
    assert not [word for word in invented(said, source, language) if any(c.isdigit() for c in word)]


@pytest.mark.parametrize(
    ("said", "source", "wrong"),
    [
        ("It has 1.3 million users.", "目前用户已达 120 万。", "1.3 million"),
        ("共有 1200 万用户。", "It now has 1,200,000 users.", "1200 万"),
        ("融资 34 亿元。", "The round of $3.4 billion closed.", "34 亿元"),
        ("Up 12%.", "It has 12 people.", "12%"),
        ("The GPU has 72 GB.", "It has 72 MB.", "72 GB"),
        ("About 1 million came.", "Exactly 1,234,567 came.", "1 million"),
        ("Nine of ten agree.", "Most agree.", "Nine"),
        ("共有四十家公司。", "Many firms.", "四十家"),
        ("It ships in November.", "It ships in December.", "November"),
        ("It was $5.", "It was 5 euros.", "$5"),
        ("It costs 1.24 million.", "It costs 1,234,567.", "1.24 million"),
        ("Closed for 9 days.", "Published 2027-06-09.", "9 days"),
        ("关闭 9 天。", "Published 2027-06-09.", "9 天"),
        ("Due Tuesday.", "Due on Monday.", "Tuesday"),
        ("将于周二发布。", "Due on Monday.", "周二"),
    ],
)
def test_a_figure_that_does_not_is_named(said: str, source: str, wrong: str) -> None:
    language = ZH if any("\u4e00" <= c <= "\u9fff" for c in said) else EN
    assert wrong in invented(said, source, language)


@pytest.mark.parametrize(
    ("said", "source", "language"),
    [
        ("The deal with NVIDIA is done.", "与英伟达的交易已完成。", EN),
        ("英伟达完成交易。", "Nvidia closes the deal.", ZH),
        ("It calls DeepSeek-V3.2 final.", "DeepSeek V3.2 正式版", EN),
        ("Users of OpenAI’s models in Chinese cities use AI.", "OpenAI models in China", EN),
        ("The head, Liang Wenfeng (梁文锋), spoke.", "梁文锋发言。", EN),
        ("GPT-5.2 已上线。", "Introducing GPT-5.2", ZH),
        ("The long-named Anthropic-backed tool ran.", "A tool backed by Anthropic", EN),
        ("Banks everywhere agreed.", "nothing", EN),
        ("梁文锋表示，模型已开源。", "梁文锋：模型已开源", ZH),
    ],
)
def test_a_name_that_stands_in_the_source_passes_in_either_script(said: str, source: str, language: Language) -> None:
    assert invented(said, source, language) == []


@pytest.mark.parametrize(
    ("said", "source", "language", "wrong"),
    [
        ("NVIDIA did it.", "AMD did it.", EN, "NVIDIA"),
        ("英伟达做到了。", "AMD did it.", ZH, "英伟达"),
        ("It works with Netflix and Spotify.", "It works with Netflix.", EN, "Spotify"),
        ("它支持 Spotify。", "It works with Netflix.", ZH, "Spotify"),
        ("The firm released GPT-5.3 today.", "Introducing GPT-5.2", EN, "GPT-5.3"),
        ("The head, Liang Wenfeng (梁文锋), spoke.", "Someone spoke.", EN, "梁文锋"),
        ("约翰·史密斯加入。", "Jane Doe joined.", ZH, "约翰·史密斯加入"),
        ("王小明表示很好。", "李雷：很好", ZH, "王小明"),
    ],
)
def test_a_name_that_does_not_is_named(said: str, source: str, language: Language, wrong: str) -> None:
    assert wrong in invented(said, source, language)


def test_the_date_of_publication_and_the_name_of_the_source_may_be_said() -> None:
    text = StoryText(
        "Ports reopen", quick_answer="City News reported on Wednesday, December 2, 2026, that ports reopen."
    )
    story = Story("https://x.example/1", "City News", EN, datetime(2026, 12, 2, tzinfo=UTC), {EN: StoryText("Ports")})
    assert inventions(text, EN, source_of(story), GLOSSARY) == []
    undated = replace(story, published_at=None)
    assert {"2026", "December", "Wednesday"} <= set(inventions(text, EN, source_of(undated), GLOSSARY))


def test_names_that_the_brief_avoids_are_replaced_at_their_edges_only() -> None:
    assert GLOSSARY.in_house_style("Nvidia and Nvidiary", EN) == "NVIDIA and Nvidiary"
    assert GLOSSARY.in_house_style("辉达的芯片", ZH) == "英伟达的芯片"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("十二", 12),
        ("三百二十", 320),
        ("一亿二千万", 120_000_000),
        ("二〇二六", 2026),
        ("两", 2),
        ("万", None),
        ("千万", None),
    ],
)
def test_chinese_numerals_are_read(text: str, value: int | None) -> None:
    assert read_numeral(text) == value


@given(st.text(max_size=60), st.sampled_from(list(Language)))
def test_a_text_stands_in_itself(text: str, language: Language) -> None:
    known = figures_of_source(text)
    assert all(stands_in(figure, known) for figure in figures(text))
    assert all(named_in(name, text) for name in names(text, language) if any(c.isalnum() for c in name))


@given(st.integers(1, 10**13), st.sampled_from([("million", "万", 10**6), ("billion", "亿", 10**9)]))
def test_scales_are_converted_without_loss(value: int, scale: tuple[str, str, int]) -> None:
    english, chinese, factor = scale
    in_chinese = value * factor // 10**4 if chinese == "万" else value * factor // 10**8
    (figure,) = figures_of_source(f"{value:,} {english}")
    assert stands_in(figure, figures_of_source(f"{in_chinese} {chinese}"))
