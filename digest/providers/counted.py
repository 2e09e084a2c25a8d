"""Any provider, with a count of what it answers and how long that takes."""

from collections.abc import Sequence
from datetime import datetime
from time import monotonic

from digest.ports import Count, HandOver, Message, Provider, Recipient

BOUNDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 300)
"""Upper bounds of the histogram of hand-overs, in seconds."""
BEYOND = "+Inf"
ANSWERS, OUTCOMES, SECONDS, SECONDS_SUM = "answers", "outcomes", "hand_over_seconds", "hand_over_milliseconds"
"""Names of the counters; each label begins with the provider's name and a colon."""


class CountedProvider:
    """Counts each hand-over when it is over. Counting never changes what became of it.

    Args:
        provider: carries the mail.
        count: told of every hand-over.
    """

    def __init__(self, provider: Provider, count: Count) -> None:
        self._provider, self._count = provider, count
        self.name, self.batch_size = provider.name, provider.batch_size

    def hand_over(self, message: Message, recipients: Sequence[Recipient], now: datetime) -> HandOver:
        """Give the message to the provider; see :class:`digest.ports.Provider`."""
        began = monotonic()
        given = self._provider.hand_over(message, recipients, now)
        self._count(self._numbers(given, monotonic() - began))
        return given

    def close(self) -> None:
        """Let go of connections."""
        self._provider.close()

    def _numbers(self, given: HandOver, seconds: float) -> dict[str, dict[str, int]]:
        numbers = {
            ANSWERS: given.answers,
            OUTCOMES: {
                "accepted": len(given.accepted),
                "refused": len(given.refused),
                "unknown": len(given.unknown),
                "delayed" if given.delayed else "again": len(given.again),
                "alarm": int(bool(given.alarm)),
            },
        }
        if not given.delayed:
            bound = next((str(bound) for bound in BOUNDS if seconds <= bound), BEYOND)
            numbers |= {SECONDS: {bound: 1}, SECONDS_SUM: {"": round(seconds * 1000)}}
        return {name: {f"{self.name}:{what}": n for what, n in labels.items() if n} for name, labels in numbers.items()}
