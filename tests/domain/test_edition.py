"""Windows of stories: side by side, a week for a weekly reader, further back over missed mornings."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.domain.edition import REACH_BACK, EditionKey, Policy, cut_off, edition_for, last_cut_off
from digest.domain.schedule import EVERY_DAY, Cadence, next_send, parse_weekdays, sends_between, timezone_names

POLICY = Policy()
DAY = timedelta(days=1)
NOTHING: frozenset[date] = frozenset()


def edition(
    cadence: Cadence, start: datetime, missed: frozenset[date] = NOTHING, policy: Policy = POLICY
) -> EditionKey:
    return edition_for(cadence, next_send(cadence, start), missed, policy)


@given(
    zone=st.sampled_from(sorted(timezone_names())),
    weekdays=st.integers(1, EVERY_DAY),
    minutes=st.integers(0, 180),
    start=st.datetimes(datetime(1990, 1, 1), datetime(2037, 11, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - hypothesis adds the zone
)
def test_each_window_begins_where_the_one_before_ended(zone: str, weekdays: int, minutes: int, start: datetime) -> None:
    cadence, policy = Cadence(zone, weekdays=weekdays), Policy(lead=timedelta(minutes=minutes))
    keys = [
        edition_for(cadence, send, NOTHING, policy)
        for send in sends_between(cadence, start, start + timedelta(days=30))
    ]
    assert all(earlier.window_end == later.window_start for earlier, later in pairwise(keys))
    assert all(key.window_start < key.window_end == key.send_at - policy.lead for key in keys)


def test_the_window_of_the_day_of_25_hours_has_25() -> None:
    key = edition(Cadence("Europe/Berlin"), datetime(2027, 10, 31, 1, tzinfo=UTC))
    assert key.window_end - key.window_start == timedelta(hours=25)


def test_a_weekly_reader_gets_the_week() -> None:
    key = edition(Cadence("Asia/Shanghai", weekdays=parse_weekdays("mon")), datetime(2027, 6, 9, tzinfo=UTC))
    assert key.window_end - key.window_start == timedelta(days=7)


def test_monday_brings_the_weekend_to_a_reader_of_weekdays() -> None:
    key = edition(Cadence("Asia/Shanghai", weekdays=parse_weekdays("weekdays")), datetime(2027, 6, 13, tzinfo=UTC))
    assert key.window_end - key.window_start == timedelta(days=3)


@pytest.mark.parametrize(("missed", "days"), [(0, 1), (1, 2), (2, 3), (3, 4), (4, 4), (30, 4)])
def test_missed_mornings_stretch_the_window_by_three_days_at_most(missed: int, days: int) -> None:
    on = date(2027, 6, 10)
    gone = frozenset(on - n * DAY for n in range(1, missed + 1))
    key = edition(Cadence("Asia/Shanghai"), datetime(2027, 6, 10, tzinfo=UTC), gone)
    assert key.window_end - key.window_start == timedelta(days=days)
    assert days * DAY <= DAY + REACH_BACK


def test_a_missed_morning_before_one_that_was_not_stretches_nothing() -> None:
    key = edition(Cadence("Asia/Shanghai"), datetime(2027, 6, 10, tzinfo=UTC), frozenset({date(2027, 6, 8)}))
    assert key.window_end - key.window_start == DAY


def test_readers_of_one_instant_and_date_share_an_edition_and_across_the_date_line_they_do_not() -> None:
    start = datetime(2027, 6, 9, 18, tzinfo=UTC)
    assert edition(Cadence("Asia/Shanghai"), start) == edition(Cadence("Asia/Tokyo", time(9)), start)
    samoa, american_samoa = edition(Cadence("Pacific/Apia"), start), edition(Cadence("Pacific/Pago_Pago"), start)
    assert samoa.send_at == american_samoa.send_at
    assert samoa.on - american_samoa.on == DAY


def test_the_last_cut_off_is_where_the_next_window_starts() -> None:
    cadence, now = Cadence("Asia/Shanghai"), datetime(2027, 6, 9, 23, 55, tzinfo=UTC)
    assert last_cut_off(cadence, now, POLICY) == datetime(2027, 6, 8, 23, 50, tzinfo=UTC)
    assert edition(cadence, now).window_start == last_cut_off(cadence, now, POLICY)


def test_the_cut_off_is_a_lead_before_the_instant() -> None:
    send = next_send(Cadence("Asia/Shanghai"), datetime(2027, 6, 9, 23, tzinfo=UTC))
    assert cut_off(send, Policy(lead=timedelta(0))) == send.at
    assert cut_off(send, POLICY) == send.at - timedelta(minutes=10)
