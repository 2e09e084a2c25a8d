"""When a brief is due: a local time, weekdays and a time zone, turned into instants. Pure; ``now`` is an argument."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from functools import cache, lru_cache
from zoneinfo import ZoneInfo, available_timezones

from digest.domain.errors import BadInputError, UnknownZoneError

DEFAULT_TIME = time(8, 0)
WEEKDAY_NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
EVERY_DAY = 0b111_1111
DAY = timedelta(days=1)
_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")
PSEUDO_ZONES = frozenset({"Factory", "localtime"})
"""Keys that zoneinfo offers but that name no place."""


@dataclass(frozen=True, slots=True)
class Cadence:
    """When a reader wants the brief.

    Attributes:
        timezone: an IANA zone name, kept as given (old names stay).
        at: local time of day, whole minutes.
        weekdays: a bit per weekday, Monday the lowest.
    """

    timezone: str
    at: time = DEFAULT_TIME
    weekdays: int = EVERY_DAY


@dataclass(frozen=True, slots=True)
class Send:
    """One scheduled send: the local date it is for and the instant (UTC) at which it may leave."""

    on: date
    at: datetime


@cache
def timezone_names() -> frozenset[str]:
    """Every zone name in the running tzdata that names a place or a fixed offset."""
    return frozenset(available_timezones()) - PSEUDO_ZONES


def is_known_zone(name: str) -> bool:
    """Whether the running tzdata has rules for ``name``."""
    return name in timezone_names()


def parse_timezone(text: str) -> str:
    """The IANA zone name in ``text``.

    Raises:
        BadInputError: for what is no zone name, with the nearest one as a hint. Membership is checked before ZoneInfo
            sees the text: its exceptions for bad names differ by platform.
    """
    name = text.strip()
    if is_known_zone(name):
        return name
    near = {known.lower(): known for known in timezone_names()}
    hint = near.get(name.lower()) or next((near[n] for n in get_close_matches(name.lower(), near, 1, 0.75)), None)
    raise BadInputError(
        "timezone", text, f"is not an IANA time zone{f': did you mean {hint}?' if hint else ', such as Asia/Shanghai.'}"
    )


def parse_time(text: str) -> time:
    """A local time of day in whole minutes from ``HH:MM``.

    Raises:
        BadInputError: for anything else.
    """
    if found := _TIME.fullmatch(text.strip()):
        return time(int(found[1]), int(found[2]))
    raise BadInputError("time", text, "is not a time of day: write HH:MM, such as 08:00.")


def parse_weekdays(text: str) -> int:
    """The weekday bits of ``mon,tue,…``; empty or ``daily`` means all seven, ``weekdays`` Monday to Friday.

    Raises:
        BadInputError: for a word that names no weekday.
    """
    words = text.strip().lower()
    if words in {"", "daily"}:
        return EVERY_DAY
    if words == "weekdays":
        return 0b001_1111
    bits = 0
    for word in words.replace(";", ",").split(","):
        name = word.strip()[:3]
        if name not in WEEKDAY_NAMES:
            raise BadInputError("weekdays", text, "is not a list of weekdays: write mon,tue,wed,thu,fri,sat,sun.")
        bits |= 1 << WEEKDAY_NAMES.index(name)
    return bits


def weekdays_text(weekdays: int) -> str:
    """``mon,tue,…`` for the weekday bits, in calendar order."""
    return ",".join(name for day, name in enumerate(WEEKDAY_NAMES) if weekdays >> day & 1)


def send_instant(zone: ZoneInfo, on: date, at: time) -> datetime | None:
    """The instant (UTC) at which local time ``at`` is first reached on local date ``on``; None if that date is skipped.

    A local time that occurs twice counts at the first; one that the clocks jump over counts at the first instant after
    the jump. A date that the zone never had (Pacific/Apia 2011-12-30) has no instant. PEP 495.
    """
    wall = datetime.combine(on, at)
    earlier = wall.replace(tzinfo=zone).astimezone(UTC)
    if earlier.astimezone(zone).replace(tzinfo=None) == wall:
        return earlier
    # In a gap fold=0 lands after the jump and fold=1 before it; the jump itself lies between.
    before, after = wall.replace(tzinfo=zone, fold=1).astimezone(UTC), earlier
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) // 2
        if middle.astimezone(zone).replace(tzinfo=None) >= wall:
            after = middle
        else:
            before = middle
    jump = after.replace(microsecond=0)
    dates = {(jump - timedelta(seconds=1)).astimezone(zone).date(), jump.astimezone(zone).date()}
    return jump if on in dates else None


@lru_cache(maxsize=65536)
def _send_on(cadence: Cadence, on: date) -> Send | None:
    if not cadence.weekdays >> on.weekday() & 1:
        return None
    at = send_instant(zone_of(cadence.timezone), on, cadence.at)
    return None if at is None else Send(on, at)


def zone_of(name: str) -> ZoneInfo:
    """The rules of a zone.

    Raises:
        UnknownZoneError: the running tzdata has none; whoever asks skips what depends on them and says so.
    """
    if not is_known_zone(name):
        raise UnknownZoneError(name)
    return ZoneInfo(name)


def send_on(cadence: Cadence, on: date) -> Send | None:
    """The send for a local date; None where the weekday is not wanted or the zone never had that date.

    Raises:
        UnknownZoneError: the running tzdata has no rules for the zone; so do all that ask for sends.
    """
    return _send_on(cadence, on)


def sends_between(cadence: Cadence, start: datetime, end: datetime) -> list[Send]:
    """The sends whose instant lies in ``start <= at < end`` (aware), in order.

    Local dates run at most a day ahead of or behind UTC, and a jump may push a send past midnight; two days either way
    cover every zone there has been.
    """
    on, last = start.astimezone(UTC).date() - 2 * DAY, end.astimezone(UTC).date() + 2 * DAY
    found = []
    while on <= last:
        send = send_on(cadence, on)
        if send is not None and start <= send.at < end:
            found.append(send)
        on += DAY
    return found


def sends_from(cadence: Cadence, start: datetime) -> Iterator[Send]:
    """The sends at or after ``start`` (aware), without end while the calendar lasts."""
    on = start.astimezone(UTC).date() - 2 * DAY
    while on < date.max:
        send = send_on(cadence, on)
        if send is not None and send.at >= start:
            yield send
        on += DAY


def next_send(cadence: Cadence, start: datetime) -> Send:
    """The first send at or after ``start``."""
    return next(sends_from(cadence, start))


def previous_send(cadence: Cadence, before: Send) -> Send:
    """The send of this cadence that comes before ``before``."""
    on = before.on - DAY
    while (send := send_on(cadence, on)) is None:
        on -= DAY
    return send


def local_today(timezone: str, now: datetime) -> date:
    """The date that clocks in ``timezone`` show at ``now`` (aware); UTC's where the zone is unknown."""
    return now.astimezone(ZoneInfo(timezone) if is_known_zone(timezone) else UTC).date()
