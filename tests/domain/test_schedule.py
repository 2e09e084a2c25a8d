"""When a brief is due, in every zone there is."""

import csv
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.domain.errors import BadInputError
from digest.domain.schedule import (
    EVERY_DAY,
    Cadence,
    Send,
    local_today,
    next_send,
    parse_time,
    parse_timezone,
    parse_weekdays,
    previous_send,
    send_instant,
    send_on,
    sends_between,
    sends_from,
    timezone_names,
    weekdays_text,
)

DATA = Path(__file__).parent / "data"
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def sends(zone: str, start: str, count: int, at: time = time(8), weekdays: int = EVERY_DAY) -> list[Send]:
    found = sends_from(Cadence(zone, at, weekdays), utc(start))
    return [next(found) for _ in range(count)]


def existed(zone: ZoneInfo, on: date) -> bool:
    """Whether the zone's clocks ever showed this date, looked up minute by minute of the two days it could lie in."""
    noon = datetime.combine(on, time(12), UTC)
    return any((noon + timedelta(hours=hours)).astimezone(zone).date() == on for hours in range(-30, 31))


@pytest.mark.parametrize(
    ("zone", "start", "instants"),
    [
        ("Asia/Kathmandu", "2027-03-01T00:00", ["2027-03-01T02:15", "2027-03-02T02:15"]),
        ("Pacific/Chatham", "2027-04-02T00:00", ["2027-04-02T18:15", "2027-04-03T19:15", "2027-04-04T19:15"]),
        ("America/New_York", "2027-11-06T00:00", ["2027-11-06T12:00", "2027-11-07T13:00", "2027-11-08T13:00"]),
        ("Australia/Lord_Howe", "2027-04-02T20:00", ["2027-04-02T21:00", "2027-04-03T21:30"]),
        ("America/Vancouver", "2027-01-15T00:00", ["2027-01-15T15:00"]),
        ("America/Winnipeg", "2027-01-15T00:00", ["2027-01-15T13:00"]),
        ("America/Mexico_City", "2027-07-01T00:00", ["2027-07-01T14:00"]),
        ("Etc/GMT-8", "2027-01-15T00:00", ["2027-01-15T00:00"]),
    ],
)
def test_eight_in_the_morning_is_where_the_zone_says(zone: str, start: str, instants: list[str]) -> None:
    assert [send.at for send in sends(zone, start, len(instants))] == [utc(instant) for instant in instants]


@pytest.mark.parametrize("row", rows("tz_0800.csv"), ids=lambda row: f"{row['zone']} {row['local_date']}")
def test_a_morning_that_never_was_gets_none(row: dict[str, str]) -> None:
    assert row["kind"] == "missing"
    on = date.fromisoformat(row["local_date"])
    assert send_on(Cadence(row["zone"]), on) is None
    assert not existed(ZoneInfo(row["zone"]), on)
    assert None not in {send_on(Cadence(row["zone"]), on + step) for step in (-DAY, DAY)}


def test_samoa_had_no_30th_of_december_in_2011() -> None:
    found = sends("Pacific/Apia", "2011-12-29T00:00", 2)
    assert [send.on for send in found] == [date(2011, 12, 29), date(2011, 12, 31)]
    assert [send.at for send in found] == [utc("2011-12-29T18:00"), utc("2011-12-30T18:00")]


def test_kwajalein_had_no_21st_of_august_in_1993() -> None:
    found = [send.on.day for send in sends("Pacific/Kwajalein", "1993-08-20T00:00", 2)]
    assert found == [20, 22]


@pytest.mark.parametrize("row", rows("tz_gaps_hours.csv"), ids=lambda row: row["zone"])
def test_half_hours_in_a_gap_or_an_overlap_go_out_at_the_jump_or_at_the_first(row: dict[str, str]) -> None:
    zone = ZoneInfo(row["zone"])
    for slots, last in (("gap_half_hours", "last_gap_date"), ("overlap_half_hours", "last_overlap_date")):
        if not row[last]:
            continue
        on = date.fromisoformat(row[last])
        for slot in row[slots].split():
            for day in (on - DAY, on, on + DAY):
                check_instant(zone, day, time.fromisoformat(slot))


