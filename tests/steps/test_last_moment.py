"""UNS-14: what is committed one moment before a batch is handed over stops that message; the batch is held there."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta

import pytest

from digest.domain.suppression import SuppressionReason
from digest.links import Links
from digest.ports import HandOver, Message, Recipient
from digest.steps.erase_subscribers import erase_subscriber
from digest.steps.manage_subscriptions import pause, unsubscribe
from digest.steps.recover_batches import recover_batches
from digest.steps.send_batches import Sent, send_batch
from digest.store.database import open_engine, open_sessions
from digest.store.ledger import retry_batch
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


class HeldProvider:
    """Takes so many readers at a time; when first asked how many, ``meanwhile`` happens."""

    name = "held"

    def __init__(self, size: int) -> None:
        self._size = size
        self.meanwhile: list[Callable[[], object]] = []
        self.taken: list[str] = []

    @property
    def batch_size(self) -> int:
        while self.meanwhile:
            self.meanwhile.pop()()
        return self._size

    def hand_over(self, message: Message, recipients: Sequence[Recipient], now: datetime) -> HandOver:
        self.taken += [f"{message.key} {now} {recipient.address}" for recipient in recipients]
        return HandOver(accepted=[recipient.key for recipient in recipients])

    def close(self) -> None:
        """Nothing is open."""


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


@pytest.mark.parametrize("held_when", ["messages-are-made", "the-batch-is-too-large"])
def test_who_stood_still_until_the_claim_was_given_up_hands_over_nothing(
    shared_world: World, postgres_url: str, held_when: str
) -> None:
    world = shared_world
    world.reader(GOES)
    last = world.reader(STAYS)
    world.plan(SEND - timedelta(days=1))
    world.story(SEND - timedelta(hours=1))
    (batch_id,) = world.ready(SEND)
    engine = open_engine(postgres_url)
    elsewhere = World(open_sessions(engine), world.press, world.provider)

    def given_by_another() -> None:
        later = SEND + world.policy.lease + timedelta(seconds=1)
        recover_batches(elsewhere.sessions, world.policy, later)
        with elsewhere.sessions.begin() as session:
            assert retry_batch(session, batch_id, later, later + world.policy.grace)
        assert elsewhere.send(batch_id, later).sent == 2

    is_late = held_when == "messages-are-made"
    held = HeldLinks(world.press.links.base_url, world.press.links.secret_keys)
    provider = HeldProvider(100 if is_late else 1)
    if is_late:
        held.last, held.meanwhile = last, given_by_another
    else:
        provider.meanwhile.append(given_by_another)
    sent = send_batch(world.sessions, provider, held, world.policy, batch_id, SEND)
    engine.dispose()
    assert provider.taken == []
    assert sorted(taken.address for taken in world.provider.briefs()) == [GOES, STAYS]
    assert sent == Sent()
    assert {state[1:] for reader in (GOES, STAYS) for state in world.states(reader)[-1:]} == {("sent", None)}
