"""A batch is handed over once, to those who still want it, and each outcome is one of few."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from threading import Barrier

import pytest
from sqlalchemy import update

from digest.domain.delivery import BatchState
from digest.domain.suppression import SuppressionReason
from digest.steps.manage_subscriptions import pause, unsubscribe
from digest.steps.send_batches import MOST_ATTEMPTS, Sent
from digest.store.sending import set_paused, take_batches
from digest.store.subscribers import suppress
from digest.store.tables import Batch
from tests.steps.world import World, utc

SEND = utc("2027-06-10T00:00")
TENTH = date(2027, 6, 10)
SECOND = timedelta(seconds=1)


def ready(world: World, *addresses: str) -> int:
    """A batch for these readers that is ready; returns its id."""
    for address in addresses or ("reader@example.com",):
        world.reader(address)
    world.plan(SEND - timedelta(days=1))
    world.story(SEND - timedelta(hours=1))
    (batch_id,) = world.ready(SEND)
    return batch_id


def batch(world: World) -> Batch:
    return world.batches()[-1]


def test_not_a_second_before_the_instant(world: World) -> None:
    batch_id = ready(world)
    assert world.send(batch_id, SEND - SECOND) == Sent()
    assert world.provider.calls == 0
    assert world.send(batch_id, SEND).sent == 1


def test_each_reader_gets_one_and_the_batch_is_sent(world: World) -> None:
    batch_id = ready(world, "a@example.com", "b@example.com")
    assert world.send(batch_id, SEND).sent == 2
    assert world.sent("a@example.com") == [(SEND, TENTH)]
    found = batch(world)
    assert (found.state, found.sent_at, found.lease_until_at) == (BatchState.SENT, SEND, None)
    assert (found.provider, found.receipt) == ("recording", "receipt-1")


def test_a_second_worker_returns_quietly(world: World) -> None:
    batch_id = ready(world)
    world.send(batch_id, SEND)
    assert world.send(batch_id, SEND + SECOND) == Sent()
    assert world.provider.calls == 1


def test_while_one_worker_sends_another_gets_nothing(world: World) -> None:
    batch_id = ready(world)
    world.provider.meanwhile = lambda: results.append(world.send(batch_id, SEND))
    results: list[Sent] = []
    world.send(batch_id, SEND)
    assert results == [Sent()]
    assert len(world.provider.briefs()) == 1


def test_of_workers_at_the_same_moment_one_sends(shared_world: World) -> None:
    world = shared_world
    batch_id = ready(world, *(f"r{number}@example.com" for number in range(20)))
    start = Barrier(6)

    def send() -> Sent:
        start.wait(10)
        return world.send(batch_id, SEND)

    with ThreadPoolExecutor(6) as pool:
        done = [future.result(30) for future in [pool.submit(send) for _ in range(6)]]
    assert sorted(sent.sent for sent in done) == [0, 0, 0, 0, 0, 20]
    assert len(world.provider.briefs()) == 20


def test_the_switch_stops_every_hand_over_and_lets_go_again(world: World) -> None:
    batch_id = ready(world)
    with world.sessions.begin() as session:
        set_paused(session, paused=True, now=SEND)
        assert take_batches(session, SEND, timedelta(0), 10) == []
    assert world.send(batch_id, SEND) == Sent()
    with world.sessions.begin() as session:
        set_paused(session, paused=False, now=SEND)
    with world.sessions.begin() as session:
        assert take_batches(session, SEND, timedelta(0), 10) == [batch_id]
    assert world.send(batch_id, SEND).sent == 1


def test_a_batch_past_its_grace_is_not_handed_over(world: World) -> None:
    batch_id = ready(world)
    assert world.send(batch_id, SEND + world.policy.grace) == Sent()


def test_whoever_left_between_planning_and_sending_gets_nothing(world: World) -> None:
    gone = world.reader("gone@example.com")
    batch_id = ready(world, "stays@example.com")
    unsubscribe(world.sessions, gone, SEND - SECOND)
    sent = world.send(batch_id, SEND)
    assert (sent.sent, sent.skipped) == (1, {"unsubscribed": 1})
    assert world.states("gone@example.com")[-1] == (TENTH, "skipped", "unsubscribed")
    assert world.sent("gone@example.com") == []


def test_whoever_paused_or_is_barred_gets_nothing(world: World) -> None:
    paused = world.reader("paused@example.com")
    world.reader("barred@example.com")
    batch_id = ready(world, "stays@example.com")
    pause(world.sessions, paused, date(2027, 7, 1), SEND)
    with world.sessions.begin() as session:
        suppress(session, "Barred@Example.com", SuppressionReason.BOUNCED, SEND)
    sent = world.send(batch_id, SEND)
    assert sent.skipped == {"paused": 1, "suppressed": 1}
    assert {t.address for t in world.provider.briefs()} == {"stays@example.com"}


def test_a_batch_whose_readers_all_left_calls_nobody(world: World) -> None:
    gone = world.reader("gone@example.com")
    world.plan(SEND - timedelta(days=1))
    world.story(SEND - timedelta(hours=1))
    (batch_id,) = world.ready(SEND)
    unsubscribe(world.sessions, gone, SEND - SECOND)
    world.send(batch_id, SEND)
    assert world.provider.calls == 0
    assert world.states()[-1] == (TENTH, "skipped", "unsubscribed")


def test_a_refused_reader_does_not_stop_the_batch(world: World) -> None:
    batch_id = ready(world, "a@example.com", "bad@example.com", "c@example.com")
    world.provider.refuses = {"bad@example.com"}
    sent = world.send(batch_id, SEND)
    assert (sent.sent, sent.failed) == (2, 1)
    assert world.states("bad@example.com")[-1] == (TENTH, "failed", "refused")
    assert world.states("c@example.com")[-1] == (TENTH, "sent", None)


def test_what_was_not_taken_is_tried_again_and_nobody_twice(world: World) -> None:
    batch_id = ready(world, "a@example.com", "busy@example.com")
    world.provider.busy = {"busy@example.com"}
    assert world.send(batch_id, SEND).again == 1
    assert world.states("a@example.com")[-1] == (TENTH, "sent", None)
    found = batch(world)
    assert (found.state, found.nudged_at) == (BatchState.READY, None)
    assert SEND + timedelta(seconds=15) <= found.not_before_at <= SEND + timedelta(seconds=18)
    world.provider.busy = set()
    assert world.send(batch_id, SEND + timedelta(seconds=14)) == Sent()
    assert world.send(batch_id, found.not_before_at).sent == 1
    assert [t.address for t in world.provider.briefs()] == ["a@example.com", "busy@example.com"]


def test_the_waits_grow_and_end(world: World) -> None:
    batch_id = ready(world)
    world.provider.busy = {"reader@example.com"}
    now, waits = SEND, []
    for _ in range(MOST_ATTEMPTS):
        world.send(batch_id, now)
        waits.append((batch(world).not_before_at - now).total_seconds())
        now = max(now + SECOND, batch(world).not_before_at)
    for wait, least in zip(waits[:-1], [15, 30, 60, 120, 240, 480, 900], strict=True):
        assert least <= wait <= 1.2 * least
    assert world.states()[-1] == (TENTH, "failed", "tried_out")
    assert world.send(batch_id, now) == Sent()


def test_the_provider_says_how_long_to_wait(world: World) -> None:
    batch_id = ready(world)
    world.provider.busy, world.provider.after_seconds = {"reader@example.com"}, 77
    world.send(batch_id, SEND)
    assert batch(world).not_before_at == SEND + timedelta(seconds=77)


def test_a_wait_that_was_no_try_is_not_counted_as_one(world: World) -> None:
    batch_id = ready(world)
    world.provider.busy, world.provider.after_seconds = {"reader@example.com"}, 60
    world.provider.delayed = "qq.com: 20 per 1 minute"
    for number in range(MOST_ATTEMPTS + 4):
        sent = world.send(batch_id, SEND + timedelta(minutes=number))
        assert (sent.again, sent.delayed) == (1, "qq.com: 20 per 1 minute")
    assert batch(world).detail == "qq.com: 20 per 1 minute"
    world.provider.busy = set()
    assert world.send(batch_id, SEND + timedelta(minutes=MOST_ATTEMPTS + 4)).sent == 1


def test_a_wait_that_others_were_asked_for_uses_up_no_attempt_and_makes_no_pause_longer(world: World) -> None:
    batch_id = ready(world, "a@example.com")
    world.provider.busy, world.provider.delayed, world.provider.after_seconds = {"a@example.com"}, "asked to wait", 1
    for number in range(MOST_ATTEMPTS):
        world.send(batch_id, SEND + timedelta(minutes=number))
    world.provider.delayed, world.provider.after_seconds = "", None
    now = SEND + timedelta(minutes=MOST_ATTEMPTS)
    assert world.send(batch_id, now).again == 1
    assert batch(world).not_before_at <= now + timedelta(seconds=20)
    assert batch(world).detail == ""


def test_batches_that_failed_together_do_not_come_back_together(world: World) -> None:
    world.provider.batch_size = 1
    world.reader("a@example.com")
    world.reader("b@example.com")
    world.story(SEND - timedelta(hours=1))
    world.provider.busy = {"a@example.com", "b@example.com"}
    ids = world.ready(SEND)
    assert [world.send(each, SEND).again for each in ids] == [1, 1]
    assert len({one.not_before_at for one in world.batches() if one.id in ids}) == 2


def test_a_lost_answer_is_unknown_and_never_sent_again(world: World) -> None:
    batch_id = ready(world)
    world.provider.loses = {"reader@example.com"}
    assert world.send(batch_id, SEND).unknown == 1
    assert world.states()[-1] == (TENTH, "unknown", "answer_lost")
    world.turns(SEND, SEND + timedelta(hours=5), timedelta(minutes=20))
    assert len(world.provider.briefs()) == 1


def test_a_lost_answer_for_one_leaves_the_others_sent(world: World) -> None:
    batch_id = ready(world, "a@example.com", "lost@example.com")
    world.provider.loses = {"lost@example.com"}
    world.send(batch_id, SEND)
    assert world.states("a@example.com")[-1] == (TENTH, "sent", None)
    assert world.states("lost@example.com")[-1] == (TENTH, "unknown", "answer_lost")
    assert [each.state for each in world.batches() if each.id == batch_id] == [BatchState.SENT]


def test_lost_busy_and_taken_in_one_answer_each_keep_their_own(world: World) -> None:
    batch_id = ready(world, "busy@example.com", "lost@example.com", "taken@example.com", "refused@example.com")
    world.provider.busy, world.provider.loses = {"busy@example.com"}, {"lost@example.com"}
    world.provider.refuses = {"refused@example.com"}
    world.send(batch_id, SEND)
    world.provider.busy = set()
    world.send(batch_id, SEND + timedelta(minutes=1))
    assert [t.address for t in world.provider.briefs()] == ["lost@example.com", "taken@example.com", "busy@example.com"]
    assert [status for _, status, _ in world.states()][-4:] == ["sent", "unknown", "failed", "sent"]


def test_an_older_claim_cannot_overwrite_a_newer_one(world: World) -> None:
    batch_id = ready(world)

    def somebody_else() -> None:
        with world.sessions.begin() as session:
            session.execute(update(Batch).where(Batch.id == batch_id).values(attempts=Batch.attempts + 1))

    world.provider.meanwhile = somebody_else
    world.send(batch_id, SEND)
    assert (batch(world).state, batch(world).attempts) == (BatchState.SENDING, 2)


def test_an_alarm_pauses_the_sending_and_keeps_the_batch(world: World) -> None:
    batch_id = ready(world)
    world.provider.alarm = "401: the key was refused"
    assert world.send(batch_id, SEND).alarm == "401: the key was refused"
    found = batch(world)
    assert (found.state, found.detail) == (BatchState.READY, "401: the key was refused")
    world.provider.alarm = ""
    assert world.send(batch_id, SEND + timedelta(minutes=5)) == Sent()


def test_an_alarm_never_uses_up_the_tries(world: World) -> None:
    batch_id = ready(world)
    world.provider.alarm = "401"
    with world.sessions.begin() as session:
        session.execute(update(Batch).where(Batch.id == batch_id).values(attempts=MOST_ATTEMPTS + 3))
    world.send(batch_id, SEND)
    assert batch(world).state is BatchState.READY


def test_an_unsubscription_committed_before_the_claim_stops_the_message(world: World) -> None:
    """UNS-14: what is committed before the hand-over counts, also when the batch was ready long before."""
    gone = world.reader("gone@example.com")
    batch_id = ready(world, "first@example.com")
    with world.sessions.begin() as session:
        assert take_batches(session, SEND, timedelta(0), 10) == [batch_id]
    unsubscribe(world.sessions, gone, SEND)
    world.send(batch_id, SEND + SECOND)
    assert [t.address for t in world.provider.briefs()] == ["first@example.com"]


def test_the_window_of_a_readers_own_is_let_go_once_they_have_the_brief(world: World) -> None:
    reader = world.reader()
    world.plan(SEND - timedelta(days=1))
    world.own_window(reader, SEND - timedelta(days=3))
    world.story(SEND - timedelta(days=2))
    batch_id = world.ready(SEND)[-1]
    assert world.subscriber(reader).window_start_at is not None
    world.send(batch_id, SEND)
    assert world.subscriber(reader).window_start_at is None


def test_the_window_of_a_readers_own_stays_while_they_have_nothing(world: World) -> None:
    reader = world.reader()
    world.plan(SEND - timedelta(days=1))
    world.own_window(reader, SEND - timedelta(days=3))
    world.ready(SEND)
    assert world.states()[-1] == (TENTH, "skipped", "nothing_new")
    assert world.subscriber(reader).window_start_at == SEND - timedelta(days=3)


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/Los_Angeles"])
def test_slots_carry_what_differs_per_reader(world: World, zone: str) -> None:
    since = utc("2027-01-02T03:00")
    reader = world.reader(zone=zone, since=since)
    world.story(utc("2027-06-09T12:00"))
    world.turns(utc("2027-06-09T14:50"), utc("2027-06-10T16:00"), timedelta(minutes=10))
    values = world.provider.briefs()[-1].recipient.values
    assert values["subscribed_on"] == {"Asia/Shanghai": "2 January 2027"}.get(zone, "1 January 2027")
    assert values["unsubscribe_url"] == world.press.links.unsubscribe(reader)
    assert values["preferences_url"] == world.press.links.preferences(reader)
