"""The schedule's rules at every change of clocks in every zone, from 1990 to 2037, against a plain reckoning."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import pairwise, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.domain.edition import Policy, edition_for, last_cut_off
from digest.domain.errors import UnknownZoneError
from digest.domain.schedule import (
    EVERY_DAY,
    Cadence,
    Send,
    is_known_zone,
    local_today,
    next_send,
    previous_send,
    send_instant,
    send_on,
    sends_between,
    sends_from,
    timezone_names,
    zone_of,
)

FIRST, LAST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2037, 12, 31, tzinfo=UTC)
SECOND, DAY, STEP = timedelta(seconds=1), timedelta(days=1), timedelta(days=14)
SKIPPED = {
    ("Pacific/Kwajalein", date(1993, 8, 21)),
    ("Pacific/Kanton", date(1994, 12, 31)),
    ("Pacific/Kiritimati", date(1994, 12, 31)),
    ("Pacific/Apia", date(2011, 12, 30)),
    ("Pacific/Fakaofo", date(2011, 12, 30)),
}
"""Every date that a zone jumped over in that time."""
UNKNOWN = ["Mars/Olympus_Mons", "Asia", "Factory", "", "../../etc/passwd"]


@dataclass(frozen=True)
class Change:
    """Clocks of a zone change by ``after - before`` at one instant."""

    zone: str
    at: datetime
    before: timedelta
    after: timedelta

    def first(self, on: date, at: time) -> datetime | None:
        """The first instant at which the clocks show ``at`` or later on ``on``, reckoned from the two offsets alone."""
        midnight, wanted = datetime.combine(on, time(0), UTC), datetime.combine(on, at, UTC)
        if wanted - self.before < self.at:
            return wanted - self.before
        if wanted - self.after >= self.at:
            return wanted - self.after
        exists = midnight - self.before < self.at or midnight + DAY - self.after > self.at
        return self.at if exists else None


def offset(zone: ZoneInfo, at: datetime) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta(0)


@cache
def changes() -> tuple[Change, ...]:
    """Every change of clocks; zones that agree all the time are looked at once."""
    moments = [FIRST + number * STEP for number in range((LAST - FIRST) // STEP)]
    seen: dict[tuple[timedelta, ...], str] = {}
    for name in sorted(timezone_names(), key=lambda name: (name not in dict(SKIPPED), name)):
        seen.setdefault(tuple(offset(ZoneInfo(name), at) for at in moments), name)
    found = (
        change(zone, moments[number], moments[number + 1])
        for offsets, zone in seen.items()
        for number, (before, after) in enumerate(pairwise(offsets))
        if before != after
    )
    return tuple(found)


def change(name: str, start: datetime, end: datetime) -> Change:
    zone = ZoneInfo(name)
    before, after = offset(zone, start), offset(zone, end)
    while end - start > SECOND:
        middle = start + (end - start) // 2
        start, end = (middle, end) if offset(zone, middle) == before else (start, middle)
    return Change(name, end.replace(microsecond=0), before, after)


def around(each: Change) -> list[date]:
    """The local dates next to a change."""
    walls = [(each.at + shift).date() for shift in (each.before - SECOND, each.after)]
    return [min(walls) + number * DAY for number in range(-1, (max(walls) - min(walls)).days + 2)]


def test_eight_in_the_morning_is_exact_wherever_the_date_exists() -> None:
    skipped = set()
    for each in changes():
        zone = ZoneInfo(each.zone)
        for on in around(each):
            instant = send_instant(zone, on, time(8))
            assert instant == each.first(on, time(8)), (each, on)
            if instant is None or instant.astimezone(zone).time() != time(8):
                skipped.add((each.zone, on))
    assert skipped == set(SKIPPED)


def test_there_is_something_to_look_at() -> None:
    shifts = {abs((each.after - each.before).total_seconds()) / 3600 for each in changes()}
    assert {0.5, 1.0, 2.0, 3.0, 24.0} <= shifts
    assert len(changes()) > 5000


@given(st.data())
def test_any_minute_next_to_a_change_goes_out_at_the_first_instant_that_shows_it(data: st.DataObject) -> None:
    each = data.draw(st.sampled_from(changes()))
    zone, walls = ZoneInfo(each.zone), [(each.at + shift).time() for shift in (each.before, each.after)]
    minutes = st.integers(0, 24 * 60 - 1).map(lambda minute: time(minute // 60, minute % 60))
    at = data.draw(st.one_of(minutes, st.sampled_from(walls))).replace(second=0)
    for on in around(each):
        assert send_instant(zone, on, at) == each.first(on, at), (each, on, at)


@given(st.data())
def test_every_way_to_ask_for_sends_gives_the_same(data: st.DataObject) -> None:
    each = data.draw(st.sampled_from(changes()))
    at = data.draw(st.integers(0, 24 * 60 - 1).map(lambda minute: time(minute // 60, minute % 60)))
    cadence = Cadence(each.zone, at, data.draw(st.integers(1, EVERY_DAY)))
    start, end = each.at - 9 * DAY, each.at + 9 * DAY
    found = sends_between(cadence, start, end)
    assert found == list(takewhile(lambda send: send.at < end, sends_from(cadence, start)))
    assert all(earlier.at < later.at and earlier.on < later.on for earlier, later in pairwise(found))
    assert [send_on(cadence, send.on) for send in found] == found
    for earlier, later in pairwise(found):
        assert previous_send(cadence, later) == earlier
        assert next_send(cadence, earlier.at + SECOND) == later
        assert next_send(cadence, later.at) == later
        assert sends_between(cadence, earlier.at, later.at) == [earlier]


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_zone_without_rules_is_one_kind_of_failure_whatever_is_asked(name: str) -> None:
    """ZoneInfo itself raises KeyError, ValueError, IsADirectoryError and more, by platform."""
    cadence, send = Cadence(name), Send(date(2027, 6, 10), FIRST)
    asked = [
        lambda: zone_of(name),
        lambda: send_on(cadence, date(2027, 6, 10)),
        lambda: sends_between(cadence, FIRST, FIRST + DAY),
        lambda: next(sends_from(cadence, FIRST)),
        lambda: next_send(cadence, FIRST),
        lambda: previous_send(cadence, send),
        lambda: edition_for(cadence, send, frozenset(), Policy()),
        lambda: last_cut_off(cadence, FIRST, Policy()),
    ]
    for ask in asked:
        with pytest.raises(UnknownZoneError) as failed:
            ask()
        assert str(failed.value).isprintable()
    assert not is_known_zone(name)
    assert local_today(name, FIRST) == FIRST.date()
