"""States of batches and deliveries, and the moves between them."""

from enum import StrEnum


class BatchState(StrEnum):
    """Where a batch stands. Each of its deliveries stands there too unless it has a state of its own."""

    PLANNED = "planned"
    """Its brief is not compiled yet."""
    READY = "ready"
    """May be claimed from ``not_before`` on."""
    SENDING = "sending"
    """Claimed under a lease; the provider may be hearing of it now."""
    SENT = "sent"
    """The provider took it."""
    SKIPPED = "skipped"
    """Never handed over, with a reason."""
    FAILED = "failed"
    """The provider refused it for good, with a reason."""
    UNKNOWN = "unknown"
    """Handed over or not: the answer was lost. Never sent again on a guess."""


class DeliveryState(StrEnum):
    """A delivery's own state, where it differs from its batch's."""

    SENT = "sent"
    SKIPPED = "skipped"
    FAILED = "failed"


class DeliveryReason(StrEnum):
    """Why a delivery was skipped, failed or is unknown; also a metric label."""

    NOTHING_NEW = "nothing_new"
    MISSED = "missed"
    """Its morning passed, grace and all, before the scheduler ran."""
    LATE = "late"
    """It was planned but could not be handed over within the grace."""
    UNSUBSCRIBED = "unsubscribed"
    PAUSED = "paused"
    SUPPRESSED = "suppressed"
    NOT_COMPILED = "not_compiled"
    REFUSED = "refused"
    """The provider refused this reader for good."""
    INVALID_ADDRESS = "invalid_address"
    LEASE_EXPIRED = "lease_expired"
    """The process that handed it over ended before it wrote down the answer."""
    ANSWER_LOST = "answer_lost"
    """The connection broke after the message was given and before the provider answered."""
    TRIED_OUT = "tried_out"
    """Still no definite answer after the last try."""
    NEVER_TAKEN = "never_taken"
    """The answer was lost, and the provider's events show that it never saw the message; too late to give it again."""
    LEDGER_LOST = "ledger_lost"
    """The database came back from a backup that is older than this morning: it may have gone out before."""
    UNKNOWN_TIMEZONE = "unknown_timezone"
    """The running tzdata has no rules for the reader's zone."""


MOVES: dict[BatchState, frozenset[BatchState]] = {
    BatchState.PLANNED: frozenset({BatchState.READY, BatchState.SKIPPED, BatchState.FAILED, BatchState.UNKNOWN}),
    BatchState.READY: frozenset({BatchState.SENDING, BatchState.SKIPPED, BatchState.UNKNOWN}),
    BatchState.SENDING: frozenset(
        {BatchState.READY, BatchState.SENT, BatchState.FAILED, BatchState.UNKNOWN, BatchState.SKIPPED}
    ),
    BatchState.UNKNOWN: frozenset({BatchState.SENT, BatchState.READY, BatchState.FAILED}),
    BatchState.FAILED: frozenset({BatchState.READY}),
    BatchState.SENT: frozenset(),
    BatchState.SKIPPED: frozenset({BatchState.READY}),
}
"""Which state may follow which. *ready* after *failed* or a late *skipped* is the operator's word, after *unknown*
theirs or that of the provider's events. *unknown* after *planned* or *ready* is a batch that was to be tried again
after a doubt and ran out of time, or one of a ledger that came back from an older backup."""
