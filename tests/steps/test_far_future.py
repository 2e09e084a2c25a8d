"""Nothing in the store is an instant computed more than a day ahead: a change of rules meets no old answer."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import func, select

from digest.domain.errors import TryAgainError
from digest.domain.language import Language
from digest.domain.schedule import Cadence
from digest.editors.extractive import ExtractiveEditor
from digest.ports import Fetched
from digest.sources.matching import TitleMatcher
from digest.sources.parse import parse_feed
from digest.steps.collect_stories import Desk, collect_source, take_sources
from digest.steps.manage_subscriptions import change_wishes, pause, unsubscribe
from digest.store.tables import Source, Table
from digest.store.types import UtcDateTime
from tests.steps.world import World, utc

NOW = utc("2027-06-10T00:00")
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
A_YEAR = 365 * 86_400.0


class AbsentHost:
    """A host that wants to be left alone for a year."""

    def read(self, url: str) -> str:
        raise TryAgainError(f"{url} is away", A_YEAR)

    def fetch(self, url: str, etag: str = "", last_modified: str = "") -> Fetched:
        raise TryAgainError(f"{url} {etag}{last_modified} is away", A_YEAR)


def instants(world: World) -> dict[str, datetime]:
    """The latest value of every column that holds an instant."""
    found = {}
    with world.sessions() as session:
        for table in Table.metadata.sorted_tables:
            for column in table.columns:
                if isinstance(column.type, UtcDateTime):
                    found[f"{table.name}.{column.name}"] = session.scalar(select(func.max(column, type_=column.type)))
    return {name: at for name, at in found.items() if at is not None}


@pytest.fixture
def busy_world(shared_world: World) -> World:
    """Two mornings with joins, changes, pauses, departures, a provider that wants a year, and a feed that fails."""
    world = shared_world
    for number, zone in enumerate(("Pacific/Kiritimati", "Asia/Shanghai", "Pacific/Pago_Pago")):
        world.reader(f"r{number}@example.com", zone)
    world.turn(NOW - 2 * DAY)
    world.news(NOW - 2 * DAY, NOW + DAY)
    world.provider.busy, world.provider.after_seconds = {"r1@example.com", "new@example.com"}, A_YEAR
    world.turns(NOW - DAY, NOW, 3 * HOUR)
    world.join(NOW, "new@example.com", "Asia/Kathmandu")
    change_wishes(world.sessions, 1, Language.CHINESE, Cadence("Europe/Berlin"), "", NOW)
    pause(world.sessions, 3, (NOW + 300 * DAY).date(), NOW)
    unsubscribe(world.sessions, 2, NOW)
    fetch_failing(world)
    world.turn(NOW)
    return world


def fetch_failing(world: World) -> None:
    with world.sessions.begin() as session:
        session.add(Source(name="Away", feed_url="https://away.example.com/feed", failures=30, created_at=NOW))
    host = AbsentHost()
    desk = Desk(host, parse_feed, host, TitleMatcher(), ExtractiveEditor(), every=DAY, spacing=HOUR)
    for source_id in take_sources(world.sessions, NOW):
        assert collect_source(world.sessions, desk, source_id, NOW).error


def test_no_instant_in_any_table_lies_more_than_a_day_ahead(busy_world: World) -> None:
    found = instants(busy_world)
    assert {"batches.expires_at", "editions.send_at", "letters.not_before_at", "sources.fetch_after_at"} <= set(found)
    assert {name: at for name, at in found.items() if at > NOW + DAY} == {}
