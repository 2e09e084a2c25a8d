"""What a headline is about, in terms that two languages share: names, products with their version, amounts, deeds."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_POWERS = {
    "k": 3,
    "thousand": 3,
    "m": 6,
    "mn": 6,
    "million": 6,
    "b": 9,
    "bn": 9,
    "billion": 9,
    "tn": 12,
    "trillion": 12,
}
_HAN_POWERS = {"千": 3, "万": 4, "百万": 6, "千万": 7, "亿": 8, "十亿": 9, "百亿": 10, "千亿": 11, "万亿": 12}
_AMOUNT = re.compile(
    r"(?<![\w.])(?P<money>[$€£¥]\s?)?(?P<number>\d[\d,]*(?:\.\d+)?)\s?-?"
    r"(?:(?P<scale>thousand|million|billion|trillion|[kmb]n?|tn)(?![a-z])"
    r"|(?P<han>[百千十]?[万亿千]亿?)|(?P<percent>%|percent\b|个?百分点))?(?:\s?(?:美元|元|欧元))?",
    re.IGNORECASE,
)
_HYPHENS = "-‑–"
_TOKEN = re.compile(r"[a-z]+|\d+(?:\.\d+)*+(?:[a-z]{1,2}(?![a-z]))?|[一-鿿]+|[-‑–./]|[^\s\w]")
_YEAR = re.compile(r"^(?:19|20)\d\d$")
_DATE = re.compile(r"\b\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?")
_POSSESSIVE = re.compile(r"(?<=[a-z])['’]s\b|(?<=s)['’](?=\s)")
_AHEAD = re.compile(r"\b(?:soon|upcoming|coming)\b|即将|将于")
_HAN_RUN = re.compile(r"[一-鿿]{2,}")
_SHORTEST_NAME = 2


@dataclass(frozen=True, slots=True)
class Terms:
    """What a text is about.

    Attributes:
        words: names and other telling words in Latin letters, folded; Chinese names as their owners write them.
        products: names with a version, as ``gpt5.2codex``, ``v3.2``, ``opus4.5``.
        amounts: money, percentages and large numbers, as ``60000``, ``5%``.
        deeds: what is done, as ``acquire``.
        han: pairs of Chinese characters.
        ahead: it is said of the future.
    """

    words: frozenset[str]
    products: frozenset[str]
    amounts: frozenset[str]
    deeds: frozenset[str]
    han: frozenset[str]
    ahead: bool


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    stop: frozenset[str]
    suffixes: frozenset[str]
    deeds: Mapping[str, str]
    names: Mapping[str, str]
    spellings: frozenset[str]
    name: re.Pattern[str]


@cache
def _vocabulary() -> _Vocabulary:
    content = tomllib.loads(files(__package__).joinpath("vocabulary.toml").read_text(encoding="utf-8"))
    names = content["names"]
    return _Vocabulary(
        stop=frozenset(content["stop"].split()),
        suffixes=frozenset(content["suffixes"].split()),
        deeds={word: deed for deed, words in content["deeds"].items() for word in words.split()},
        names=names,
        spellings=frozenset(word for spelling in names.values() for word in spelling.split()),
        name=re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True)))),
    )


def terms_of(text: str) -> Terms:
    """The terms of a title or a short text."""
    folded, vocabulary = fold(text), _vocabulary()
    named = vocabulary.name.sub(lambda match: f" {vocabulary.names[match[0]]} ", folded)
    amounts, rest = _amounts(_DATE.sub(" ", named))
    tokens = _TOKEN.findall(rest)
    products, used = _products(tokens)
    words = {singular(token) for at, token in enumerate(tokens) if at not in used and _is_telling(token)}
    return Terms(
        words=frozenset(words),
        products=frozenset(products),
        amounts=frozenset(amounts),
        deeds=frozenset(_deeds(folded)),
        han=frozenset(_pairs(folded)),
        ahead=_AHEAD.search(folded) is not None,
    )


def fold(text: str) -> str:
    """NFKC, lower case, without the ’s of English."""
    return _POSSESSIVE.sub("", unicodedata.normalize("NFKC", text).casefold())


def is_known_name(word: str) -> bool:
    """Whether a folded word is a name, or a part of one, that the vocabulary knows in Chinese too."""
    return word in _vocabulary().spellings


def singular(word: str) -> str:
    """An English word without the ending of its plural."""
    if len(word) > 4 and word.endswith("ies"):  # noqa: PLR2004 - “stories”, not “lies”
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word  # noqa: PLR2004 - “apps”, not “aws”


def _is_telling(token: str) -> bool:
    vocabulary = _vocabulary()
    said = token in vocabulary.stop or token in vocabulary.deeds
    return token[0].isascii() and token.isalpha() and len(token) >= _SHORTEST_NAME and not said


def _deeds(folded: str) -> set[str]:
    deeds = _vocabulary().deeds
    english = {deeds[word] for word in re.findall(r"[a-z]+", folded) if word in deeds}
    return english | {deed for word, deed in deeds.items() if not word.isascii() and word in folded}


def _amounts(text: str) -> tuple[set[str], str]:
    """Amounts in one spelling, and the text without them."""
    found: set[str] = set()

    def take(match: re.Match[str]) -> str:
        power = _POWERS.get((match["scale"] or "").lower(), 0) + _HAN_POWERS.get(match["han"] or "", 0)
        number = float(match["number"].replace(",", ""))
        if match["percent"]:
            found.add(f"{number:g}%")
        elif power or match["money"] or "," in match["number"]:
            found.add(f"{number * 10**power:.6g}")
        else:
            return match[0]
        return " "

    rest = _AMOUNT.sub(take, text)
    return found, rest


def _products(tokens: list[str]) -> tuple[set[str], set[int]]:
    """Names with a version, and which tokens they took."""
    products: set[str] = set()
    used: set[int] = set()
    for at, token in enumerate(tokens):
        start = _name_before(tokens, at)
        if start is None or not token[0].isdigit() or _YEAR.match(token):
            continue
        end = _suffix_end(tokens, at)
        products.add("".join((singular(tokens[start]), token, *tokens[end - 1 : end] * (end > at + 1))))
        used |= {start, *range(at, end)}
    return products, used


def _name_before(tokens: list[str], at: int) -> int | None:
    """Where the name stands that a version at ``at`` belongs to."""
    place = at - 2 if at > 1 and tokens[at - 1] in _HYPHENS else at - 1
    if place < 0 or not tokens[place].isascii() or not tokens[place].isalpha():
        return None
    vocabulary = _vocabulary()
    return None if tokens[place] in vocabulary.stop or tokens[place] in vocabulary.deeds else place


def _suffix_end(tokens: list[str], at: int) -> int:
    """The end of a version with what makes it another product: “Pro”, “-Codex”, “-0528”."""
    hyphened = at + 1 < len(tokens) and tokens[at + 1] in _HYPHENS
    place = at + 2 if hyphened else at + 1
    if place >= len(tokens):
        return at + 1
    belongs = tokens[place] in _vocabulary().suffixes or (hyphened and tokens[place].isdigit())
    return place + 1 if belongs else at + 1


def _pairs(text: str) -> Iterator[str]:
    for run in _HAN_RUN.findall(text):
        yield from (run[at : at + 2] for at in range(len(run) - 1))
