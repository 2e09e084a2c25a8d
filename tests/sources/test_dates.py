"""Dates as written: the day that stands there, or none."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.sources.dates import EARLIEST, read_date

SEEN_AT = datetime(2027, 6, 29, 16, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("Thu, 10 Jun 2027 06:00:00 +0800", "2027-06-09T22:00:00Z"),
        ("10 Jun 27 06:00 EST", "2027-06-10T11:00:00Z"),
        ("Thu, 10 Jun 2027 08:15:00 GMT+8", "2027-06-10T00:15:00Z"),
        ("2027-06-10T06:00:00.123456789+08:00", "2027-06-09T22:00:00Z"),
        ("2027-06-10t06:00z", "2027-06-10T06:00:00Z"),
        ("2027-06-10", "2027-06-10T00:00:00Z"),
        ("June 10, 2027 8:15 p.m.", "2027-06-10T20:15:00Z"),
        ("10. Juni 2027 12:30 AM", "2027-06-10T00:30:00Z"),
        ("jeu., 10 juin 2027 06:00:00 +0200", "2027-06-10T04:00:00Z"),
        ("Thu Jun 10 08:15:00 CST 2027", "2027-06-10T14:15:00Z"),
        ("2027年6月10日 星期四 下午3:05", "2027-06-10T07:05:00Z"),
        ("2027年6月10日 8点15分", "2027-06-10T00:15:00Z"),
        ("２０２７年６月１０日　０８：１５", "2027-06-10T00:15:00Z"),
        ("星期四, 10 六月 2027 08:15:00 CST", "2027-06-10T00:15:00Z"),
        ("Thu, 10 Jun 2027 08:15:00 +0800 (中国标准时间)", "2027-06-10T00:15:00Z"),
        ("Thu, 31 Dec 2016 23:59:60 GMT", "2016-12-31T23:59:59Z"),
    ],
)
def test_a_date_is_read_as_written(text: str, instant: str) -> None:
    assert read_date(text, seen_at=SEEN_AT) == datetime.fromisoformat(instant)


NO_DAY = [
    *("", "soon", "2027", "2027-06", "10/06/2027", "31 Jun 2027", "2027-02-29", "1781050500", "10 Foo 2027"),
    *("24:00 10 Jun 2027", "2027-06-10T24:30Z", "2027-06-10 08:15:00 +2500 or so", "0000-00-00", "1" * 5000),
    "9999-12-31T23:59:59-12:00",
]


@pytest.mark.parametrize("text", NO_DAY)
def test_what_names_no_day_is_undated(text: str) -> None:
    assert read_date(text, seen_at=SEEN_AT) is None


def test_a_date_without_a_zone_is_local_to_where_the_feed_is_written() -> None:
    assert read_date("2027-06-10 08:15", seen_at=SEEN_AT) == datetime(2027, 6, 10, 8, 15, tzinfo=UTC)
    assert read_date("2027-06-10 08:15", seen_at=SEEN_AT, chinese=True) == datetime(2027, 6, 10, 0, 15, tzinfo=UTC)


def test_an_assumed_zone_never_puts_a_story_into_the_future() -> None:
    assert read_date("2027-06-29 23:00", seen_at=SEEN_AT) == SEEN_AT
    assert read_date("2027-06-29 23:00 +0000", seen_at=SEEN_AT) == SEEN_AT + timedelta(hours=7)


def test_the_bounds_are_inclusive() -> None:
    ahead = SEEN_AT + timedelta(days=1)
    assert read_date(ahead.isoformat(), seen_at=SEEN_AT) == ahead
    assert read_date((ahead + timedelta(seconds=1)).isoformat(), seen_at=SEEN_AT) is None
    assert read_date(EARLIEST.isoformat(), seen_at=SEEN_AT) == EARLIEST
    assert read_date((EARLIEST - timedelta(seconds=1)).isoformat(), seen_at=SEEN_AT) is None


@given(st.datetimes(datetime(1990, 1, 2), datetime(2027, 6, 28)), st.integers(-14 * 60, 14 * 60))  # noqa: DTZ001 - hypothesis draws wall clocks
def test_every_instant_survives_being_written_in_any_zone(local: datetime, minutes: int) -> None:
    from_utc = timedelta(minutes=minutes)
    sign, (hours, rest) = "-" if minutes < 0 else "+", divmod(abs(minutes), 60)
    expected = (local - from_utc).replace(tzinfo=UTC, microsecond=0)
    written = [
        f"{local:%a, %d %b %Y %H:%M:%S} {sign}{hours:02}{rest:02}",
        f"{local:%Y-%m-%dT%H:%M:%S}{sign}{hours:02}:{rest:02}",
    ]
    assert [read_date(text, seen_at=SEEN_AT) for text in written] == [expected] * 2


@given(st.text(max_size=120))
def test_no_text_makes_it_fail(text: str) -> None:
    found = read_date(text, seen_at=SEEN_AT)
    assert found is None or EARLIEST <= found <= SEEN_AT + timedelta(days=1)
