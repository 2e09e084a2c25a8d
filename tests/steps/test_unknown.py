"""Lost answers are settled by the provider's events, or by a silence that is telling; never by a guess."""

from datetime import date, datetime, timedelta

import pytest
from sqlalchemy import select

from digest.domain.delivery import BatchState
from digest.domain.event import EventKind, ProviderEvent
from digest.steps.record_events import record_events
from digest.steps.recover_batches import recover_batches
from digest.store.event_posts import add_post
from digest.store.ledger import retry_batch
from digest.store.open_work import close_open
from digest.store.sending import claim_batch
from digest.store.tables import EventPost
from tests.steps.world import World, utc

SEND = utc("2027-06-10T00:00")
TENTH = date(2027, 6, 10)
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
WELL = ("a@example.com", "b@example.com", "c@example.com")
LOST = "lost@example.com"


@pytest.fixture
def morning(shared_world: World) -> World:
    """Four readers in batches of one; three hand-overs went well, and of the third one's the answer was lost."""
    world = shared_world
    world.provider.batch_size = 1
    for address in (*WELL[:2], LOST, WELL[2]):
        world.reader(address)
    world.story(SEND - HOUR)
    world.provider.loses = {LOST}
    for number, batch_id in enumerate(world.ready(SEND)):
        world.send(batch_id, SEND + number * SECOND)
    assert world.states(LOST)[-1] == (TENTH, "unknown", "answer_lost")
    return world


def report(world: World, at: datetime, *addresses: str) -> None:
    """The provider tells of these readers' messages."""
    for address in addresses:
        reader = next(t.key for t in world.provider.briefs(address))
        event = ProviderEvent("recording", reader, EventKind.PROCESSED, at, recipient_key=reader)
        record_events(world.sessions, [event], at)


def settled(world: World, now: datetime) -> tuple[date, str, str | None]:
    recover_batches(world.sessions, world.policy, now)
    return world.states(LOST)[-1]


def test_what_the_provider_reports_is_sent_and_its_batch_closed(morning: World) -> None:
    report(morning, SEND + HOUR, LOST)
    assert settled(morning, SEND + HOUR) == (TENTH, "sent", None)
    assert {batch.state for batch in morning.batches() if batch.claimed_at} == {BatchState.SENT}


def test_what_it_is_silent_about_while_it_tells_of_all_around_was_never_taken_and_goes_out(morning: World) -> None:
    report(morning, SEND + HOUR + 10 * SECOND, *WELL)
    assert settled(morning, SEND + 2 * HOUR + 10 * SECOND) == (TENTH, "ready", None)
    morning.provider.loses = set()
    morning.turn(SEND + 2 * HOUR + 20 * SECOND)
    assert morning.states(LOST)[-1] == (TENTH, "sent", None)


def test_too_late_to_go_out_it_has_failed_and_its_stories_come_with_the_next(morning: World) -> None:
    report(morning, SEND + HOUR + 10 * SECOND, *WELL)
    assert settled(morning, SEND + 5 * HOUR) == (TENTH, "failed", "never_taken")
    reader = next(t.key for t in morning.provider.briefs(LOST)).partition("-")[0]
    assert morning.subscriber(int(reader)).window_start_at is not None


def test_an_event_that_comes_before_the_answer_is_known_to_be_lost_settles_it_all_the_same(shared_world: World) -> None:
    """A worker dies after the hand-over; the provider tells within seconds, and the lease ends much later."""
    world = shared_world
    reader = world.reader(LOST)
    world.story(SEND - HOUR)
    (batch_id,) = world.ready(SEND)
    with world.sessions.begin() as session:
        assert claim_batch(session, batch_id, SEND, world.policy.lease, "recording") is not None
    event = ProviderEvent("recording", "1", EventKind.PROCESSED, SEND, recipient_key=f"{reader}-20270610")
    record_events(world.sessions, [event], SEND + 2 * SECOND)
    assert settled(world, SEND + world.policy.lease + SECOND) == (TENTH, "sent", None)
    assert [batch.state for batch in world.batches() if batch.id == batch_id] == [BatchState.SENT]


def test_an_event_that_comes_after_the_operators_word_still_stops_the_second_message(morning: World) -> None:
    (entry,) = [entry for entry in morning.ledger(LOST) if entry.on == TENTH]
    with morning.sessions.begin() as session:
        assert retry_batch(session, entry.batch, SEND + HOUR, SEND + 5 * HOUR)
    report(morning, SEND + HOUR, LOST)
    morning.provider.loses = set()
    morning.turn(SEND + HOUR + SECOND)
    assert morning.states(LOST)[-1] == (TENTH, "sent", None)
    assert len(morning.provider.briefs(LOST)) == 1


