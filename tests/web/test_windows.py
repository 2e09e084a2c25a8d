"""What comes in is counted quota by quota, alike in Redis and in this process."""

import pytest
from limits import parse_many
from limits.errors import StorageError
from limits.storage import MemoryStorage, storage_from_string
from limits.strategies import SlidingWindowCounterRateLimiter

from digest.web.windows import Quota, Windows, windows_in

NETWORK = Quota("network", "one household", parse_many("2/minute;3/hour"))
OVERALL = Quota("overall", "all", parse_many("5/hour"))


@pytest.fixture(params=["memory", "redis"])
def windows(request: pytest.FixtureRequest) -> Windows:
    if request.param == "memory":
        return windows_in(MemoryStorage())
    return windows_in(storage_from_string(request.getfixturevalue("redis_url")))


def over(windows: Windows, *quotas: Quota) -> list[str]:
    return [str(limit) for limit in windows.used_up(quotas)]


def test_each_limit_of_a_quota_is_counted_and_those_that_are_over_are_named(windows: Windows) -> None:
    assert [over(windows, NETWORK) for _ in range(4)] == [
        [],
        [],
        ["2 per 1 minute"],
        ["2 per 1 minute", "3 per 1 hour"],
    ]


def test_a_quota_that_is_used_up_takes_nothing_from_those_after_it(windows: Windows) -> None:
    assert [bool(over(windows, NETWORK, OVERALL)) for _ in range(9)] == [False] * 2 + [True] * 7
    assert [over(windows, OVERALL) for _ in range(4)] == [[], [], [], ["5 per 1 hour"]]


def test_each_key_has_windows_of_its_own(windows: Windows) -> None:
    assert [over(windows, NETWORK) for _ in range(2)] == [[], []]
    assert over(windows, NETWORK._replace(key="another")) == []
    assert over(windows, NETWORK) == ["2 per 1 minute"]


def test_a_redis_that_forgot_the_script_is_told_it_again(redis_url: str) -> None:
    storage = storage_from_string(redis_url)
    windows = windows_in(storage)
    assert [over(windows, NETWORK) for _ in range(2)] == [[], []]
    storage.storage.script_flush()
    assert over(windows, NETWORK) == ["2 per 1 minute"]


def test_a_process_that_counts_by_the_library_alone_counts_along(redis_url: str) -> None:
    storage = storage_from_string(redis_url)
    counter, (limit, _) = SlidingWindowCounterRateLimiter(storage), NETWORK.limits
    assert [counter.hit(limit, NETWORK.name, NETWORK.key) for _ in range(2)] == [True, True]
    assert over(windows_in(storage), NETWORK) == ["2 per 1 minute"]


def test_a_redis_that_cannot_count_says_so_and_not_that_there_is_room(redis_url: str) -> None:
    storage = storage_from_string(redis_url)
    limit = NETWORK.limits[0]
    storage.storage.rpush(storage.prefixed_key(f"{{{limit.key_for(NETWORK.name, NETWORK.key)}}}"), "no number")
    with pytest.raises(StorageError):
        windows_in(storage).used_up([NETWORK])


def test_what_one_process_counted_another_sees_however_it_counts(redis_url: str) -> None:
    here, there = (windows_in(storage_from_string(redis_url)) for _ in range(2))
    assert [over(here, NETWORK), over(there, NETWORK), over(here, NETWORK)] == [[], [], ["2 per 1 minute"]]


def test_a_redis_that_is_away_is_said_so(unused_port: int) -> None:
    away = windows_in(storage_from_string(f"redis://127.0.0.1:{unused_port}/0"))
    with pytest.raises(StorageError):
        away.used_up([NETWORK])
