"""Figures in English and Chinese texts: read with their units, and compared across the two languages.

1.2 million is 120 万, 12% is 百分之十二, December is 12 月. What can't be read is no figure: nothing here guesses.
"""

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from digest.domain.numerals import NUMERAL, read_numeral, read_word, word_pattern

STRICT = frozenset({"%", "$", "€", "£", "¥", "month"})
"""Units that must be the same: 12 may stand for 12 GB, but 12% never for 12."""
MONTHS = tuple(name.casefold() for name in calendar.month_name[1:])
SMALL = 3
"""Counts up to three written as words are how people talk, not figures."""
LOOSE = frozenset({"half", "一成"})
"""Words of measure that are more often talk."""
SHOWS_ROUNDING = 2
"""Digits from which on a figure may be a rounded one: 1.2 for 1.23, but not 1."""

_SCALES = {
    **dict.fromkeys(("thousand", "k"), 10**3),
    **dict.fromkeys(("million", "mn", "m", "百万"), 10**6),
    **dict.fromkeys(("billion", "bn", "b", "十亿"), 10**9),
    **dict.fromkeys(("trillion", "tn", "t", "万亿"), 10**12),
    "hundred": 100,
    "百": 100,
    "千": 10**3,
    "万": 10**4,
    "十万": 10**5,
    "千万": 10**7,
    "亿": 10**8,
    "百亿": 10**10,
    "千亿": 10**11,
}
_UNITS = {
    "%": "% percent per cent ％ 个百分点 percentage points",
    "$": "$ us$ 美元 dollars dollar usd",
    "€": "€ 欧元 euros euro eur",
    "£": "£ 英镑 pounds gbp",
    "¥": "¥ ￥ 元 人民币 yuan rmb cny",
    "month": "月",
    "months": "个月 months month",
    "weeks": "周 weeks week",
    "days": "天 days day",
    "hours": "小时 hours hour",
    "minutes": "分钟 minutes minute",
    "x": "倍 x times",
    **{unit: unit for unit in ("TB", "GB", "MB", "KB", "GW", "MW", "kW", "GHz", "MHz", "nm", "km", "kg")},
}
_WORDS = {
    "GW": "吉瓦 gigawatts gigawatt",
    "MW": "兆瓦 megawatts megawatt",
    "kW": "千瓦",
    "nm": "纳米",
    "km": "公里 千米",
}
_UNIT_OF = {word.casefold(): unit for unit, words in _UNITS.items() for word in [*words.split(" "), unit]}
_UNIT_OF |= {word: unit for unit, words in _WORDS.items() for word in words.split()}
_UNIT_OF |= {"per cent": "%", "percentage points": "%"}
for _stray in ("per", "cent", "percentage", "points"):
    _UNIT_OF.pop(_stray, None)


def _any_of(words: list[str]) -> str:
    """An alternative of the words, the longest first; a Latin one must end there."""
    ordered = sorted(words, key=len, reverse=True)
    return "|".join(
        re.escape(word) + ("(?![A-Za-z])" if word[-1].isascii() and word[-1].isalpha() else "") for word in ordered
    )


