"""Ceilings: shared by all workers, fair to other domains, never at the cost of a letter or of readers not taken."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import pytest

from digest.domain.ceilings import parse_ceilings
from digest.ports import Message, Recipient
from digest.providers.ceilings import Ceilings, PacedProvider, shared_counters
from tests.servers import free_port
from tests.steps.recording import RecordingProvider

Readers = Callable[..., list[Recipient]]


@pytest.fixture(params=["memory", "redis"])
def broker(request: pytest.FixtureRequest) -> str:
    return "memory://" if request.param == "memory" else str(request.getfixturevalue("redis_url"))


@pytest.fixture
def carrier() -> RecordingProvider:
    return RecordingProvider(batch_size=1000)


@pytest.fixture
def paced(broker: str, carrier: RecordingProvider) -> Callable[[str], PacedProvider]:
    return lambda text: PacedProvider(carrier, Ceilings(parse_ceilings(text), shared_counters(broker)))


def test_above_the_ceiling_readers_wait_and_the_reason_is_told(
    paced: Callable[[str], PacedProvider], message: Message, readers: Readers, now: datetime
) -> None:
    given = paced("30/day").hand_over(message, readers(50), now)
    assert (len(given.accepted), len(given.again)) == (30, 20)
    assert given.delayed == "ceiling 30/day"
    assert given.after_seconds == 300


def test_the_second_batch_finds_the_ceiling_used_up(
    paced: Callable[[str], PacedProvider], carrier: RecordingProvider, message: Message, readers: Readers, now: datetime
) -> None:
    provider = paced("30/day")
    provider.hand_over(message, readers(30), now)
    assert len(provider.hand_over(message, readers(5), now).again) == 5
    assert carrier.calls == 1


def test_one_receivers_ceiling_holds_nobody_elses_readers(
    paced: Callable[[str], PacedProvider], message: Message, readers: Readers, now: datetime
) -> None:
    everyone = readers(20, *(f"r{number}@QQ.com" for number in range(9)))
    given = paced("qq.com=4/hour, 25/hour").hand_over(message, everyone, now)
    assert (len(given.accepted), len(given.again)) == (24, 5)
    assert given.delayed == "ceiling qq.com=4/hour"


def test_room_under_a_narrow_ceiling_is_given_back_where_a_wide_one_holds(
    paced: Callable[[str], PacedProvider], message: Message, readers: Readers, now: datetime
) -> None:
    provider = paced("qq.com=5/day, 10/hour")
    first = provider.hand_over(message, readers(10, "one@qq.com"), now)
    assert (len(first.accepted), first.delayed) == (10, "ceiling 10/hour")
    assert provider._ceilings.take(parse_ceilings("qq.com=5/day")[0], 9) == 5  # noqa: SLF001 - what is left


def test_who_was_not_taken_is_given_back_and_the_try_counts_as_one(
    paced: Callable[[str], PacedProvider], carrier: RecordingProvider, message: Message, readers: Readers, now: datetime
) -> None:
    provider, everyone = paced("30/day"), readers(30)
    carrier.busy = {one.address for one in everyone}
    given = provider.hand_over(message, everyone, now)
    assert (len(given.again), given.delayed) == (30, "")
    carrier.busy = set()
    assert len(provider.hand_over(message, everyone, now).accepted) == 30


def test_a_letter_is_counted_and_never_waits(
    paced: Callable[[str], PacedProvider], message: Message, readers: Readers, now: datetime
) -> None:
    provider = paced("2/day")
    letter = replace(message, kind="confirm")
    for number in range(3):
        assert provider.hand_over(letter, readers(0, f"r{number}@example.org"), now).accepted
    assert provider.hand_over(message, readers(1), now).again


def test_workers_share_a_ceiling_through_redis(
    redis_url: str, message: Message, readers: Readers, now: datetime
) -> None:
    workers = [
        PacedProvider(
            RecordingProvider(batch_size=1000), Ceilings(parse_ceilings("10/day"), shared_counters(redis_url))
        )
        for _ in range(3)
    ]
    given = [worker.hand_over(message, readers(7), now) for worker in workers]
    assert [len(one.accepted) for one in given] == [7, 3, 0]


def test_without_redis_each_process_counts_for_itself_and_mail_still_leaves(
    carrier: RecordingProvider, message: Message, readers: Readers, now: datetime
) -> None:
    gone = shared_counters(f"redis://127.0.0.1:{free_port()}/0")
    given = PacedProvider(carrier, Ceilings(parse_ceilings("10/day"), gone)).hand_over(message, readers(12), now)
    assert (len(given.accepted), len(given.again)) == (10, 2)


def test_what_is_given_back_can_be_taken_again(broker: str) -> None:
    ceilings = Ceilings(parse_ceilings("5/day"), shared_counters(broker))
    (day,) = ceilings.ceilings
    assert ceilings.take(day, 9) == 5
    ceilings.give_back(day, 2)
    assert ceilings.take(day, 9) == 2
