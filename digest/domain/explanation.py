"""Why somebody did or did not get the brief of one local date, from what is known of them and of that morning."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from digest.domain.delivery import BatchState
from digest.domain.event import PROVES_DELIVERY, EventKind
from digest.domain.schedule import Send
from digest.domain.subscriber import EndReason, SubscriberState


class Why(StrEnum):
    """What became of one morning of one reader. What a delivery says of itself comes first, then the nearest cause."""

    DELIVERED = "delivered"
    SENT = "sent"
    BOUNCED = "bounced"
    SOFT_BOUNCED = "soft_bounced"
    BLOCKED = "blocked"
    DROPPED = "dropped"
    SKIPPED = "skipped"
    FAILED = "failed"
    UNKNOWN = "unknown"
    WAITING = "waiting"
    HELD = "held"
    ZONE_UNKNOWN = "zone_unknown"
    OTHER_DAYS = "other_days"
    NOT_YET = "not_yet"
    BARRED = "barred"
    BEFORE_SIGN_UP = "before_sign_up"
    UNCONFIRMED = "unconfirmed"
    INACTIVE_THEN = "inactive_then"
    ENDED = "ended"
    PAUSED = "paused"
    MISSED = "missed"
    FORGOTTEN = "forgotten"
    CHANGED_THEN = "changed_then"
    NO_TRACE = "no_trace"


@dataclass(frozen=True, slots=True)
class ReaderFacts:
    """What is known of a reader today.

    Attributes:
        active_from_at: mornings before it are not theirs.
        kept_since: how far back the ledger reaches.
        sending_paused_at: since when the operator holds all mail back; None where nobody does.
        is_barred: the address is suppressed.
    """

    state: SubscriberState
    reason: EndReason | None
    created_at: datetime
    changed_at: datetime
    active_from_at: datetime | None
    kept_since: date
    sending_paused_at: datetime | None = None
    is_barred: bool = False


@dataclass(frozen=True, slots=True)
class MorningFacts:
    """What is known of one local date of a reader.

    Attributes:
        send: when it was due by the reader's present settings; None where it is none of their days.
        status: of the delivery; None where there is none.
        reason: of the delivery, where it has one.
        events: what the provider reported of it.
        was_missed: the scheduler found the whole morning past its grace.
    """

    on: date
    send: Send | None
    zone_is_known: bool = True
    status: str | None = None
    reason: str | None = None
    events: Collection[EventKind] = ()
    was_missed: bool = False


_REPORTED: Sequence[tuple[EventKind, Why]] = (
    (EventKind.BOUNCED, Why.BOUNCED),
    (EventKind.DROPPED, Why.DROPPED),
    (EventKind.BLOCKED, Why.BLOCKED),
    (EventKind.SOFT_BOUNCED, Why.SOFT_BOUNCED),
)
_OPEN = frozenset({BatchState.PLANNED.value, BatchState.READY.value, BatchState.SENDING.value})
_SETTLED = {
    BatchState.SKIPPED.value: Why.SKIPPED,
    BatchState.FAILED.value: Why.FAILED,
    BatchState.UNKNOWN.value: Why.UNKNOWN,
}
PLANNED_WITHIN = timedelta(minutes=5)
"""How long after its instant a morning may still be without its rows: a tick that was slow."""


def explain(reader: ReaderFacts, morning: MorningFacts, now: datetime) -> Why:
    """Why the morning came out as it did. Present settings stand for those of then, which are not kept."""
    if morning.status is not None:
        return _of_delivery(reader, morning)
    if not morning.zone_is_known:
        return Why.ZONE_UNKNOWN
    if morning.send is None:
        return Why.OTHER_DAYS
    at = morning.send.at
    return next((why for why, holds in _CAUSES if holds(reader, morning, at, now)), Why.NO_TRACE)


def _of_delivery(reader: ReaderFacts, morning: MorningFacts) -> Why:
    status = str(morning.status)
    if status in _OPEN:
        return Why.HELD if reader.sending_paused_at else Why.WAITING
    if status in _SETTLED:
        return _SETTLED[status]
    if PROVES_DELIVERY & set(morning.events) and EventKind.BOUNCED not in morning.events:
        return Why.DELIVERED
    return next((why for kind, why in _REPORTED if kind in morning.events), Why.SENT)


def _ended_before(reader: ReaderFacts, at: datetime) -> bool:
    return reader.state is SubscriberState.ENDED and reader.changed_at <= at


Cause = Callable[[ReaderFacts, MorningFacts, datetime, datetime], bool]
_CAUSES: Sequence[tuple[Why, Cause]] = (
    (Why.BEFORE_SIGN_UP, lambda reader, _, at, __: at < reader.created_at),
    (Why.UNCONFIRMED, lambda reader, _, __, ___: reader.state is SubscriberState.PENDING),
    (Why.ENDED, lambda reader, _, at, __: _ended_before(reader, at)),
    (Why.PAUSED, lambda reader, _, at, __: reader.state is SubscriberState.PAUSED and reader.changed_at <= at),
    (Why.BARRED, lambda reader, _, at, now: reader.is_barred and at + PLANNED_WITHIN > now),
    (Why.NOT_YET, lambda _, __, at, now: at + PLANNED_WITHIN > now),
    (Why.FORGOTTEN, lambda reader, morning, _, __: morning.on < reader.kept_since),
    (Why.INACTIVE_THEN, lambda reader, _, at, __: reader.active_from_at is not None and at < reader.active_from_at),
    (Why.MISSED, lambda _, morning, __, ___: morning.was_missed),
    (Why.CHANGED_THEN, lambda reader, _, at, __: at < reader.changed_at),
)
"""The causes of a morning without a delivery, the nearest first."""
