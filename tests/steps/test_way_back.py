"""Soft bounces add up, a delivery sets them back, and who was barred comes back by a clear act only."""

from datetime import date, timedelta

import pytest
from sqlalchemy import select

from digest.domain.delivery import DeliveryReason
from digest.domain.event import EventKind, ProviderEvent
from digest.domain.subscriber import EndReason, SubscriberState
from digest.domain.suppression import SuppressionReason
from digest.ports import Refusal
from digest.steps.manage_subscriptions import come_back, unsubscribe
from digest.steps.readmit import readmit
from digest.steps.record_events import record_events
from digest.steps.record_refusals import record_refusals
from digest.steps.request_subscriptions import request_subscription
from digest.store.subscribers import bar_on, suppress, suppress_hash
from digest.store.tables import Event
from tests.steps.world import World, utc

START = utc("2027-06-10T00:00")
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
HASH = "f" * 64


@pytest.fixture
def world(shared_world: World) -> World:
    """Nothing here depends on the database."""
    return shared_world


def report(world: World, reader: int, kind: EventKind, day: int, *, hours: int = 1, detail: str = "") -> None:
    at = START + day * DAY + hours * HOUR
    key = f"{reader}-{date(2027, 6, 10) + day * DAY:%Y%m%d}"
    event = ProviderEvent("smtp", f"{kind}-{key}-{hours}", kind, at, recipient_key=key, detail=detail)
    record_events(world.sessions, [event], at)


def bar(world: World, address: str = "reader@example.com") -> SuppressionReason | None:
    with world.sessions() as session:
        found = bar_on(session, address)
        return None if found is None else found.reason


def test_prv_15_a_five_soft_bounces_in_a_row_are_a_mailbox_left(world: World) -> None:
    reader = world.reader()
    for day in range(4):
        report(world, reader, EventKind.SOFT_BOUNCED, day)
    assert world.subscriber(reader).state is SubscriberState.ACTIVE
    report(world, reader, EventKind.SOFT_BOUNCED, 4)
    assert world.subscriber(reader).reason is EndReason.BOUNCED
    assert bar(world) is SuppressionReason.SOFT_BOUNCED


def test_prv_15_b_a_delivery_sets_the_count_back(world: World) -> None:
    reader = world.reader()
    for day in range(0, 20, 2):
        report(world, reader, EventKind.SOFT_BOUNCED, day)
        report(world, reader, EventKind.DELIVERED, day + 1)
    assert world.subscriber(reader).state is SubscriberState.ACTIVE


def test_prv_15_c_bounces_of_one_delivery_are_one(world: World) -> None:
    reader = world.reader()
    for hours in range(1, 9):
        report(world, reader, EventKind.SOFT_BOUNCED, 0, hours=hours)
    assert world.subscriber(reader).state is SubscriberState.ACTIVE


def test_prv_15_d_a_new_address_starts_at_zero(world: World) -> None:
    old = world.reader()
    for day in range(4):
        report(world, old, EventKind.SOFT_BOUNCED, day)
    new = world.reader("elsewhere@example.com")
    report(world, new, EventKind.SOFT_BOUNCED, 4)
    assert world.subscriber(new).state is SubscriberState.ACTIVE


def test_soft_bounces_that_lie_far_apart_never_add_up(world: World) -> None:
    reader = world.reader()
    for day in range(0, 80, 8):
        report(world, reader, EventKind.SOFT_BOUNCED, day)
    assert world.subscriber(reader).state is SubscriberState.ACTIVE


def test_blocked_messages_never_add_up(world: World) -> None:
    reader = world.reader()
    for day in range(12):
        report(world, reader, EventKind.BLOCKED, day)
    assert world.subscriber(reader).state is SubscriberState.ACTIVE


def test_a_message_dropped_for_an_old_complaint_is_a_complaint(world: World) -> None:
    reader = world.reader()
    report(world, reader, EventKind.DROPPED, 0, detail="Spam Reporting Address")
    assert world.subscriber(reader).reason is EndReason.COMPLAINED


