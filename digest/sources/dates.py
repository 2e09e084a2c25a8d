"""Dates as feeds write them: RFC 822, RFC 3339 and what people make of both, in English, Chinese and some more.

A date is read by a whole-string grammar or not at all: a parser that fills gaps or skips words gives another day.
"""

import re
import unicodedata
from datetime import MAXYEAR, UTC, datetime, timedelta, timezone
from functools import cache

from babel import Locale

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
"""No feed item is older than the web; what claims to be is a zero date."""
AHEAD = timedelta(days=1)
"""A story dated further ahead than this has no date that can be trusted."""

_LONGEST = 100
_CHINA = timezone(timedelta(hours=8))
_NAMED_IN = ("en", "zh", "zh_Hant", "de", "fr", "es", "it", "pt", "nl")
_ZONE_HOURS = (
    "z 0 ut 0 utc 0 gmt 0 wet 0 est -5 edt -4 cst -6 cdt -5 mst -7 mdt -6 pst -8 pdt -7 "
    "bst 1 cet 1 cest 2 eet 2 eest 3 msk 3 hkt 8 sgt 8 jst 9 kst 9"
)
_ZONES = dict(zip(_ZONE_HOURS.split()[::2], map(int, _ZONE_HOURS.split()[1::2]), strict=True))
_FARTHEST_OFFSET_MINUTES = 14 * 60
_CENTURY_TURN = 50
_HALF_DAY = 12
_LEAP_SECOND = 60

_WORD = r"[^\W\d_]+"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?"
_NAME = rf"(?P<name>{_WORD})\.?"
_WEEKDAY = r"(?:\s*(?:星期|周|週|礼拜|禮拜)[一二三四五六日天])?"
_TIME = (
    r"(?:[T\s,]*(?P<half>上午|早上|凌晨|下午|晚上)?\s*(?P<hour>\d{1,2})[:时時点點](?P<minute>\d{1,2})"
    r"(?:[:分](?P<second>\d{1,2})(?:[.,]\d+)?)?[分秒]?\s*(?P<meridiem>[AaPp]\.?[Mm]\.?)?)"
)
_ZONE = r"(?:\s*(?P<zone>(?:UTC|GMT)?\s*[+-]\d{1,2}(?::?\d{2})?|[A-Za-z]{1,5}))?"
_NUMBERS = r"(?P<year>\d{4})\s*[-/.年]\s*(?P<month>\d{1,2})\s*[-/.月]\s*(?P<day>\d{1,2})\s*[日号號]?"
_GRAMMARS = tuple(
    re.compile(grammar, re.IGNORECASE)
    for grammar in (
        rf"(?:{_WORD}[.,]*\s*)?{_NUMBERS}{_WEEKDAY}{_TIME}?{_ZONE}",
        rf"(?:{_WORD}[.,]*\s*)?{_DAY}[\s-]+{_NAME},?[\s-]+(?P<year>\d{{4}}|\d{{2}}){_TIME}?{_ZONE}",
        rf"(?:{_WORD}[.,]*\s+)?{_NAME}\s+{_DAY},?\s+(?P<year>\d{{4}}){_TIME}?{_ZONE}",
        rf"{_WORD},?\s+{_NAME}\s+{_DAY}{_TIME}{_ZONE}\s+(?P<year>\d{{4}})",
    )
)


def read_date(text: str, *, seen_at: datetime, chinese: bool = False) -> datetime | None:
    """The instant that ``text`` names, in UTC; None where it names none that can be trusted.

    Args:
        text: as the feed writes it. Without a zone it is read as UTC, in Chinese as China Standard Time.
        seen_at: when the document was fetched. A date more than :data:`AHEAD` later counts as none; one that is later
            only because its zone had to be assumed counts as ``seen_at``.
        chinese: the feed is written in Chinese.
    """
    plain = _plain(text)
    fields = _fields(plain)
    if fields is None:
        return None
    in_china = chinese or any("\u4e00" <= c <= "\u9fff" for c in plain)
    zone = _zone(fields["zone"], in_china=in_china)
    local = _local(fields)
    if local is None:
        return None
    found = local.replace(tzinfo=zone or (_CHINA if in_china else UTC)).astimezone(UTC)
    if not EARLIEST <= found <= seen_at + AHEAD:
        return None
    return min(found, seen_at) if zone is None else found


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text[: _LONGEST + 1])
    without_comments = re.sub(r"\([^()]*\)", " ", folded)
    return " ".join(without_comments.split())


def _fields(plain: str) -> dict[str, str | None] | None:
    if len(plain) > _LONGEST:
        return None
    matches = (grammar.fullmatch(plain) for grammar in _GRAMMARS)
    found = next((match for match in matches if match), None)
    return found.groupdict() if found else None


def _local(fields: dict[str, str | None]) -> datetime | None:
    month = _month(fields.get("month"), fields.get("name"))
    half = (fields["half"] or fields["meridiem"] or "").lower().replace(".", "")
    hour = _hour(int(fields["hour"] or 0), half)
    second = int(fields["second"] or 0)
    year = _year(fields["year"] or "")
    try:
        minute = int(fields["minute"] or 0)
        local = datetime(year, month, int(fields["day"] or 0), hour, minute, min(second, 59))  # noqa: DTZ001 - its zone comes next
    except ValueError:
        return None
    # Within a day of either end of the calendar an offset would leave it.
    inside = 1 < year < MAXYEAR
    return local if inside and second <= _LEAP_SECOND else None


def _year(digits: str) -> int:
    year = int(digits)
    if len(digits) > 2:  # noqa: PLR2004 - RFC 2822 §4.3: two digits below 50 are of this century
        return year
    return year + (2000 if year < _CENTURY_TURN else 1900)


def _month(number: str | None, name: str | None) -> int:
    """The month's number; 0, which no calendar has, where it is not named."""
    return int(number) if number else _month_names().get((name or "").casefold(), 0)


def _hour(hour: int, half: str) -> int:
    if half in {"下午", "晚上", "pm"}:
        return hour + _HALF_DAY if hour < _HALF_DAY else hour
    return 0 if half and hour == _HALF_DAY else hour


@cache
def _month_names() -> dict[str, int]:
    names = {"sept": 9}
    for locale in _NAMED_IN:
        months = Locale.parse(locale).months
        for use in ("format", "stand-alone"):
            for length in ("wide", "abbreviated"):
                names |= {name.rstrip(".").casefold(): number for number, name in months[use][length].items()}
    return names


def _zone(text: str | None, *, in_china: bool) -> timezone | None:
    """The zone a date names; None where it names none or one that several countries use otherwise."""
    name = (text or "").replace(" ", "").lower()
    if name == "cst" and in_china:
        return _CHINA
    if name in _ZONES:
        return timezone(timedelta(hours=_ZONES[name]))
    offset = re.fullmatch(r"(?:utc|gmt)?([+-])(\d{1,2}):?(\d{2})?", name)
    if offset is None:
        return None
    minutes = int(offset[2]) * 60 + int(offset[3] or 0)
    signed = -minutes if offset[1] == "-" else minutes
    return timezone(timedelta(minutes=signed)) if minutes <= _FARTHEST_OFFSET_MINUTES else None