_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_GAP = r"[ -]?[多余]?"
"""Between a number and its scale or unit; 150 多万 is somewhat more than 150 万 and is said of it."""
_SCALE = rf"(?:{_GAP}(?P<scale>{_any_of(list(_SCALES))})(?![米瓦克]))?"
_UNIT = rf"(?:{_GAP}(?P<unit>{_any_of(list(_UNIT_OF))}))?"
_FIGURE = re.compile(rf"(?P<sign>US\$|[$€£¥￥])?[ ]?(?P<digits>{_DIGITS}){_SCALE}{_UNIT}", re.IGNORECASE)
_RANGE = re.compile(rf"(?P<low>{_DIGITS})(?:%|％)?\s?(?:-|–|—|~|～|to|至|到)\s?(?={_DIGITS})", re.IGNORECASE)
_CHINESE = re.compile(rf"(?P<percent>百分之)?(?P<numeral>{NUMERAL})(?P<tail>成|倍|个?[\u4e00-\u9fff])?")
_COUNTED = frozenset("个家名位人次年月日天周岁台款种项篇所座倍成条元美")
_MONTH = re.compile(r"\b(?P<month>" + "|".join(f"{m[:3]}(?:{m[3:]})?" for m in MONTHS) + r")\b", re.IGNORECASE)
_ISO = re.compile(r"\b(?P<year>\d{4})[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})\b")
_IDENTIFIER = re.compile(r"[A-Za-z]+[-.]?\d[\w.-]*|\d+[A-Za-z]+\d\w*|\d+(?:\.\d+){2,}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its unit, scaled out: 1.2 million is 1200000.

    Attributes:
        unit: one spelling per unit, whatever the language; empty for a bare number.
        digits: how many digits tell something, without trailing noughts.
        shown: as it stands in the text.
    """

    value: Decimal
    unit: str
    digits: int
    shown: str


def figures(text: str) -> list[Figure]:
    """What a text claims in numbers: digits outside of names like H100, months, and counts in words above three."""
    bare = _IDENTIFIER.sub(lambda found: " " * len(found[0]), text)
    words = [one for one in _in_words(bare) if one.value > SMALL and one.shown.casefold() not in LOOSE]
    return [*_in_digits(bare), *_in_months(bare), *words]


def figures_of_source(text: str) -> list[Figure]:
    """Every number that a text may be quoted with, those inside of names and small words too."""
    bare = _ISO.sub(" ", text)
    found = [*_in_digits(bare), *_in_months(bare), *_in_words(bare, counted_only=False)]
    lower = [one for match in _RANGE.finditer(bare) if (one := _low_end(match, bare))]
    return [*found, *lower, *_in_dates(text)]


def stands_in(claimed: Figure, source: list[Figure]) -> bool:
    """Whether the source has this figure, as it is or rounded to the digits that are shown."""
    return any(_same_unit(claimed, one) and _same_value(claimed, one) for one in source)


def _same_unit(claimed: Figure, one: Figure) -> bool:
    loose = claimed.unit not in STRICT and not (claimed.unit and one.unit)
    return claimed.unit == one.unit or loose


def _same_value(claimed: Figure, one: Figure) -> bool:
    if claimed.value == one.value:
        return True
    if claimed.digits < SHOWS_ROUNDING or not one.value:
        return False
    exponent = one.value.adjusted() - claimed.digits + 1
    return round(one.value, -exponent) == claimed.value


def _in_digits(text: str) -> Iterator[Figure]:
    for match in _FIGURE.finditer(text):
        scale = _SCALES[match["scale"].casefold()] if match["scale"] else 1
        value = Decimal(match["digits"].replace(",", ""))
        unit = _UNIT_OF[(match["sign"] or match["unit"] or "").casefold()] if match["sign"] or match["unit"] else ""
        yield _figure(value * scale, unit, match[0])


def _in_dates(text: str) -> Iterator[Figure]:
    """The numbers of written dates; with a unit of their own, so that the 9th is no 9 days."""
    for match in _ISO.finditer(text):
        for part, unit in (("year", "date"), ("month", "month"), ("day", "date")):
            yield _figure(Decimal(match[part]), unit, match[0])


def _in_months(text: str) -> Iterator[Figure]:
    for match in _MONTH.finditer(text):
        if match[0].casefold() in {"may", "mar", "march"} and not re.search(r"\d", text[match.end() : match.end() + 4]):
            continue
        number = next(n for n, name in enumerate(MONTHS, 1) if name.startswith(match["month"].casefold()[:3]))
        yield _figure(Decimal(number), "month", match[0])


def _in_words(text: str, *, counted_only: bool = True) -> Iterator[Figure]:
    for match in word_pattern().finditer(text):
        value, unit = read_word(match[0])
        yield _figure(value, unit, match[0])
    for match in _CHINESE.finditer(text):
        tail = match["tail"] or ""
        if counted_only and not match["percent"] and tail[:1] not in _COUNTED:
            continue
        number = read_numeral(match["numeral"])
        if number is None:
            continue
        if match["percent"] or tail == "成":
            yield _figure(number if match["percent"] else number * 10, "%", match[0])
        else:
            yield _figure(number, _UNIT_OF.get(tail, ""), match[0])


def _low_end(match: re.Match[str], text: str) -> Figure | None:
    """The lower end of a range carries the unit that is written after the upper one."""
    upper = _FIGURE.match(text, match.end())
    if upper is None:
        return None
    scale = _SCALES[upper["scale"].casefold()] if upper["scale"] else 1
    unit = _UNIT_OF.get((upper["unit"] or upper["sign"] or "").casefold(), "")
    return _figure(Decimal(match["low"].replace(",", "")) * scale, unit, match[0])


def _figure(value: Decimal, unit: str, shown: str) -> Figure:
    return Figure(value, unit, len(value.normalize().as_tuple().digits), shown.strip())
