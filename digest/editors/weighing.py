"""How much one sentence of a source tells by itself: the measure the extractive editor chooses by.

Sentences are weighed as in Luhn's and Edmundson's abstracts (1958, 1969): words of the title, cue phrases, figures and
position, less for what can't stand alone.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from digest.domain.sentences import width

SHORTEST, LONGEST = 36, 340
"""Columns between which a sentence can stand by itself in a brief."""
_IDEAL_WIDTH = 220
_EARLY = 12
_ALIKE = 0.5

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9.+-]+")
_HAN_RUN = re.compile(r"[\u3400-\u9fff]{2,}")
_FIGURE = re.compile(r"\d")
_CUE = re.compile(
    r"\b(?:announc|launch|releas|introduc|unveil|acquir|rais|report|found|show|first|record|largest|will|more than)"
    r"|发布|推出|上线|开源|宣布|收购|融资|首次|首个|发现|显示|达到|超过|提升|降低|将于|意味着|标志着",
    re.IGNORECASE,
)
_LEANS_BACK = re.compile(
    r"(?:And|But|So|Yet|Or|Also|However|Then|Thus|It|Its|This|That|These|Those|They|Their|He|She|Such|Here|There"
    r"|For example|In addition|Meanwhile|Instead|Plus|Additionally|Moreover|Similarly|Likewise|Finally"
    r"|First(?: is|,)|Second|Third"
    r"|(?:We|They|You)(?:’re|'re)? also|To (?:do|achieve) (?:this|that|so)"
    r"|As (?:a result|such)|With (?:this|that|these))\b"
    r"|尽管|虽然|即便|但|而|并且|因此|所以|此外|另外|其中|同时|然而|不过|这|该|它|他|她|对此|以下"
)
_CALL = re.compile(
    r"\b(?:subscribe|sign up|click|follow us|learn more|read (?:more|on|the full)|cookies?|newsletter|download now)\b"
    r"|\beditor[’']s note\b|点击(?:链接|阅读|原文|下方|上方|这里|此处|查看|关注)"
    r"|关注我们|扫码|订阅|公众号|阅读更多|责任编辑|版权",
    re.IGNORECASE,
)
_HYPE = re.compile(
    r"\b(?:excited|thrilled|proud|delighted|groundbreaking|game-chang|revolutionary|seamless|magical|unlock|beloved)"
    r"|重磅|震撼|炸裂|颠覆|史诗级|天花板|遥遥领先",
    re.IGNORECASE,
)
_MATTERS = re.compile(
    r"\b(?:means?|will|can now|allows?|enables?|helps?|lets|makes|so that|because|compared with|more than|fewer than)\b"
    r"|意味着|标志着|有望|将|使得|从而|帮助|相比|可以",
    re.IGNORECASE,
)
_GLUED = re.compile(r"\b[a-z]{3,}[A-Z][a-z]")
"""Two words that lost the gap between them (“withUnder”); names are written otherwise (macOS, iPhone)."""
_ENDED = re.compile(r"[.!。！][”’」』）)》】\"']*$")
_PAIRS = (("“", "”"), ("「", "」"), ("『", "』"), ("《", "》"), ("（", "）"), ("(", ")"), ("[", "]"))
_COMMON = frozenset(
    {"the", "and", "for", "with", "from", "that", "this", "its", "are", "was", "were", "has", "have", "had", "will"}
    | {"can", "not", "but", "you", "your", "our", "their", "they", "into", "than", "how", "why", "what", "who", "when"}
    | {"new", "now", "more", "most", "about", "over", "after", "also"}
)


@dataclass(frozen=True, slots=True)
class Weighed:
    """One sentence of a source.

    Attributes:
        text: as it stands there.
        position: 0 for the first.
        weight: higher tells more; comparable within one source.
    """

    text: str
    position: int
    weight: float


def stands_alone(sentence: str) -> bool:
    """Whether it is a whole statement of usable length, no half of a quotation and no call to do something."""
    fits = SHORTEST <= width(sentence) <= LONGEST
    spoilt = _CALL.search(sentence) or _GLUED.search(sentence)
    return fits and bool(_ENDED.search(sentence)) and _is_balanced(sentence) and not spoilt


def _is_balanced(sentence: str) -> bool:
    pairs = all(sentence.count(opening) == sentence.count(closing) for opening, closing in _PAIRS)
    return pairs and sentence.count('"') % 2 == 0


def weigh(sentence: str, position: int, title: str) -> Weighed:
    """The sentence with its weight in a source of that title."""
    wanted = terms(title)
    shared = len(wanted & terms(sentence)) / len(wanted) if wanted else 0.0
    weight = 3 * shared + (1.0 if _FIGURE.search(sentence) else 0.0) + (1.0 if _CUE.search(sentence) else 0.0)
    weight += 1.5 * max(0.0, 1 - position / _EARLY)
    weight -= abs(width(sentence) - _IDEAL_WIDTH) / _IDEAL_WIDTH
    weight -= 2.5 if _LEANS_BACK.match(sentence) else 0.0
    weight -= 0.7 if _HYPE.search(sentence) else 0.0
    weight -= 1.0 if sentence.startswith(("“", '"', "‘", "「")) else 0.0
    return Weighed(sentence, position, weight)


def matters(sentence: Weighed) -> float:
    """How well a sentence serves as a take: its weight, and more where it says what follows from the news."""
    return sentence.weight + (0.8 if _MATTERS.search(sentence.text) else 0.0)


@lru_cache(maxsize=2048)
def terms(text: str) -> frozenset[str]:
    """What a text is about: its words of three letters and more, and the pairs of neighbours in runs of Han."""
    words = {word.lower().rstrip(".") for word in _WORD.findall(text) if len(word) > 2} - _COMMON  # noqa: PLR2004 - “of”, “to”, “in”
    pairs = {run[i : i + 2] for run in _HAN_RUN.findall(text) for i in range(len(run) - 1)}
    return frozenset(words | pairs)


def alike(one: str, other: str) -> bool:
    """Whether a reader of one learns little from the other."""
    first, second = terms(one), terms(other)
    smaller = min(len(first), len(second))
    return one == other or (smaller > 0 and len(first & second) / smaller > _ALIKE)
