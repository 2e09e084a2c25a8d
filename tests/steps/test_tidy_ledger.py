"""Old rows go in small steps, months as a whole, and never because a clock was wrong."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta

import pytest
from sqlalchemy import func, select, text

from digest.domain.brief import BriefState
from digest.domain.event import EventKind, ProviderEvent
from digest.steps.record_events import record_events
from digest.steps.record_posts import receive_post
from digest.steps.tidy_ledger import Tidied, tidy_if_time
from digest.store.database import Sessions
from digest.store.months import make_months, month_of
from digest.store.tables import Announcement, Batch, Delivery, Event, EventPost, Letter, Morning
from tests.steps.world import World, utc

KEEP = timedelta(days=60)
NOW = utc("2027-09-20T12:00")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def months(sessions: Sessions) -> list[str]:
    with sessions() as session:
        names = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'deliveries'::regclass ORDER BY 1"
        return list(session.scalars(text(names)))


def tidied(world: World, now: datetime, times: int) -> Iterator[Tidied]:
    for number in range(times):
        found = tidy_if_time(world.sessions, KEEP, now + number * HOUR)
        assert found is not None
        yield found


@pytest.fixture
def old(world: World) -> World:
    """Mornings of June and July and one of September."""
    world.reader()
    for on in ("2027-06-10", "2027-07-10", "2027-09-19"):
        world.story(utc(f"{on}T00:00") - timedelta(hours=2))
        world.turn(utc(f"{on}T00:00"))
    return world


def dates(world: World) -> set[date]:
    with world.sessions() as session:
        return set(session.scalars(select(Delivery.on)))


def test_the_date_before_which_things_go_comes_nearer_by_a_day_at_a_time(old: World) -> None:
    first = min(dates(old))
    list(tidied(old, NOW, 10))
    assert min(dates(old)) == first
    list(tidied(old, NOW + 10 * HOUR, 60))
    assert {on.month for on in dates(old)} == {7, 9}


def test_what_belongs_to_old_deliveries_goes_with_them(old: World) -> None:
    list(tidied(old, NOW, 60))
    with old.sessions() as session:
        assert {on.month for on in session.scalars(select(Morning.on))} == {7, 9}
        orphans = select(Batch.id).where(~select(Delivery.batch_id).where(Delivery.batch_id == Batch.id).exists())
        assert session.scalars(orphans).all() == []
    assert [brief.state for brief in old.briefs()].count(BriefState.READY) == 3


def test_one_of_many_who_ask_tidies(old: World) -> None:
    asked = [tidy_if_time(old.sessions, KEEP, NOW) for _ in range(3)]
    assert [found is not None for found in asked] == [True, False, False]
    assert tidy_if_time(old.sessions, KEEP, NOW + HOUR) is not None


def test_a_clock_two_years_ahead_makes_nobody_forget_this_morning(old: World) -> None:
    tidy_if_time(old.sessions, KEEP, NOW)
    for hour in range(24):
        tidy_if_time(old.sessions, KEEP, NOW + timedelta(days=730, hours=hour))
    assert date(2027, 9, 19) in dates(old)
    assert tidy_if_time(old.sessions, KEEP, NOW + HOUR) is not None


def test_old_events_go_and_what_followed_from_them_stays(old: World) -> None:
    reader = old.subscriber(1)
    bounce = ProviderEvent(
        "recording", "bounce", EventKind.BOUNCED, NOW - 70 * DAY, recipient_key=f"{reader.id}-20270710"
    )
    record_events(old.sessions, [bounce], NOW - 70 * DAY)
    reason = old.subscriber(1).reason
    list(tidied(old, NOW, 60))
    with old.sessions() as session:
        assert session.scalar(select(func.count()).select_from(Event)) == 0
    assert old.subscriber(1).reason == reason
    assert reason is not None


def test_letters_that_wait_are_kept(world: World) -> None:
    world.ask(NOW - 100 * DAY)
    list(tidied(world, NOW, 2))
    with world.sessions() as session:
        assert session.scalar(select(func.count()).select_from(Letter)) == 1


def test_on_postgresql_old_months_are_dropped_and_the_coming_one_is_made(postgres: Sessions) -> None:
    with postgres.begin() as session:
        made = make_months(session, [date(2027, 5, 3), date(2027, 6, 30)])
    assert made == ["deliveries_2027_05", "deliveries_2027_06"]
    found = tidy_if_time(postgres, KEEP, NOW)
    assert found is not None
    assert found.months_dropped == ["deliveries_2027_05", "deliveries_2027_06"]
    assert found.months_made == ["deliveries_2027_09", "deliveries_2027_10"]
    assert months(postgres) == ["deliveries_2027_09", "deliveries_2027_10", "deliveries_default"]


def test_a_month_is_made_once(postgres: Sessions) -> None:
    for expected in (["deliveries_2027_12"], []):
        with postgres.begin() as session:
            assert make_months(session, [date(2027, 12, 31), date(2027, 12, 1)]) == expected


def test_planning_writes_into_the_month_of_the_date(shared_world: World) -> None:
    world = shared_world
    world.reader()
    world.story(utc("2027-06-09T22:00"))
    world.turn(utc("2027-06-10T00:00"))
    with world.sessions() as session:
        kept = session.scalar(text(f"SELECT count(*) FROM {month_of(date(2027, 6, 10))}"))  # noqa: S608 - a name of digits
    assert kept == len(dates(world)) > 0


def test_posts_and_news_go_after_two_weeks(world: World) -> None:
    receive_post(world.sessions, "recording", b"[]", NOW - 15 * DAY)
    kept = receive_post(world.sessions, "recording", b"[]", NOW - 13 * DAY)
    for days in (15, 13):
        world.join(NOW - days * DAY, f"reader{days}@example.com")
    list(tidied(world, NOW, 1))
    with world.sessions() as session:
        assert list(session.scalars(select(EventPost.id))) == [kept]
        assert list(session.scalars(select(Announcement.created_at))) == [NOW - 13 * DAY]
