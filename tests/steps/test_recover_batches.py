"""What a process left behind gets a definite state, and nothing is sent on a guess."""

from datetime import date, timedelta

import pytest
from sqlalchemy import update

from digest.domain.delivery import BatchState, DeliveryReason
from digest.domain.edition import Policy
from digest.domain.event import EventKind, ProviderEvent
from digest.domain.subscriber import SubscriberState
from digest.steps.manage_subscriptions import pause
from digest.steps.record_events import record_events
from digest.steps.recover_batches import recover_batches
from digest.store.audit import audit
from digest.store.ledger import retry_batch
from digest.store.sending import claim_batch
from digest.store.tables import Batch, Letter
from tests.steps.world import World, utc

SEND = utc("2027-06-10T00:00")
TENTH = date(2027, 6, 10)
SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
LEASE = Policy().lease


def claimed(world: World) -> int:
    """A batch whose holder died in the middle; returns its id."""
    world.reader()
    world.plan(SEND - DAY)
    world.story(SEND - timedelta(hours=1))
    (batch_id,) = world.ready(SEND)
    with world.sessions.begin() as session:
        assert claim_batch(session, batch_id, SEND, LEASE, "recording") is not None
    return batch_id


def delivered(world: World, kind: EventKind = EventKind.DELIVERED) -> None:
    """The provider says what became of the message."""
    subscriber_id = world.subscriber(1).id
    event = ProviderEvent("recording", f"event-{kind}", kind, SEND, recipient_key=f"{subscriber_id}-20270610")
    record_events(world.sessions, [event], SEND + timedelta(hours=1))


def test_a_lease_that_still_runs_is_left_alone(world: World) -> None:
    claimed(world)
    assert recover_batches(world.sessions, world.policy, SEND + LEASE).unknown == 0


def test_an_expired_lease_is_unknown_and_stays_so(world: World) -> None:
    claimed(world)
    assert recover_batches(world.sessions, world.policy, SEND + LEASE + SECOND).unknown == 1
    world.turns(SEND + LEASE + SECOND, SEND + timedelta(hours=5), timedelta(minutes=30))
    assert world.states()[-1] == (TENTH, "unknown", "lease_expired")
    assert world.provider.briefs() == []


def test_the_answer_that_came_after_all_settles_it(world: World) -> None:
    world.reader()
    world.plan(SEND - DAY)
    world.story(SEND - timedelta(hours=1))
    (batch_id,) = world.ready(SEND)
    world.provider.meanwhile = lambda: recover_batches(world.sessions, world.policy, SEND + LEASE + SECOND)
    world.send(batch_id, SEND)
    assert world.states()[-1] == (TENTH, "sent", None)


@pytest.mark.parametrize("kind", [EventKind.PROCESSED, EventKind.DELIVERED, EventKind.DEFERRED, EventKind.OPENED])
def test_an_event_proves_the_hand_over(world: World, kind: EventKind) -> None:
    claimed(world)
    recover_batches(world.sessions, world.policy, SEND + LEASE + SECOND)
    delivered(world, kind)
    assert world.states()[-1] == (TENTH, "sent", None)


def test_an_event_that_is_not_understood_proves_nothing(world: World) -> None:
    claimed(world)
    recover_batches(world.sessions, world.policy, SEND + LEASE + SECOND)
    delivered(world, EventKind.OTHER)
    assert world.states()[-1] == (TENTH, "unknown", "lease_expired")


def test_on_the_operators_word_an_unknown_batch_goes_out_to_whom_no_event_shows(world: World) -> None:
    batch_id = claimed(world)
    recover_batches(world.sessions, world.policy, SEND + LEASE + SECOND)
    now = SEND + timedelta(hours=1)
    with world.sessions.begin() as session:
        assert retry_batch(session, batch_id, now, now + timedelta(hours=4))
    assert world.send(batch_id, now).sent == 1


def test_after_the_event_even_the_operator_cannot_send_it_twice(world: World) -> None:
    batch_id = claimed(world)
    recover_batches(world.sessions, world.policy, SEND + LEASE + SECOND)
    delivered(world)
    now = SEND + timedelta(hours=1)
    with world.sessions.begin() as session:
        assert retry_batch(session, batch_id, now, now + timedelta(hours=4))
    world.send(batch_id, now)
    assert world.provider.briefs() == []


def test_what_could_not_leave_within_the_grace_is_skipped_as_late(world: World) -> None:
    world.reader()
    world.plan(SEND - DAY)
    world.story(SEND - timedelta(hours=1))
    world.ready(SEND)
    assert recover_batches(world.sessions, world.policy, SEND + world.policy.grace - SECOND).late == 0
    assert recover_batches(world.sessions, world.policy, SEND + world.policy.grace).late == 1
    assert world.states()[-1] == (TENTH, "skipped", "late")


