"""How punctual a morning is: when the provider's double took the first, the middle and the last briefs of one zone."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from digest.cli.bench_processes import BenchError, process
from digest.cli.bench_sendgrid import Sending
from digest.cli.bench_stage import DIGEST
from digest.cli.context import utc_now

MINUTE = timedelta(minutes=1)
MARGIN = timedelta(seconds=5)
"""Between the end of preparing and the instant."""


@dataclass(frozen=True, slots=True)
class Morning:
    """When briefs were taken, in seconds after their instant.

    Attributes:
        taken: of each request, in order: the seconds, and how many readers it was for.
    """

    taken: Sequence[tuple[float, int]] = field(repr=False)

    def row(self) -> dict[str, float]:
        """What the contract asks: the first, the percentiles, the last, and how many came early."""
        return {
            "first_s": round(self.taken[0][0], 3),
            "p50_s": round(self.at(0.50), 3),
            "p99_s": round(self.at(0.99), 3),
            "last_s": round(self.taken[-1][0], 3),
            "early": sum(readers for seconds, readers in self.taken if seconds < 0),
        }

    def at(self, share: float) -> float:
        """By when this share of the readers had their brief taken."""
        wanted, so_far = share * sum(readers for _, readers in self.taken), 0
        for seconds, readers in self.taken:
            so_far += readers
            if so_far >= wanted:
                return seconds
        raise BenchError("nobody's brief was taken")


def morning(work: Sending) -> Morning:
    """One real morning: planned ahead, sent at its instant by the scheduler's own ticks."""
    send_at = _prepared(work)
    before = len(work.double.ask("/taken"))
    work.stage.switch_on()
    with process([*DIGEST, "beat"], work.stage.environment):
        work.stage.wait_for_the_last()
    work.stage.check()
    taken = sorted((at - send_at.timestamp(), readers) for at, readers in work.double.ask("/taken")[before:])
    return Morning(taken)


def _prepared(work: Sending) -> datetime:
    """The next whole minute for which everything could be made ready in time."""
    ahead = MINUTE / 2
    while True:
        send_at = (utc_now() + ahead).replace(second=0, microsecond=0) + MINUTE
        work.stage.prepare(send_at)
        if utc_now() < send_at - MARGIN:
            return send_at
        ahead += MINUTE
