"""Numbers in words, English and Chinese."""

import re
from decimal import Decimal
from functools import cache

NUMERAL = "[零〇一二两三四五六七八九十百千万亿]+"
_DIGITS = {"零": 0, "〇": 0, "两": 2} | {digit: n for n, digit in enumerate("一二三四五六七八九", 1)}
_STEPS = {"十": 10, "百": 100, "千": 1000}
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
)
_ONES += " eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth"
_WORDS: dict[str, tuple[int, str]] = {
    **{word: (n, "") for n, word in enumerate(_ORDINALS.split())},
    **{word: (n, "") for n, word in enumerate(_ONES.split())},
    **{word: (10 * n, "") for n, word in enumerate(_TENS.split(), 2)},
    "hundred": (100, ""),
    "dozen": (12, ""),
    "half": (50, "%"),
    "twice": (2, "x"),
    "double": (2, "x"),
    "doubled": (2, "x"),
    "triple": (3, "x"),
    "tripled": (3, "x"),
}


@cache
def word_pattern() -> re.Pattern[str]:
    """Finds the English words that :func:`read_word` reads."""
    tens = "|".join(_TENS.split())
    ones = "|".join(_ONES.split()[1:10])
    words = "|".join(sorted(_WORDS, key=len, reverse=True))
    scale = r"(?:[ -](?:an? )?(?:hundred|thousand|million|billion|trillion))?"
    return re.compile(rf"\b(?:(?:{tens})-(?:{ones})|{words}){scale}\b", re.IGNORECASE)


def read_word(text: str) -> tuple[Decimal, str]:
    """Value and unit of an English number: ``twenty-five``, ``five hundred``, ``half`` (50, ``%``)."""
    scales = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
    head, *rest = re.split(r"[ -]", text.casefold())
    value, unit = _WORDS[head]
    if unit == "%" and rest:
        return Decimal(scales[rest[-1]]) / 2, ""
    for word in [word for word in rest if word not in {"a", "an"}]:
        value = value * scales[word] if word in scales else value + _WORDS[word][0]
    return Decimal(value), unit


def read_numeral(text: str) -> Decimal | None:
    """The value of a Chinese numeral, ``三百二十`` or ``一亿二千万``; digits in a row read as such, ``二〇二六``.

    Returns None for what is no number, such as 千万 in the sense of “by all means”, which has no digit.
    """
    if not any(c in _DIGITS for c in text) and not text.startswith("十"):
        return None
    if len(text) > 1 and all(c in _DIGITS for c in text):
        return Decimal("".join(str(_DIGITS[c]) for c in text))
    total, section, digit = 0, 0, 0
    for c in text:
        if c in _DIGITS:
            digit = _DIGITS[c]
        elif c in _STEPS:
            section += (digit or 1) * _STEPS[c]
            digit = 0
        elif c == "万":
            total, section, digit = total + (section + digit) * 10**4, 0, 0
        else:
            total, section, digit = (total + section + digit) * 10**8, 0, 0
    return Decimal(total + section + digit)
