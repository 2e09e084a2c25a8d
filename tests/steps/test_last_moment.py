"""UNS-14: what is committed one moment before a batch is handed over stops that message; the batch is held there."""

from collections.abc import Callable
from datetime import date, timedelta

import pytest

from digest.domain.suppression import SuppressionReason
from digest.links import Links
from digest.steps.erase_subscribers import erase_subscriber
from digest.steps.manage_subscriptions import pause, unsubscribe
from digest.steps.send_batches import send_batch
from digest.store.database import open_engine, open_sessions
from digest.store.subscribers import suppress
from tests.steps.world import World, utc

SEND = utc("2027-06-10T00:00")
TENTH = date(2027, 6, 10)
STAYS, GOES = "stays@example.com", "goes@example.com"
Act = Callable[[World, int], object]


class HeldLinks(Links):
    """Signs addresses for the messages' slots; when the last reader's are filled in, ``meanwhile`` happens."""

    last: int = 0
    meanwhile: Callable[[], object]

    def preferences(self, subscriber_id: int) -> str:
        if subscriber_id == self.last:
            self.meanwhile()
        return super().preferences(subscriber_id)


def leaves(world: World, reader: int) -> None:
    unsubscribe(world.sessions, reader, SEND)


def pauses(world: World, reader: int) -> None:
    pause(world.sessions, reader, TENTH + timedelta(days=3), SEND)


def is_barred(world: World, _: int) -> None:
    with world.sessions.begin() as session:
        suppress(session, GOES, SuppressionReason.COMPLAINED, SEND)


def is_erased(world: World, _: int) -> None:
    erase_subscriber(world.sessions, GOES, "a-keyed-hash", SEND)


@pytest.mark.parametrize(
    ("act", "state"),
    [
        (leaves, [(TENTH, "skipped", "unsubscribed")]),
        (pauses, [(TENTH, "skipped", "paused")]),
        (is_barred, [(TENTH, "skipped", "suppressed")]),
        (is_erased, []),
    ],
)
def test_uns_14_a_word_one_moment_before_the_hand_over_stops_the_message(
    shared_world: World, postgres_url: str, act: Act, state: list[tuple[date, str, str]]
) -> None:
    world = shared_world
    goes, stays = world.reader(GOES), world.reader(STAYS)
    world.plan(SEND - timedelta(days=1))
    world.story(SEND - timedelta(hours=1))
    (batch_id,) = world.ready(SEND)
    engine = open_engine(postgres_url)
    elsewhere = World(open_sessions(engine), world.press)
    held = HeldLinks(world.press.links.base_url, world.press.links.secret_keys)
    held.last, held.meanwhile = stays, lambda: act(elsewhere, goes)
    sent = send_batch(world.sessions, world.provider, held, world.policy, batch_id, SEND)
    engine.dispose()
    assert [taken.address for taken in world.provider.briefs()] == [STAYS]
    assert sent.sent == 1
    assert [entry for entry in world.states(GOES) if entry[0] == TENTH] == state
    assert world.states(STAYS)[-1] == (TENTH, "sent", None)