def test_the_stories_of_a_late_brief_are_in_the_next_one(world: World) -> None:
    reader = world.reader()
    world.plan(SEND - DAY)
    missed = world.story(SEND - timedelta(hours=1))
    world.ready(SEND)
    recover_batches(world.sessions, world.policy, SEND + timedelta(hours=5))
    assert world.subscriber(reader).window_start_at == SEND - DAY - world.policy.lead
    world.turn(SEND + DAY)
    assert missed in world.provider.briefs()[-1].message.text
    assert world.subscriber(reader).window_start_at is None


def test_a_late_brief_keeps_a_window_that_reaches_further_back(world: World) -> None:
    reader = world.reader()
    world.plan(SEND - DAY)
    world.own_window(reader, SEND - 3 * DAY)
    world.story(SEND - timedelta(hours=1))
    world.ready(SEND)
    recover_batches(world.sessions, world.policy, SEND + timedelta(hours=5))
    assert world.subscriber(reader).window_start_at == SEND - 3 * DAY


def test_a_late_batch_may_still_go_on_the_operators_word(world: World) -> None:
    world.reader()
    world.plan(SEND - DAY)
    world.story(SEND - timedelta(hours=1))
    (batch_id,) = world.ready(SEND)
    now = SEND + timedelta(hours=5)
    recover_batches(world.sessions, world.policy, now)
    with world.sessions.begin() as session:
        assert retry_batch(session, batch_id, now, now + timedelta(hours=1))
    assert world.send(batch_id, now).sent == 1


def test_batches_that_were_never_lost_cannot_be_retried(world: World) -> None:
    world.reader()
    world.plan(SEND - DAY)
    world.story(SEND - timedelta(hours=1))
    (batch_id,) = world.ready(SEND)
    world.send(batch_id, SEND)
    first = world.batches()[0].id
    with world.sessions.begin() as session:
        assert not retry_batch(session, batch_id, SEND, SEND + DAY)
        assert not retry_batch(session, first, SEND, SEND + DAY)


def test_a_letter_whose_sender_died_is_unknown(world: World) -> None:
    world.ask(SEND)
    with world.sessions.begin() as session:
        session.execute(update(Letter).values(state=BatchState.SENDING, lease_until_at=SEND))
    recover_batches(world.sessions, world.policy, SEND + SECOND)
    with world.sessions() as session:
        assert session.get_one(Letter, 1).state is BatchState.UNKNOWN


def test_a_pause_ends_on_its_local_date(world: World) -> None:
    reader = world.reader(zone="Pacific/Auckland")
    pause(world.sessions, reader, TENTH, utc("2027-06-01T00:00"))
    midnight = utc("2027-06-09T12:00")
    assert recover_batches(world.sessions, world.policy, midnight - SECOND).resumed == 0
    assert recover_batches(world.sessions, world.policy, midnight).resumed == 1
    assert world.subscriber(reader).state is SubscriberState.ACTIVE


def test_a_pause_in_a_zone_the_data_does_not_know_holds_nobody_else_up(world: World) -> None:
    lost = world.reader("lost@example.com", "Mars/Olympus_Mons")
    other = world.reader("other@example.com")
    for reader in (lost, other):
        pause(world.sessions, reader, TENTH, utc("2027-06-01T00:00"))
    assert recover_batches(world.sessions, world.policy, SEND).resumed == 1
    assert world.subscriber(lost).state is SubscriberState.PAUSED


def test_after_a_clock_that_was_wrong_a_lease_does_not_hold_for_years(world: World) -> None:
    """A worker that claimed while the clock stood in 2029 and died then; the clock was set right again."""
    batch_id = claimed(world)
    with world.sessions.begin() as session:
        session.execute(update(Batch).where(Batch.id == batch_id).values(lease_until_at=utc("2029-01-01T00:15")))
    assert recover_batches(world.sessions, world.policy, SEND + timedelta(hours=1)).unknown == 1


def test_recovering_twice_changes_nothing(world: World) -> None:
    claimed(world)
    now = SEND + timedelta(hours=5)
    recover_batches(world.sessions, world.policy, now)
    before = world.states()
    again = recover_batches(world.sessions, world.policy, now)
    assert (again.unknown, again.late, again.resumed) == (0, 0, 0)
    assert world.states() == before
    with world.sessions() as session:
        assert [check.name for check in audit(session, now) if not check.ok] == []


def test_reasons_of_recovery_are_told_apart(world: World) -> None:
    claimed(world)
    recover_batches(world.sessions, world.policy, SEND + timedelta(hours=5))
    assert world.batches()[-1].reason is DeliveryReason.LEASE_EXPIRED


def test_a_retry_that_ran_out_is_a_doubt_again_and_no_story_comes_twice(world: World) -> None:
    batch_id = claimed(world)
    late = SEND + LEASE + SECOND
    recover_batches(world.sessions, world.policy, late)
    with world.sessions.begin() as session:
        assert retry_batch(session, batch_id, late, late + SECOND)
    recovered = recover_batches(world.sessions, world.policy, late + 2 * SECOND)
    assert (recovered.unknown, recovered.late) == (1, 0)
    assert (TENTH, "unknown", "answer_lost") in world.states()
    assert world.subscriber(1).window_start_at is None
