"""An edition: one send instant, one local date and one window of stories."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from digest.domain.schedule import Cadence, Send, next_send, previous_send

REACH_BACK = timedelta(days=3)
"""How far a window may stretch beyond the previous instant when mornings were missed as a whole."""
LONGEST_WINDOW = timedelta(days=7)
"""How far back a reader's own window may start."""


_GOLDEN, _SILVER = (5**0.5 - 1) / 2, 2**0.5 - 1
"""Multiples of either, whole parts taken off, are spread evenly between 0 and 1."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How a morning is run; all from settings.

    Attributes:
        lead: how long before the instant planning starts; also the story cut-off.
        grace: how long after the instant a brief may still leave.
        lease: how long one hand-over may take; a batch held longer has lost its holder.
        settle: how long the provider's events are waited for before their absence says something.
        spread: over how long after the instant a morning's batches leave; zero: all at once.
        largest_batch: most readers in one batch, where that is fewer than the provider takes; None leaves it to it.
    """

    lead: timedelta = timedelta(minutes=10)
    grace: timedelta = timedelta(hours=4)
    lease: timedelta = timedelta(minutes=15)
    settle: timedelta = timedelta(hours=1)
    largest_batch: int | None = None
    spread: timedelta = timedelta(0)

    def delay(self, brief: int, number: int) -> timedelta:
        """How long after its instant a batch leaves; evenly spread, and in another order for each brief.

        Args:
            brief: id of its brief.
            number: where it stands among the batches planned with it.
        """
        return self.spread * ((number * _GOLDEN + brief * _SILVER) % 1)

    def batch_size(self, provider_takes: int) -> int:
        """How many readers go into one batch for a provider that takes so many at once."""
        return provider_takes if self.largest_batch is None else min(self.largest_batch, provider_takes)


@dataclass(frozen=True, slots=True, order=True)
class EditionKey:
    """What makes two readers share an edition.

    The date is part of it: 08:00 on one side of the date line and 08:00 on the other fall on one instant of two dates.
    """

    send_at: datetime
    on: date
    window_start: datetime
    window_end: datetime


def cut_off(send: Send, policy: Policy) -> datetime:
    """The instant up to which stories enter the brief of ``send``."""
    return send.at - policy.lead


def last_cut_off(cadence: Cadence, now: datetime, policy: Policy) -> datetime:
    """The cut-off of the newest send of ``cadence`` before ``now``; the next one's window starts there."""
    return cut_off(previous_send(cadence, next_send(cadence, now)), policy)


def edition_for(cadence: Cadence, send: Send, missed: frozenset[date], policy: Policy) -> EditionKey:
    """The edition that readers of ``cadence`` share for ``send``.

    Its window runs from the cut-off of the cadence's previous send; over sends that were missed as a whole it reaches
    further back, by :data:`REACH_BACK` at most.

    Args:
        missed: local dates of this cadence that went by without a brief.
    """
    previous = previous_send(cadence, send)
    earliest = cut_off(previous, policy) - REACH_BACK
    while previous.on in missed:
        previous = previous_send(cadence, previous)
    return EditionKey(send.at, send.on, max(cut_off(previous, policy), earliest), cut_off(send, policy))