def check_instant(zone: ZoneInfo, on: date, at: time) -> None:
    """The instant is the first at which the wall clock shows ``at`` or later on that date, and not before it."""
    instant = send_instant(zone, on, at)
    if instant is None:
        assert not existed(zone, on)
        return
    wall, wanted = instant.astimezone(zone).replace(tzinfo=None), datetime.combine(on, at)
    just_before = (instant - SECOND).astimezone(zone).replace(tzinfo=None)
    assert wall >= wanted
    assert just_before < wanted
    if wall == wanted:
        assert instant.astimezone(zone).fold == 0
    else:
        assert wanted.replace(tzinfo=zone).astimezone(UTC).astimezone(zone).replace(tzinfo=None) != wanted
        assert wall - just_before > SECOND


@pytest.mark.parametrize(
    ("zone", "on", "at", "instant"),
    [
        ("Europe/Berlin", date(2027, 3, 28), time(2, 30), "2027-03-28T01:00"),
        ("Europe/Berlin", date(2027, 10, 31), time(2, 30), "2027-10-31T00:30"),
        ("Antarctica/Troll", date(2027, 3, 28), time(1, 30), "2027-03-28T01:00"),
        ("Antarctica/Troll", date(2027, 10, 31), time(1, 30), "2027-10-30T23:30"),
        ("Australia/Lord_Howe", date(2027, 10, 3), time(2, 15), "2027-10-02T15:30"),
        ("Pacific/Chatham", date(2027, 9, 26), time(3, 0), "2027-09-25T14:00"),
        ("America/Santiago", date(2027, 9, 5), time(0, 30), "2027-09-05T04:00"),
        ("America/Scoresbysund", date(2027, 3, 27), time(23, 30), "2027-03-28T01:00"),
    ],
)
def test_a_missing_time_goes_out_at_the_jump_and_a_repeated_one_at_the_first(
    zone: str, on: date, at: time, instant: str
) -> None:
    assert send_instant(ZoneInfo(zone), on, at) == utc(instant)


def test_a_jump_across_midnight_keeps_one_send_for_each_date() -> None:
    """In Scoresbysund 23:30 of that evening first exists as 00:00 of the next date."""
    found = sends("America/Scoresbysund", "2027-03-27T12:00", 3, time(23, 30))
    assert [send.on.day for send in found] == [27, 28, 29]
    assert [send.at for send in found] == [utc(f"2027-03-{at}") for at in ("28T01:00", "29T00:30", "30T00:30")]


def test_casey_jumps_a_minute_after_midnight() -> None:
    zone = ZoneInfo("Antarctica/Casey")
    gaps = next(row for row in rows("tz_gaps_hours.csv") if row["zone"] == "Antarctica/Casey")
    on = date.fromisoformat(gaps["last_gap_date"])
    for at in (time(0, 0), time(0, 1), time(1, 30), time(2, 59), time(3, 1)):
        check_instant(zone, on, at)