@pytest.mark.parametrize("given_up", [False, True])
def test_a_post_that_nobody_has_read_may_be_the_one_that_tells(morning: World, *, given_up: bool) -> None:
    report(morning, SEND + HOUR + 10 * SECOND, *WELL)
    with morning.sessions.begin() as session:
        add_post(session, "recording", b"[]", SEND + 10 * SECOND)
        add_post(session, "another", b"[]", SEND + 10 * SECOND)
        post = session.scalars(select(EventPost).where(EventPost.provider == "recording")).one()
        if given_up:
            close_open(session, post, SEND + HOUR, "it could not be read")
    assert settled(morning, SEND + 3 * HOUR) == (TENTH, "unknown", "answer_lost")
    with morning.sessions.begin() as session:
        close_open(session, post, SEND + HOUR)
    assert settled(morning, SEND + 3 * HOUR) == (TENTH, "ready", None)


def test_reports_that_come_in_a_burst_after_an_outage_may_be_followed_by_the_missing_one(morning: World) -> None:
    """Ours was closed for two hours; the provider repeats its posts one by one, and a turn falls between two."""
    back_at = SEND + 2 * HOUR
    report(morning, back_at, *WELL)
    assert settled(morning, back_at + HOUR - SECOND) == (TENTH, "unknown", "answer_lost")
    report(morning, back_at + HOUR - SECOND, LOST)
    assert settled(morning, back_at + HOUR) == (TENTH, "sent", None)


@pytest.mark.parametrize(
    ("reported_at", "reported", "now"),
    [
        (SEND + HOUR + 10 * SECOND, WELL[:2], SEND + 2 * HOUR),
        (SEND + HOUR / 2, WELL, SEND + 2 * HOUR),
        (SEND + HOUR + 10 * SECOND, (), SEND + 2 * HOUR),
        (SEND + HOUR / 2, WELL, SEND + HOUR / 2),
    ],
    ids=["a-neighbour-is-not-reported", "no-event-since-it-settled", "no-event-at-all", "too-early-to-tell"],
)
def test_any_other_silence_tells_nothing(
    morning: World, reported_at: datetime, reported: tuple[str, ...], now: datetime
) -> None:
    report(morning, reported_at, *reported)
    assert settled(morning, now) == (TENTH, "unknown", "answer_lost")


def test_a_batch_of_which_anybody_is_reported_waits_for_the_others(shared_world: World) -> None:
    world = shared_world
    world.provider.batch_size = 2
    for address in (*WELL[:2], LOST, "told@example.com"):
        world.reader(address)
    world.story(SEND - HOUR)
    world.provider.loses = {LOST, "told@example.com"}
    for batch_id in world.ready(SEND):
        world.send(batch_id, SEND)
    report(world, SEND + 2 * HOUR, *WELL[:2], "told@example.com")
    assert settled(world, SEND + 2 * HOUR) == (TENTH, "unknown", "answer_lost")
    assert world.states("told@example.com")[-1] == (TENTH, "sent", None)


def test_a_reader_who_was_refused_in_an_answer_that_came_says_nothing_of_the_others_in_the_batch(
    shared_world: World,
) -> None:
    """The one is refused by name, the others are given once more, and of that try the answer is lost."""
    world = shared_world
    world.provider.batch_size = 2
    for address in (*WELL[:2], LOST, "refused@example.com"):
        world.reader(address)
    world.story(SEND - HOUR)
    world.provider.loses, world.provider.refuses = {LOST}, {"refused@example.com"}
    for batch_id in world.ready(SEND):
        world.send(batch_id, SEND)
    report(world, SEND + HOUR + 10 * SECOND, *WELL[:2])
    assert settled(world, SEND + 2 * HOUR + 10 * SECOND) == (TENTH, "ready", None)
    assert world.states("refused@example.com")[-1] == (TENTH, "failed", "refused")


def test_one_lost_answer_among_many_is_a_batch_of_its_own_that_can_be_retried(shared_world: World) -> None:
    world = shared_world
    for address in (*WELL, LOST):
        world.reader(address)
    world.story(SEND - HOUR)
    world.provider.loses = {LOST}
    (batch_id,) = world.ready(SEND)
    world.send(batch_id, SEND)
    (apart,) = [batch for batch in world.batches() if batch.state is BatchState.UNKNOWN]
    world.provider.loses = set()
    with world.sessions.begin() as session:
        assert retry_batch(session, apart.id, SEND + HOUR, SEND + 5 * HOUR)
    world.turn(SEND + HOUR)
    assert world.states(LOST)[-1] == (TENTH, "sent", None)
    assert [len(world.provider.briefs(address)) for address in WELL] == [1, 1, 1]


def test_a_zone_without_rules_is_skipped_with_its_reason_and_the_rest_go_on(shared_world: World) -> None:
    world = shared_world
    world.reader("there@example.com", "Etc/UTC")
    reader = world.reader("nowhere@example.com", "Mars/Phobos")
    world.story(utc("2027-06-10T07:00"))
    turn = world.turn(utc("2027-06-10T08:00"))
    assert turn.unknown_zones == ["Mars/Phobos"]
    assert world.states("there@example.com")[-1] == (TENTH, "sent", None)
    assert world.states("nowhere@example.com")[-1] == (TENTH, "skipped", "unknown_timezone")
    assert world.subscriber(reader).window_start_at is not None
    world.turn(utc("2027-06-10T08:01"))
    assert [on for on, _, _ in world.states("nowhere@example.com")].count(TENTH) == 1
