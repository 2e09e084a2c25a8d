"""Reports from other projects, each as it happened: what went in, and what is right."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timedelta
from threading import Barrier

import pytest

from digest.domain.schedule import Cadence, next_send
from digest.domain.subscriber import EndReason, SubscriberState
from digest.steps.manage_subscriptions import unsubscribe
from digest.steps.read_subscribers import find_by_address
from digest.steps.request_subscriptions import request_subscription
from digest.store.sources import due_sources
from digest.store.tables import Source
from tests.steps.world import ZH, World, utc

TEN_MINUTES = timedelta(minutes=10)


def prompt(sent: list[tuple[datetime, date]], *instants: str) -> bool:
    """Whether there is one brief per instant, none early and none more than ten minutes late."""
    wanted = [utc(instant) for instant in instants]
    late = [at - due for (at, _), due in zip(sent, wanted, strict=True)]
    return all(timedelta(0) <= wait <= TEN_MINUTES for wait in late)


def test_tz_01_the_morning_the_clocks_go_back_brings_one_brief(shared_world: World) -> None:
    world = shared_world
    world.reader(zone="America/New_York")
    world.news(utc("2027-11-05T00:00"), utc("2027-11-08T14:00"))
    world.turns(utc("2027-11-06T11:00"), utc("2027-11-08T14:00"), TEN_MINUTES)
    sent = world.sent()
    assert prompt(sent, "2027-11-06T12:00", "2027-11-07T13:00", "2027-11-08T13:00")
    assert [on for _, on in sent] == [date(2027, 11, 6), date(2027, 11, 7), date(2027, 11, 8)]


def test_tz_03_quarter_hour_zones_get_theirs_on_time(shared_world: World) -> None:
    world = shared_world
    zones = {
        "Australia/Eucla": "2027-01-14T23:15",
        "Asia/Kathmandu": "2027-01-15T02:15",
        "Asia/Kolkata": "2027-01-15T02:30",
        "America/St_Johns": "2027-01-15T11:30",
    }
    for zone in zones:
        world.reader(f"{zone.rpartition('/')[2]}@example.com", zone)
    world.news(utc("2027-01-13T00:00"), utc("2027-01-15T11:00"))
    world.turns(utc("2027-01-14T22:00"), utc("2027-01-15T13:00"))
    for zone, instant in zones.items():
        sent = world.sent(f"{zone.rpartition('/')[2]}@example.com")
        assert prompt(sent, instant)
        assert [on for _, on in sent] == [date(2027, 1, 15)]


@pytest.mark.parametrize(
    ("start", "instants", "dates"),
    [
        ("2027-04-02T20:00", ("2027-04-02T21:00", "2027-04-03T21:30"), ("2027-04-03", "2027-04-04")),
        ("2027-10-01T20:00", ("2027-10-01T21:30", "2027-10-02T21:00"), ("2027-10-02", "2027-10-03")),
    ],
)
def test_tz_05_clocks_that_move_by_half_an_hour(
    shared_world: World, start: str, instants: tuple[str, ...], dates: tuple[str, ...]
) -> None:
    world, end = shared_world, utc(start) + timedelta(hours=27)
    world.reader(zone="Australia/Lord_Howe")
    world.news(utc(start) - timedelta(days=1), end)
    world.turns(utc(start), end)
    assert prompt(world.sent(), *instants)
    assert [on.isoformat() for _, on in world.sent()] == list(dates)


@pytest.mark.parametrize(
    ("zone", "instant"),
    [
        ("Asia/Calcutta", "02:30"),
        ("Europe/Kiev", "06:00"),
        ("Europe/Kyiv", "06:00"),
        ("Asia/Saigon", "01:00"),
        ("America/Buenos_Aires", "11:00"),
        ("US/Pacific", "16:00"),
        ("PRC", "00:00"),
        ("Asia/Chongqing", "00:00"),
    ],
)
def test_tz_07_old_and_new_zone_names_are_kept_and_served(world: World, zone: str, instant: str) -> None:
    now = utc("2027-01-14T17:00")
    reader = world.join(now, zone=zone)
    assert world.confirm(1, now).status == "already"
    found = find_by_address(world.sessions, "reader@example.com", now)
    assert found is not None
    assert (found.id, found.cadence.timezone) == (reader, zone)
    assert next_send(Cadence(zone), utc("2027-01-15T00:00")).at == utc(f"2027-01-15T{instant}")


def test_tz_11_midnight_utc_is_the_morning_of_the_same_date_in_china(world: World) -> None:
    world.reader(language=ZH)
    world.story(utc("2027-06-09T12:00"))
    world.turn(utc("2027-06-09T23:59:58"))
    assert world.sent() == []
    world.turn(utc("2027-06-10T00:00:03"))
    world.turn(utc("2027-06-10T00:05:00"))
    assert world.sent() == [(utc("2027-06-10T00:00:03"), date(2027, 6, 10))]
    message = world.provider.briefs()[0].message
    assert "6月10日" in message.text
    assert "星期四" in message.text


def test_tz_15_every_story_between_two_sends_is_in_exactly_one_brief(shared_world: World) -> None:
    world = shared_world
    world.reader(zone="Europe/Berlin")
    at = utc("2027-10-29T00:30")
    titles = {}
    while at <= utc("2027-11-01T23:30"):
        titles[f"Item {at:%m-%d %Hh}."] = at
        world.story(at, f"Item {at:%m-%d %Hh}.")
        at += timedelta(hours=1)
    world.turns(utc("2027-10-29T05:00"), utc("2027-11-01T08:00"), timedelta(minutes=30))
    texts = {on.day: t.message.text for (_, on), t in zip(world.sent(), world.provider.briefs(), strict=True)}
    found = {title: [day for day, text in texts.items() if title in text] for title in titles}
    first, last = utc("2027-10-30T06:00") - TEN_MINUTES, utc("2027-11-01T07:00") - TEN_MINUTES
    assert all(len(days) == 1 for title, days in found.items() if first <= titles[title] < last)
    assert sum(days == [31] for days in found.values()) == 25


def test_dup_05_after_downtime_the_newest_comes_and_the_older_are_written_down(world: World) -> None:
    for number in range(3):
        world.reader(f"r{number}@example.com")
    world.news(utc("2027-06-05T12:00"), utc("2027-06-11T00:00"))
    world.turns(utc("2027-06-06T22:00"), utc("2027-06-07T23:00"), timedelta(hours=1))
    before = len(world.provider.briefs())
    world.turn(utc("2027-06-10T02:10"))
    world.turn(utc("2027-06-10T02:10:05"))
    for number in range(3):
        address = f"r{number}@example.com"
        assert world.states(address)[-3:] == [
            (date(2027, 6, 8), "skipped", "missed"),
            (date(2027, 6, 9), "skipped", "missed"),
            (date(2027, 6, 10), "sent", None),
        ]
    assert len(world.provider.briefs()) - before == 3
    world.turns(utc("2027-06-10T23:00"), utc("2027-06-11T01:00"))
    assert world.sent("r0@example.com")[-1] == (utc("2027-06-11T00:00"), date(2027, 6, 11))


def test_dup_07_a_clock_that_was_wrong_and_set_right_holds_nothing_up(world: World) -> None:
    for number in range(3):
        world.reader(f"r{number}@example.com")
    world.turn(utc("2027-06-08T23:55"))
    world.turn(utc("2029-01-01T00:00"))
    world.story(utc("2027-06-09T12:00"))
    for moment in ("2027-06-09T23:55", "2027-06-10T00:00", "2027-06-10T00:05"):
        world.turn(utc(moment))
    assert [at for at, _ in world.sent()] == [utc("2027-06-10T00:00")] * 3


def test_dup_07_a_source_does_not_wait_for_the_wrong_clock_to_come_true(world: World) -> None:
    now = utc("2027-06-09T23:55")
    rests = {"wrong": utc("2029-01-01T00:15"), "resting": now + timedelta(hours=20), "rested": now}
    with world.sessions.begin() as session:
        for name, until in rests.items():
            url = f"https://{name}.example.com/feed"
            session.add(Source(name=name, feed_url=url, fetch_after_at=until, created_at=now))
    with world.sessions() as session:
        due = {session.get_one(Source, source_id).name for source_id in due_sources(session, now)}
    assert due == {"wrong", "rested"}


def test_sgn_09_whichever_link_is_used_first_confirms(world: World) -> None:
    first = world.ask(utc("2027-06-09T10:00"))
    second = world.ask(utc("2027-06-09T10:10"))
    assert first != second
    assert world.confirm(first, utc("2027-06-09T10:20")).status == "confirmed"
    assert world.confirm(second, utc("2027-06-09T10:30")).status == "already"


def test_sgn_19_letter_case_makes_no_second_subscriber(world: World) -> None:
    world.join(utc("2027-06-09T10:00"), "Reader@Example.com")
    world.story(utc("2027-06-09T12:00"))
    for address in ("reader@example.com", "READER@EXAMPLE.COM"):
        request_subscription(world.sessions, world.request(address), [], utc("2027-06-09T11:00"))
    world.turns(utc("2027-06-09T23:00"), utc("2027-06-10T01:00"))
    assert len(world.provider.briefs()) == 1
    assert len(world.ledger()) == 1


def test_sgn_19_nor_when_both_come_at_the_same_instant(shared_world: World) -> None:
    world = shared_world
    addresses = ["reader@example.com", "READER@EXAMPLE.COM"] * 3
    start = Barrier(len(addresses))

    def ask(address: str) -> int:
        start.wait(10)
        return len(request_subscription(world.sessions, world.request(address), [], utc("2027-06-09T10:00")))

    with ThreadPoolExecutor(len(addresses)) as pool:
        letters = list(pool.map(ask, addresses, timeout=30))
    assert sum(letters) == 3
    assert world.subscriber(1).state is SubscriberState.PENDING
    assert find_by_address(world.sessions, "Reader@example.com", utc("2027-06-09T10:00")) is not None


def test_uns_09_a_repeated_unsubscription_changes_and_mails_nothing_more(shared_world: World) -> None:
    world, left = shared_world, utc("2027-06-09T11:00")
    reader = world.join(utc("2027-06-09T10:00"))
    world.turn(utc("2027-06-09T10:01"))
    start = Barrier(4)

    def leave(_: int) -> int:
        start.wait(10)
        return len(unsubscribe(world.sessions, reader, left)[1])

    with ThreadPoolExecutor(4) as pool:
        letters = list(pool.map(leave, range(4), timeout=30))
    assert sorted(letters) == [0, 0, 0, 1]
    found, owed = unsubscribe(world.sessions, reader, left + timedelta(days=1))
    assert found is not None
    assert (found.state, found.reason, owed) == (SubscriberState.ENDED, EndReason.UNSUBSCRIBED, [])
    assert world.subscriber(reader).changed_at == left


def test_uns_11_whoever_left_can_sign_up_again_with_other_wishes(world: World) -> None:
    reader = world.join(utc("2027-06-07T10:00"))
    unsubscribe(world.sessions, reader, utc("2027-06-07T11:00"))
    consent = world.ask(utc("2027-06-08T10:00"), zone="Europe/Berlin", language=ZH)
    world.news(utc("2027-06-07T12:00"), utc("2027-06-11T00:00"))
    world.turns(utc("2027-06-08T11:00"), utc("2027-06-09T09:00"), timedelta(hours=1))
    assert world.sent() == []
    assert world.provider.letters()[-1] == "confirm"
    assert world.confirm(consent, utc("2027-06-09T10:00")).status == "confirmed"
    world.turns(utc("2027-06-09T11:00"), utc("2027-06-10T08:00"), timedelta(hours=1))
    assert world.sent() == [(utc("2027-06-10T06:00"), date(2027, 6, 10))]
    assert world.provider.briefs()[0].message.language is ZH
