"""Two providers, of which one is in charge: the second takes over while the first fails, and gives back."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from time import monotonic

import structlog

from digest.ports import HandOver, Message, Provider, Recipient

FRUITLESS = 3
"""Hand-overs in a row of which the first took nothing at all; then the second is in charge."""
PROBE_AFTER = 600.0
"""Seconds after which one hand-over is tried with the first again."""
AT_ONCE = 1.0
_log = structlog.get_logger(__name__)


class Fallback:
    """Decides per hand-over who carries it, so that every batch has one carrier and its row names it.

    A hand-over is never passed on half-way. Whom the first certainly did not take is *again*, as ever, and their batch
    is claimed anew, by then perhaps for the second; what is *accepted* or *unknown* at the first stays its own, and its
    silence or events settle it. So taking over can't send twice, whatever crashes when.

    The second takes over after :data:`FRUITLESS` hand-overs in a row that took nobody, or at an alarm of the first,
    which then does not stop the sending. After :data:`PROBE_AFTER` seconds one hand-over goes to the first again.
    Each process finds out by itself.

    Args:
        first: carries while it can.
        second: takes over.
        clock: a stopwatch, in seconds.
    """

    def __init__(self, first: Provider, second: Provider, clock: Callable[[], float] = monotonic) -> None:
        self._first, self._second, self._clock = first, second, clock
        self._lock = threading.Lock()
        self._fruitless = 0
        self._probe_at: float | None = None

    def in_charge(self) -> Provider:
        """Who is to carry the next hand-over; ask anew for every one."""
        with self._lock:
            if self._probe_at is None:
                return _Carrier(self._first, self._judge)
            if self._clock() >= self._probe_at:
                self._probe_at = self._clock() + PROBE_AFTER
                return _Carrier(self._first, self._judge)
            return _Carrier(self._second, lambda given: given)

    def close(self) -> None:
        """Let go of connections of both."""
        self._first.close()
        self._second.close()

    def _judge(self, given: HandOver) -> HandOver:
        """What the first's outcome says of it; its alarm becomes a short delay, after which the second is in charge."""
        took_nobody = bool(given.again) and not (given.accepted or given.refused or given.unknown)
        with self._lock:
            if given.alarm or (took_nobody and not given.delayed):
                self._fruitless += 1
                if given.alarm or self._fruitless >= FRUITLESS:
                    self._take_over(given.alarm)
            elif given.accepted:
                self._give_back()
        if not given.alarm:
            return given
        return replace(given, alarm="", delayed=f"{self._second.name} takes over: {given.alarm}", after_seconds=AT_ONCE)

    def _take_over(self, why: str) -> None:
        if self._probe_at is None:
            words = why or "nothing was taken"
            _log.error("fallback_takes_over", first=self._first.name, second=self._second.name, why=words)
        self._probe_at = self._clock() + PROBE_AFTER

    def _give_back(self) -> None:
        if self._probe_at is not None:
            _log.warning("fallback_gives_back", first=self._first.name, second=self._second.name)
        self._fruitless, self._probe_at = 0, None


class _Carrier:
    """One of the two, for one hand-over."""

    def __init__(self, provider: Provider, judge: Callable[[HandOver], HandOver]) -> None:
        self.name, self.batch_size = provider.name, provider.batch_size
        self._provider, self._judge = provider, judge

    def hand_over(self, message: Message, recipients: Sequence[Recipient], now: datetime) -> HandOver:
        """See :class:`digest.ports.Provider`."""
        return self._judge(self._provider.hand_over(message, recipients, now))

    def close(self) -> None:
        """Let go of connections."""
        self._provider.close()
