"""What a provider reports is stored once and acts once, in whatever order it comes."""

from datetime import date, datetime, timedelta

import pytest
from sqlalchemy import func, select

from digest.domain.event import EventKind, ProviderEvent
from digest.domain.subscriber import EndReason, SubscriberState
from digest.steps.manage_subscriptions import unsubscribe
from digest.steps.record_events import Recorded, record_events
from digest.store.subscribers import is_suppressed
from digest.store.tables import Event, Suppression
from tests.steps.world import World, utc

SEND = utc("2027-06-10T00:00")
TENTH = date(2027, 6, 10)
BEYOND = f"{2**80}-20270610"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def event(
    kind: EventKind,
    key: str | None = "1-20270610",
    identifier: str = "e1",
    at: datetime = SEND,
    address: str | None = None,
) -> ProviderEvent:
    return ProviderEvent("recording", identifier, kind, at, recipient_key=key, address=address)


def record(world: World, *events: ProviderEvent) -> Recorded:
    return record_events(world.sessions, events, SEND + HOUR)


def events(world: World) -> int:
    with world.sessions() as session:
        return session.scalar(select(func.count()).select_from(Event)) or 0


def test_an_event_is_stored_once_however_often_it_comes(world: World) -> None:
    world.reader()
    recorded = record(world, *[event(EventKind.DELIVERED)] * 3)
    assert (recorded.new, recorded.known, events(world)) == (1, 2, 1)


@pytest.mark.parametrize(
    ("kind", "reason"), [(EventKind.BOUNCED, EndReason.BOUNCED), (EventKind.COMPLAINED, EndReason.COMPLAINED)]
)
def test_a_dead_address_or_a_complaint_ends_and_bars(world: World, kind: EventKind, reason: EndReason) -> None:
    reader = world.reader()
    record(world, event(kind))
    row = world.subscriber(reader)
    assert (row.state, row.reason) == (SubscriberState.ENDED, reason)
    with world.sessions() as session:
        assert is_suppressed(session, "READER@example.com", [])


def test_an_unsubscription_ends_and_does_not_bar(world: World) -> None:
    reader = world.reader()
    record(world, event(EventKind.UNSUBSCRIBED))
    assert world.subscriber(reader).reason is EndReason.UNSUBSCRIBED
    with world.sessions() as session:
        assert not is_suppressed(session, "reader@example.com", [])


@pytest.mark.parametrize(
    "kind", [EventKind.DEFERRED, EventKind.BLOCKED, EventKind.DROPPED, EventKind.OPENED, EventKind.OTHER]
)
def test_what_says_nothing_about_the_address_ends_nothing(world: World, kind: EventKind) -> None:
    reader = world.reader()
    record(world, event(kind))
    assert world.subscriber(reader).state is SubscriberState.ACTIVE


def test_a_complaint_after_leaving_still_bars(world: World) -> None:
    reader = world.reader()
    unsubscribe(world.sessions, reader, SEND)
    record(world, event(EventKind.COMPLAINED))
    assert world.subscriber(reader).reason is EndReason.COMPLAINED


def test_an_old_unsubscription_that_comes_late_does_not_undo_a_newer_yes(world: World) -> None:
    reader = world.join(SEND)
    record(world, event(EventKind.UNSUBSCRIBED, f"{reader}-20270601", at=SEND - 7 * DAY))
    assert world.subscriber(reader).state is SubscriberState.ACTIVE


@pytest.mark.parametrize(
    "key", [None, "", "999-20270610", "letter-999", "nonsense", "1-20271399", "1-", "-1", "²-20270610", BEYOND]
)
def test_an_unknown_key_harms_nobody(world: World, key: str | None) -> None:
    reader = world.reader()
    recorded = record(world, event(EventKind.BOUNCED, key))
    assert (recorded.new, recorded.strangers) == (1, 1)
    assert world.subscriber(reader).state is SubscriberState.ACTIVE


def test_without_our_key_the_address_tells_whose_it_is(world: World) -> None:
    reader = world.reader()
    record(world, event(EventKind.BOUNCED, None, address="Reader@Example.com"))
    assert world.subscriber(reader).reason is EndReason.BOUNCED


def test_a_letters_key_leads_to_its_reader(world: World) -> None:
    world.ask(SEND)
    record(world, event(EventKind.BOUNCED, "letter-1"))
    assert world.subscriber(1).reason is EndReason.BOUNCED


def test_the_suppression_names_the_event_it_came_from(world: World) -> None:
    world.reader()
    record(world, event(EventKind.BOUNCED))
    with world.sessions() as session:
        (found,) = session.scalars(select(Suppression)).all()
        assert session.get_one(Event, found.event_id).kind is EventKind.BOUNCED


def test_an_event_for_a_delivery_that_is_known_changes_no_state(world: World) -> None:
    world.reader()
    world.story(SEND - HOUR)
    world.turn(SEND)
    record(world, event(EventKind.DELIVERED))
    assert world.states()[-1] == (TENTH, "sent", None)


def test_words_with_a_nul_are_kept_without_it(world: World) -> None:
    world.reader()
    said = ProviderEvent(
        "recording", "e1", EventKind.DEFERRED, SEND, "1-20270610", detail="450 \0 later", raw='{"x": "\0"}'
    )
    assert record(world, said).new == 1


def test_no_story_comes_twice_after_a_lost_answer_was_settled(world: World) -> None:
    reader = world.join(SEND - DAY - HOUR)
    title = world.story(SEND - HOUR)
    world.provider.loses = {"reader@example.com"}
    world.turn(SEND)
    assert world.states()[-1] == (TENTH, "unknown", "answer_lost")
    record(world, event(EventKind.DELIVERED, f"{reader}-20270610"))
    world.provider.loses = set()
    world.story(SEND + HOUR)
    world.turn(SEND + DAY)
    texts = [t.message.text for t in world.provider.briefs()]
    assert [title in text for text in texts] == [True, False]
