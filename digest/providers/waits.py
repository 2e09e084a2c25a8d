"""Waits that a provider asked for, known to all workers: in the broker's Redis, else in this process."""

from datetime import datetime
from threading import Lock
from typing import Protocol

import redis
import structlog

PREFIX = "digest:wait:"
SOCKET_SECONDS = 3.0
LONGEST_SECONDS = 7200
"""How long Redis keeps an end that nobody looks at any more."""

log = structlog.get_logger()


class Ends(Protocol):
    """Where ends of waits are kept: name -> instant in Unix seconds."""

    def get(self, name: str) -> float:
        """The end kept under this name; 0 where there is none."""
        ...

    def put(self, name: str, end: float) -> None:
        """Keep this end, unless a later one is kept."""
        ...


class MemoryEnds:
    """Ends of this process."""

    def __init__(self) -> None:
        self._ends: dict[str, float] = {}
        self._lock = Lock()

    def get(self, name: str) -> float:
        """See :class:`Ends`."""
        return self._ends.get(name, 0.0)

    def put(self, name: str, end: float) -> None:
        """See :class:`Ends`."""
        with self._lock:
            self._ends[name] = max(end, self._ends.get(name, 0.0))


class RedisEnds:
    """Ends that every worker of every machine sees. While Redis can't be reached, each process knows its own.

    Args:
        url: the broker's address.
    """

    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(
            url, socket_timeout=SOCKET_SECONDS, socket_connect_timeout=SOCKET_SECONDS, decode_responses=True
        )
        self._own = MemoryEnds()

    def get(self, name: str) -> float:
        """See :class:`Ends`."""
        try:
            kept = self._redis.zscore(PREFIX + name, "end")
        except redis.RedisError as error:
            log.warning("waits_not_shared", why=type(error).__name__)
            kept = None
        return max(float(str(kept or 0)), self._own.get(name))

    def put(self, name: str, end: float) -> None:
        """See :class:`Ends`."""
        self._own.put(name, end)
        try:
            # A sorted set of one member, because it alone keeps the greater of two numbers by itself.
            self._redis.zadd(PREFIX + name, {"end": end}, gt=True)
            self._redis.expire(PREFIX + name, LONGEST_SECONDS)
        except redis.RedisError as error:
            log.warning("waits_not_shared", why=type(error).__name__)


class Waits:
    """Who asked to be left alone until when.

    Args:
        ends: where that is kept; this process where none is given.
    """

    def __init__(self, ends: Ends | None = None) -> None:
        self._ends = ends or MemoryEnds()

    def left(self, name: str, now: datetime) -> float:
        """Seconds still to wait; 0 where nothing is."""
        return max(0.0, self._ends.get(name) - now.timestamp())

    def ask(self, name: str, seconds: float, now: datetime) -> None:
        """``name`` asked everybody to wait this long; a longer wait that is known stays."""
        self._ends.put(name, now.timestamp() + seconds)


def shared_waits(broker_url: str) -> Waits:
    """Waits of all workers: in the broker's Redis, or in this process where the broker lies in it."""
    return Waits(None if broker_url.startswith("memory:") else RedisEnds(broker_url))