@given(
    zone=st.sampled_from(sorted(timezone_names())),
    at=st.times().map(lambda at: at.replace(second=0, microsecond=0, fold=0)),
    weekdays=st.integers(1, EVERY_DAY),
    start=st.datetimes(datetime(1990, 1, 1), datetime(2037, 12, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - hypothesis adds the zone
)
def test_sends_rise_one_per_date_that_exists_and_never_before_local_time(
    zone: str, at: time, weekdays: int, start: datetime
) -> None:
    cadence, place = Cadence(zone, at, weekdays), ZoneInfo(zone)
    end = start + timedelta(days=40)
    found = sends_between(cadence, start, end)
    instants = [send.at for send in found]
    assert instants == sorted(set(instants))
    assert all(start <= instant < end for instant in instants)
    for send in found:
        assert weekdays >> send.on.weekday() & 1
        check_instant(place, send.on, at)
    dates = [send.on for send in found]
    assert dates == sorted(set(dates))
    inner = [date.fromordinal(n) for n in range((start + 3 * DAY).toordinal(), (end - 3 * DAY).toordinal())]
    wanted = [on for on in inner if weekdays >> on.weekday() & 1 and existed(place, on)]
    assert [on for on in dates if inner[0] <= on <= inner[-1]] == wanted


@given(
    zone=st.sampled_from(sorted(timezone_names())),
    weekdays=st.integers(1, EVERY_DAY),
    start=st.datetimes(datetime(1990, 1, 1), datetime(2037, 12, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - hypothesis adds the zone
)
def test_next_and_previous_are_neighbours(zone: str, weekdays: int, start: datetime) -> None:
    cadence = Cadence(zone, weekdays=weekdays)
    first = next_send(cadence, start)
    second = next_send(cadence, first.at + SECOND)
    assert start <= first.at < second.at
    assert previous_send(cadence, second) == first
    assert next_send(cadence, first.at) == first


def test_a_stretch_takes_its_start_and_leaves_its_end() -> None:
    cadence, at = Cadence("Asia/Shanghai"), utc("2027-06-10T00:00")
    assert [send.at for send in sends_between(cadence, at, at + DAY)] == [at]
    assert sends_between(cadence, at + SECOND, at + DAY) == []


def test_the_end_of_the_calendar_ends_the_sends() -> None:
    last = [send.on for send in sends_from(Cadence("UTC"), utc("9999-12-28T00:00"))]
    assert last == [date(9999, 12, day) for day in (28, 29, 30)]


@pytest.mark.parametrize(
    "text",
    [
        *("", "+08:00", "UTC+8", "China Standard Time", "Asia", "Factory", "localtime", "../../etc/passwd"),
        *("Asia/Shanghai\0", "posixrules", "Europe/../Asia/Tokyo", "/etc/localtime", "x" * 5000),
    ],
)
def test_what_is_no_zone_is_refused_by_name(text: str) -> None:
    with pytest.raises(BadInputError) as refused:
        parse_timezone(text)
    assert refused.value.field == "timezone"
    assert len(str(refused.value)) < 250
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("text", "meant"), [("Asia/shanghai", "Asia/Shanghai"), ("Europe/Berln", "Europe/Berlin"), ("utc", "UTC")]
)
def test_a_slip_of_the_keyboard_gets_a_hint(text: str, meant: str) -> None:
    with pytest.raises(BadInputError, match=f"did you mean {meant}"):
        parse_timezone(text)


@pytest.mark.parametrize("name", ["Asia/Calcutta", "Europe/Kiev", "Europe/Kyiv", "US/Pacific", "PRC", "Etc/GMT-8"])
def test_old_new_and_fixed_zones_are_zones(name: str) -> None:
    assert parse_timezone(f" {name} ") == name


@pytest.mark.parametrize(
    ("text", "at"), [("08:00", time(8)), ("8:00", time(8)), ("23:59", time(23, 59)), (" 0:05", time(0, 5))]
)
def test_a_time_of_day_is_read(text: str, at: time) -> None:
    assert parse_time(text) == at


@pytest.mark.parametrize("text", ["", "8", "24:00", "08:60", "8am", "08:00:00", "-1:00", "٠٨:٠٠", "８:00", "08:0"])
def test_what_is_no_time_of_day_is_refused_by_name(text: str) -> None:
    with pytest.raises(BadInputError) as refused:
        parse_time(text)
    assert refused.value.field == "time"


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("", EVERY_DAY),
        ("daily", EVERY_DAY),
        ("weekdays", 0b001_1111),
        ("mon", 1),
        ("Sun, sat", 0b110_0000),
        ("monday;wednesday", 0b101),
        ("mon,mon", 1),
    ],
)
def test_weekdays_are_read(text: str, bits: int) -> None:
    assert parse_weekdays(text) == bits


@pytest.mark.parametrize("text", ["moon-day", "8", ",", "mon,,tue", "一"])
def test_what_is_no_weekday_is_refused_by_name(text: str) -> None:
    with pytest.raises(BadInputError) as refused:
        parse_weekdays(text)
    assert refused.value.field == "weekdays"


@given(st.integers(1, EVERY_DAY))
def test_weekdays_survive_writing_and_reading(bits: int) -> None:
    assert parse_weekdays(weekdays_text(bits)) == bits


@pytest.mark.parametrize(
    ("zone", "on"),
    [("Pacific/Kiritimati", date(2027, 6, 10)), ("Etc/GMT+12", date(2027, 6, 8)), ("Mars", date(2027, 6, 9))],
)
def test_today_is_the_readers_own(zone: str, on: date) -> None:
    assert local_today(zone, utc("2027-06-09T11:00")) == on
