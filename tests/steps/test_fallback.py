"""A second provider takes over through the ledger: whole claims, named in the batch, nobody twice."""

from collections import Counter
from datetime import timedelta

import pytest

from digest.domain.delivery import BatchState
from digest.providers.fallback import Fallback
from digest.steps.send_batches import send_batch
from tests.steps.recording import RecordingProvider
from tests.steps.world import World, utc

SEND = utc("2027-06-10T00:00")
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture
def carriers() -> tuple[RecordingProvider, RecordingProvider]:
    return RecordingProvider("first"), RecordingProvider("second")


def carried(world: World) -> list[tuple[BatchState, str]]:
    """State and carrier of the batches of this morning; earlier ones were missed."""
    return [(batch.state, batch.provider) for batch in world.batches() if batch.state is not BatchState.SKIPPED]


def send(world: World, both: Fallback, at_minute: int) -> None:
    for batch in world.batches():
        if batch.state is BatchState.READY:
            now = SEND + at_minute * MINUTE
            send_batch(world.sessions, both.in_charge(), world.press.links, world.policy, batch.id, now)


def test_what_the_first_did_not_take_goes_by_the_second_and_the_batch_says_so(
    shared_world: World, carriers: tuple[RecordingProvider, RecordingProvider]
) -> None:
    world, (first, second) = shared_world, carriers
    for number in range(3):
        world.reader(f"reader{number}@example.com")
    world.story(SEND - HOUR)
    world.ready(SEND)
    both = Fallback(first, second)
    first.alarm = "535 refused"
    send(world, both, 0)
    assert carried(world) == [(BatchState.READY, "first")]
    send(world, both, 1)
    assert carried(world) == [(BatchState.SENT, "second")]
    assert (len(first.taken), len(second.taken)) == (0, 3)


def test_a_batch_cut_for_the_first_goes_by_the_second_in_as_many_as_it_takes(
    shared_world: World, carriers: tuple[RecordingProvider, RecordingProvider]
) -> None:
    world, (first, second) = shared_world, carriers
    everyone = [f"reader{number}@example.com" for number in range(7)]
    for address in everyone:
        world.reader(address)
    world.story(SEND - HOUR)
    world.ready(SEND)
    both = Fallback(first, second)
    first.alarm, second.batch_size = "535 refused", 3
    second.loses = {everyone[0]}
    for minute in range(3):
        send(world, both, minute)
    assert Counter(taken.address for taken in second.taken) == dict.fromkeys(everyone, 1)
    assert second.calls == 3
    assert [state for _, state, _ in world.states() if state != "skipped"].count("unknown") == 1
    assert sorted(batch.attempts for batch in world.batches() if batch.state is BatchState.SENT) == [1, 1, 1]


def test_a_lost_answer_of_the_first_is_never_given_to_the_second(
    shared_world: World, carriers: tuple[RecordingProvider, RecordingProvider]
) -> None:
    world, (first, second) = shared_world, carriers
    everyone = [f"reader{number}@example.com" for number in range(4)]
    for address in everyone:
        world.reader(address)
    world.story(SEND - HOUR)
    world.ready(SEND)
    both = Fallback(first, second)
    first.loses, first.busy = {everyone[0]}, set(everyone[1:])
    send(world, both, 0)
    first.busy, first.alarm = set(), "535 refused"
    for minute in (5, 10, 15):
        send(world, both, minute)
    counts = Counter(taken.address for taken in first.taken + second.taken)
    assert counts == dict.fromkeys(everyone, 1)
    assert {taken.address for taken in second.taken} == set(everyone[1:])
    assert sorted(state for _, state, _ in world.states() if state != "skipped") == ["sent", "sent", "sent", "unknown"]