def test_a_complaint_outweighs_the_bounce_before_it(world: World) -> None:
    reader = world.reader()
    report(world, reader, EventKind.BOUNCED, 0)
    report(world, reader, EventKind.COMPLAINED, 1)
    report(world, reader, EventKind.BOUNCED, 2)
    assert bar(world) is SuppressionReason.COMPLAINED


def test_a_mailbox_refused_in_the_answer_is_a_bounce_once(world: World) -> None:
    reader = world.reader()
    key = f"{reader}-20270610"
    said = {key: Refusal(DeliveryReason.INVALID_ADDRESS, "550 5.1.1 no", EventKind.BOUNCED)}
    for _ in range(2):
        record_refusals(world.sessions, "smtp", said, START)
    assert world.subscriber(reader).reason is EndReason.BOUNCED
    with world.sessions() as session:
        assert [event.kind for event in session.scalars(select(Event))] == [EventKind.BOUNCED]


def test_a_refusal_that_is_ours_says_nothing_of_the_reader(world: World) -> None:
    reader = world.reader()
    own = {f"{reader}-20270610": Refusal(DeliveryReason.INVALID_ADDRESS, "the relay does not offer SMTPUTF8")}
    record_refusals(world.sessions, "smtp", own, START)
    assert world.subscriber(reader).state is SubscriberState.ACTIVE


def test_after_a_hard_bounce_a_fresh_yes_a_month_later_lifts_the_bar(world: World) -> None:
    reader = world.reader()
    report(world, reader, EventKind.BOUNCED, 0)
    later = START + 31 * DAY
    assert request_subscription(world.sessions, world.request(), [], START + DAY) == []
    consent = world.ask(later)
    assert bar(world) is SuppressionReason.BOUNCED
    assert world.confirm(consent, later).status == "confirmed"
    assert (world.subscriber(reader).state, bar(world)) == (SubscriberState.ACTIVE, None)


def test_a_link_from_before_the_bounce_stays_shut(world: World) -> None:
    consent = world.ask(START)
    with world.sessions.begin() as session:
        suppress(session, "reader@example.com", SuppressionReason.COMPLAINED, START)
    assert world.confirm(consent, START + HOUR).status == "gone"


def test_after_a_complaint_only_the_operator_opens_the_way_and_the_reader_walks_it(world: World) -> None:
    reader = world.reader()
    report(world, reader, EventKind.COMPLAINED, 0)
    late = START + 400 * DAY
    assert request_subscription(world.sessions, world.request(), [], late) == []
    assert readmit(world.sessions, "Reader@example.com", [], "asked by phone", late) is SuppressionReason.COMPLAINED
    assert world.subscriber(reader).state is SubscriberState.ENDED
    assert world.confirm(world.ask(late + HOUR), late + HOUR).status == "confirmed"
    with world.sessions() as session:
        (act,) = session.scalars(select(Event).where(Event.provider == "operator"))
        assert (act.subscriber_id, act.detail) == (reader, "readmitted after complained: asked by phone")


def test_an_erased_address_is_readmitted_by_its_hash(world: World) -> None:
    with world.sessions.begin() as session:
        suppress_hash(session, HASH, START)
    assert readmit(world.sessions, "reader@example.com", [HASH], "wrote to us", START) is SuppressionReason.ERASED
    assert readmit(world.sessions, "reader@example.com", [HASH], "wrote to us", START) is None


def test_undoing_an_unsubscription_does_not_pass_by_a_bounce_since(world: World) -> None:
    reader = world.reader()
    unsubscribe(world.sessions, reader, START)
    report(world, reader, EventKind.BOUNCED, 0)
    come_back(world.sessions, reader, START + DAY)
    assert world.subscriber(reader).state is SubscriberState.ENDED
