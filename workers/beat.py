"""The scheduler's nudge, at full multiples of its interval: on the very instants at which briefs are due."""

from datetime import datetime, timedelta
from typing import Any

from celery.beat import Scheduler
from celery.schedules import schedstate, schedule

AFTER = 0.02
"""Seconds after the full multiple, since beat wakes up to a hundredth of a second early."""
LONGEST_REST = 3600.0
"""No entry of ours rests longer, so whoever seems to was put off by a clock that was wrong, in seconds."""


class Aligned(schedule):  # type: ignore[misc] # celery is untyped
    """Due once in each slot of ``run_every`` since the epoch: every 5 s means at :00, :05, :10 and so on.

    A clock that was set back lies in another slot too, so nothing waits for a time that was never real.
    """

    def is_due(self, last_run_at: datetime) -> Any:  # noqa: ANN401 - Celery's own pair
        """Whether this slot's run is still to come, and the seconds to the next slot."""
        every = self.run_every / timedelta(seconds=1)
        now = self.now().timestamp()
        remaining = every - now % every + AFTER
        return schedstate(is_due=last_run_at.timestamp() // every != now // every, next=remaining)


class SteadyScheduler(Scheduler):  # type: ignore[misc] # celery is untyped
    """Celery's scheduler in memory, which forgets its plan when a clock that was wrong had put it far ahead."""

    _heap: Any

    def tick(self, *arguments: object, **options: object) -> float:
        """One turn of beat's loop; the seconds until the next."""
        if self._heap and self._heap[0][0] - self._when(self._heap[0][2], 0) > LONGEST_REST:
            self._heap = None
        return float(super().tick(*arguments, **options))
