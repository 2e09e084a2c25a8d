"""Mail at the pace the operator set: ceilings that all workers share, in front of any provider."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

import structlog
from limits import RateLimitItemPerSecond
from limits.errors import StorageError
from limits.storage import MemoryStorage, RedisStorage, Storage
from limits.strategies import FixedWindowRateLimiter
from redis import ConnectionPool

from digest.domain.ceilings import Ceiling
from digest.ports import HandOver, Message, Provider, Recipient

NAMESPACE = "digest-ceiling"
SOCKET_SECONDS = 3.0
ALL = "all"

log = structlog.get_logger()


def shared_counters(broker_url: str) -> Storage:
    """Where ceilings are counted: the broker's Redis, or this process where the broker lies in it."""
    if broker_url.startswith("memory:"):
        return MemoryStorage()
    pool = ConnectionPool.from_url(broker_url, socket_timeout=SOCKET_SECONDS, socket_connect_timeout=SOCKET_SECONDS)
    return RedisStorage(broker_url, connection_pool=pool, wrap_exceptions=True)


class Ceilings:
    """Counts readers against ceilings; in windows that begin with the first reader of each.

    Args:
        ceilings: what holds.
        counters: where they are counted. While these can't be reached each process counts for itself.
    """

    def __init__(self, ceilings: Sequence[Ceiling], counters: Storage) -> None:
        self.ceilings = tuple(ceilings)
        self._shared, self._own = FixedWindowRateLimiter(counters), FixedWindowRateLimiter(MemoryStorage())

    def take(self, ceiling: Ceiling, wanted: int) -> int:
        """How many of ``wanted`` may go; they are counted."""
        try:
            return self._take(self._shared, ceiling, wanted)
        except StorageError as error:
            log.warning("ceilings_not_shared", why=type(error).__name__)
            return self._take(self._own, ceiling, wanted)

    def give_back(self, ceiling: Ceiling, unused: int) -> None:
        """So many were counted and did not go."""
        item, name = _item(ceiling)
        with suppress(StorageError):
            self._shared.storage.incr(item.key_for(name), item.get_expiry(), amount=-unused)

    @staticmethod
    def _take(limiter: FixedWindowRateLimiter, ceiling: Ceiling, wanted: int) -> int:
        item, name = _item(ceiling)
        room = min(wanted, max(0, limiter.get_window_stats(item, name).remaining))
        # Another worker may take some of the room in between; then a half is asked for, and so on.
        while room > 0 and not limiter.hit(item, name, cost=room):
            room //= 2
        return room


def _item(ceiling: Ceiling) -> tuple[RateLimitItemPerSecond, str]:
    return RateLimitItemPerSecond(ceiling.count, ceiling.seconds, namespace=NAMESPACE), ceiling.domain or ALL


@dataclass
class _Admission:
    """Who may go now, and what the others wait for."""

    going: list[Recipient]
    held: list[Recipient] = field(default_factory=list)
    counted: dict[Ceiling, list[Recipient]] = field(default_factory=dict)
    why: str = ""
    wait_seconds: float = 0.0


class PacedProvider:
    """Any provider, with ceilings before it. Whoever is above one is *again*, with a wait and the reason.

    Letters are counted and never wait: a person does. Who was counted and not taken is given back.

    Args:
        provider: carries the mail.
        ceilings: what holds for it.
    """

    def __init__(self, provider: Provider, ceilings: Ceilings) -> None:
        self._provider, self._ceilings = provider, ceilings
        self.name, self.batch_size = provider.name, provider.batch_size

    def hand_over(self, message: Message, recipients: Sequence[Recipient], now: datetime) -> HandOver:
        """Give the message to as many as may have it now; see :class:`digest.ports.Provider`."""
        if message.kind != "brief":
            for ceiling in self._ceilings.ceilings:
                self._ceilings.take(ceiling, len(_concerned(ceiling, recipients)))
            return self._provider.hand_over(message, recipients, now)
        admission = self._admit(recipients)
        given = self._provider.hand_over(message, admission.going, now) if admission.going else HandOver()
        for ceiling, counted in admission.counted.items():
            if unused := sum(one.key in given.again for one in counted):
                self._ceilings.give_back(ceiling, unused)
        return _with_held(given, admission)

    def close(self) -> None:
        """Let go of connections."""
        self._provider.close()

    def _admit(self, recipients: Sequence[Recipient]) -> _Admission:
        """The narrow ceilings first, so that what they hold back takes no room under the wide ones."""
        admission = _Admission(list(recipients))
        for ceiling in sorted(self._ceilings.ceilings, key=lambda one: not one.domain):
            concerned = _concerned(ceiling, admission.going)
            room = self._ceilings.take(ceiling, len(concerned)) if concerned else 0
            admission.counted[ceiling] = concerned[:room]
            if held := concerned[room:]:
                self._hold(admission, ceiling, held)
        return admission

    def _hold(self, admission: _Admission, ceiling: Ceiling, held: list[Recipient]) -> None:
        keys = {one.key for one in held}
        admission.going = [one for one in admission.going if one.key not in keys]
        admission.held += held
        wait = ceiling.wait_for(len(held))
        admission.wait_seconds = min(admission.wait_seconds or wait, wait)
        admission.why = ", ".join(filter(None, (admission.why, str(ceiling))))
        for other, counted in admission.counted.items():
            if unused := [one for one in counted if one.key in keys and other is not ceiling]:
                self._ceilings.give_back(other, len(unused))
                admission.counted[other] = [one for one in counted if one.key not in keys]


def _concerned(ceiling: Ceiling, recipients: Sequence[Recipient]) -> list[Recipient]:
    domain = ceiling.domain
    return [one for one in recipients if not domain or one.address.rpartition("@")[2].lower() == domain]


def _with_held(given: HandOver, admission: _Admission) -> HandOver:
    """The outcome for everyone. A try that failed stays one: only where none did is the wait no try."""
    if not admission.held:
        return given
    keys = frozenset(one.key for one in admission.held)
    if given.again:
        return replace(given, again=given.again | keys)
    why = f"ceiling {admission.why}"
    return replace(given, again=keys, delayed=why, after_seconds=admission.wait_seconds)
