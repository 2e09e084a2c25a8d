"""Sliding windows that count what comes in against several quotas at a time: with one trip to Redis, or in this
process.
"""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple, Protocol

from limits import RateLimitItem
from limits.errors import StorageError
from limits.storage import RedisStorage, Storage
from limits.strategies import SlidingWindowCounterRateLimiter

COUNT_IN_TURN = (
    b"local function acquire(KEYS, ARGV)\n"
    + RedisStorage.SCRIPT_ACQUIRE_SLIDING_WINDOW
    + b"""
end
local over, quota = {}, nil
for index = 0, #KEYS / 2 - 1 do
    if quota and ARGV[3 * index + 1] ~= quota then
        break
    end
    local windows = {KEYS[2 * index + 1], KEYS[2 * index + 2]}
    if not acquire(windows, {ARGV[3 * index + 2], ARGV[3 * index + 3], 1}) then
        over[#over + 1] = index
        quota = ARGV[3 * index + 1]
    end
end
return over
"""
)
"""The library's own count, for one limit after the other up to the end of the first quota that is used up."""


class Quota(NamedTuple):
    """Limits that hold together for one key, such as so many a minute and so many an hour of one network."""

    name: str
    key: str
    limits: Sequence[RateLimitItem]


class Windows(Protocol):
    """Where is counted."""

    def used_up(self, quotas: Sequence[Quota]) -> Sequence[RateLimitItem]:
        """Count one more in each quota, in their order; those after one that is used up are left as they are.

        Returns:
            what was over of the first quota that is used up; nothing where all had room.

        Raises:
            StorageError: nothing could be counted.
        """


def windows_in(storage: Storage) -> Windows:
    """Windows that are kept in ``storage``."""
    return _InRedis(storage) if isinstance(storage, RedisStorage) else _OneByOne(storage)


class _OneByOne:
    def __init__(self, storage: Storage) -> None:
        self._counter = SlidingWindowCounterRateLimiter(storage)

    def used_up(self, quotas: Sequence[Quota]) -> Sequence[RateLimitItem]:
        for name, key, limits in quotas:
            if over := [limit for limit in limits if not self._counter.hit(limit, name, key)]:
                return over
        return ()


class _InRedis:
    def __init__(self, storage: RedisStorage) -> None:
        self._storage, self._script = storage, storage.get_connection().register_script(COUNT_IN_TURN)

    def used_up(self, quotas: Sequence[Quota]) -> Sequence[RateLimitItem]:
        counts = [(number, quota, limit) for number, quota in enumerate(quotas) for limit in quota.limits]
        keys = chain.from_iterable(self._keys(limit, quota) for _, quota, limit in counts)
        values = chain.from_iterable((number, limit.amount, limit.get_expiry()) for number, _, limit in counts)
        try:
            over = self._script([*keys], [*values])
        except self._storage.base_exceptions as error:
            raise StorageError(error) from error
        return [counts[int(index)][-1] for index in over]

    def _keys(self, limit: RateLimitItem, quota: Quota) -> tuple[str, str]:
        # Named as the library names them, so that processes of different versions count together.
        current = f"{{{limit.key_for(quota.name, quota.key)}}}"
        return self._storage.prefixed_key(f"{current}/-1"), self._storage.prefixed_key(current)
