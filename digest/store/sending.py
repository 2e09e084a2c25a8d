"""Claiming a batch, reading whom it is for, and recording what became of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from sqlalchemy import ColumnElement, bindparam, case, exists, func, or_, select, true, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from digest.domain.brief import BriefState
from digest.domain.delivery import MOVES, BatchState, DeliveryReason, DeliveryState
from digest.domain.subscriber import EndReason, SubscriberState
from digest.store.tables import Batch, Brief, CadenceRow, Delivery, Edition, Subscriber, Suppression, Switch

PAUSED = "sending_paused"
"""The switch that stops every hand-over."""
TICKED = "ticked"
"""The mark of the scheduler's last turn."""
NO_LEASE_IS_LONGER = timedelta(hours=2)
"""Well above every lease, so that clocks which differ a little between machines never end one."""


@dataclass(frozen=True, slots=True)
class Member:
    """A reader in a claimed batch, as of now."""

    subscriber_id: int
    on: date
    address: str = field(repr=False)
    state: SubscriberState
    reason: EndReason | None
    suppressed: bool
    timezone: str
    subscribed_at: datetime


def mark_tick(session: Session, now: datetime) -> None:
    """The scheduler has run; readiness checks look for this mark."""
    session.merge(Switch(name=TICKED, value="", changed_at=now))


def is_paused(session: Session) -> bool:
    """Whether the operator stopped the sending."""
    return session.get(Switch, PAUSED) is not None


def set_paused(session: Session, *, paused: bool, now: datetime, why: str = "") -> None:
    """Turn the sending switch."""
    row = session.get(Switch, PAUSED)
    if paused:
        session.merge(Switch(name=PAUSED, value=why, changed_at=now))
    elif row is not None:
        session.delete(row)


def take_briefs(session: Session, now: datetime, again_after: timedelta, limit: int) -> list[int]:
    """The briefs to compile that nobody was asked to compile lately; marks them as asked for."""
    wanted = select(Brief.id).where(Brief.state == BriefState.PLANNED, _not_nudged(Brief.nudged_at, now, again_after))
    ids = session.scalars(wanted.order_by(Brief.id).limit(limit).with_for_update(skip_locked=True)).all()
    session.execute(update(Brief).where(Brief.id.in_(ids)).values(nudged_at=now))
    return list(ids)


def take_batches(session: Session, now: datetime, again_after: timedelta, limit: int) -> list[int]:
    """The batches to hand over that nobody was asked to hand over lately, oldest first; marks them as asked for."""
    if is_paused(session):
        return []
    wanted = select(Batch.id).where(
        Batch.state == BatchState.READY, Batch.not_before_at <= now, _not_nudged(Batch.nudged_at, now, again_after)
    )
    order = (Batch.not_before_at, Batch.id)
    ids = session.scalars(wanted.order_by(*order).limit(limit).with_for_update(skip_locked=True)).all()
    session.execute(update(Batch).where(Batch.id.in_(ids)).values(nudged_at=now))
    return list(ids)


def _not_nudged(
    column: InstrumentedAttribute[datetime | None], now: datetime, again_after: timedelta
) -> ColumnElement[bool]:
    return or_(column.is_(None), column <= now - again_after, column > now)


def claim_batch(session: Session, batch_id: int, now: datetime, lease: timedelta) -> Batch | None:
    """Take a batch for hand-over; None when somebody else has it, it is not time, or the switch is off.

    A guarded update is the claim: of two workers only one changes the row.
    """
    paused = exists().where(Switch.name == PAUSED)
    return session.scalars(
        update(Batch)
        .where(
            Batch.id == batch_id,
            Batch.state == BatchState.READY,
            Batch.not_before_at <= now,
            Batch.expires_at > now,
            ~paused,
        )
        .values(state=BatchState.SENDING, lease_until_at=now + lease, attempts=Batch.attempts + 1)
        .returning(Batch)
    ).one_or_none()


def members(session: Session, batch_id: int) -> list[Member]:
    """The readers of a batch that have no state of their own yet, as they are now, in one query."""
    suppressed = exists().where(Suppression.email_key == Subscriber.email_key)
    wanted = (
        select(
            Subscriber.id,
            Delivery.on,
            Subscriber.email,
            Subscriber.state,
            Subscriber.reason,
            suppressed,
            CadenceRow.timezone,
            func.coalesce(Subscriber.active_from_at, Subscriber.created_at, type_=Subscriber.created_at.type),
        )
        .join(Subscriber, Subscriber.id == Delivery.subscriber_id)
        .join(CadenceRow, CadenceRow.id == Subscriber.cadence_id)
        .where(Delivery.batch_id == batch_id, Delivery.state.is_(None))
        .order_by(Subscriber.id)
    )
    return [Member(*row) for row in session.execute(wanted)]


@dataclass(frozen=True, slots=True)
class OwnState:
    """The state of one delivery that differs from its batch's."""

    state: DeliveryState
    reason: DeliveryReason | None = None
    detail: str = ""


def record_own_states(session: Session, states: Mapping[tuple[int, date], OwnState]) -> None:
    """Write the deliveries that differ from their batch."""
    if not states:
        return
    statement = (
        update(Delivery)
        .where(Delivery.subscriber_id == bindparam("of"), Delivery.on == bindparam("for_on"))
        .values(state=bindparam("own"), reason=bindparam("why"), detail=bindparam("said"))
    )
    rows = [
        {"of": of, "for_on": on, "own": own.state, "why": own.reason, "said": own.detail or None}
        for (of, on), own in states.items()
    ]
    session.connection().execute(statement, rows)


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """What a batch becomes after a hand-over."""

    state: BatchState
    reason: DeliveryReason | None = None
    sent_at: datetime | None = None
    not_before_at: datetime | None = None
    receipt: str = ""
    detail: str = ""


def record_outcome(session: Session, batch: Batch, outcome: BatchOutcome, provider: str) -> bool:
    """Write the end of one claim; False when another claim came between.

    The number of attempts is the fence: whoever held an older claim cannot overwrite a newer one. A batch given up as
    *unknown* meanwhile is settled by the answer that did come.
    """
    if outcome.state not in MOVES[BatchState.SENDING]:
        raise ValueError(f"a batch that was sending can't become {outcome.state}")
    changes: dict[str, object] = {
        "state": outcome.state,
        "reason": outcome.reason,
        "lease_until_at": None,
        "sent_at": outcome.sent_at,
        "provider": provider,
        "receipt": outcome.receipt,
        "detail": outcome.detail,
    }
    if outcome.state is BatchState.UNKNOWN:
        changes |= {"doubtful": True}
    if outcome.not_before_at is not None:
        changes |= {"not_before_at": outcome.not_before_at, "nudged_at": None}
    written = session.scalars(
        update(Batch)
        .where(
            Batch.id == batch.id,
            Batch.attempts == batch.attempts,
            Batch.state.in_([BatchState.SENDING, BatchState.UNKNOWN]),
        )
        .values(changes)
        .returning(Batch.id)
    )
    return written.one_or_none() is not None


def move_windows(session: Session, subscriber_ids: Iterable[int], edition: Edition) -> None:
    """These readers have read up to the end of the edition: no window start of their own lies before it any more.

    A reader goes back to the shared window where that begins at this very end. It does not when their settings changed
    after the cut-off, nor after an edition made at its own instant, outside every rhythm.
    """
    end = edition.window_end_at
    is_of_a_rhythm = end < edition.send_at
    changed = Subscriber.changed_at > end if is_of_a_rhythm else true()
    session.execute(
        update(Subscriber)
        .where(Subscriber.id.in_(list(subscriber_ids)), or_(Subscriber.window_start_at.is_not(None), changed))
        .values(window_start_at=case((changed, end), else_=None))
        .execution_options(synchronize_session=False)
    )


def keep_windows_open(session: Session, batch_ids: Sequence[int]) -> None:
    """The readers of these batches missed the brief: their next one starts where it would have."""
    missed = (
        select(Edition.window_start_at)
        .join(Brief, Brief.edition_id == Edition.id)
        .join(Batch, Batch.brief_id == Brief.id)
        .join(Delivery, Delivery.batch_id == Batch.id)
        .where(Batch.id.in_(batch_ids), Delivery.subscriber_id == Subscriber.id)
        .limit(1)
        .scalar_subquery()
    )
    theirs = select(Delivery.subscriber_id).where(Delivery.batch_id.in_(batch_ids), Delivery.state.is_(None))
    session.execute(
        update(Subscriber)
        .where(Subscriber.id.in_(theirs), Subscriber.window_start_at.is_(None))
        .values(window_start_at=missed)
        .execution_options(synchronize_session=False)
    )


def expire_leases(session: Session, now: datetime) -> list[int]:
    """Batches whose holder is gone become *unknown*: it may have handed them over or not.

    A lease further ahead than any is given was taken under a clock that was wrong.
    """
    over = or_(Batch.lease_until_at < now, Batch.lease_until_at > now + NO_LEASE_IS_LONGER)
    lost = (
        update(Batch)
        .where(Batch.state == BatchState.SENDING, over)
        .values(state=BatchState.UNKNOWN, reason=DeliveryReason.LEASE_EXPIRED, doubtful=True, lease_until_at=None)
        .returning(Batch.id)
    )
    return list(session.scalars(lost))


def expire_late(session: Session, now: datetime) -> list[int]:
    """Batches that could not leave within the grace are skipped; a brief at noon is not a morning brief."""
    return _expire(session, now, BatchState.SKIPPED, DeliveryReason.LATE, doubtful=False)


def expire_retried(session: Session, now: datetime) -> list[int]:
    """Batches that were to be tried again after a doubt, and were not: the doubt is what remains."""
    return _expire(session, now, BatchState.UNKNOWN, DeliveryReason.ANSWER_LOST, doubtful=True)


def _expire(session: Session, now: datetime, state: BatchState, reason: DeliveryReason, *, doubtful: bool) -> list[int]:
    waiting = Batch.state.in_([BatchState.PLANNED, BatchState.READY])
    over = (
        update(Batch)
        .where(waiting, Batch.expires_at <= now, Batch.doubtful.is_(doubtful))
        .values(state=state, reason=reason)
        .returning(Batch.id)
    )
    return list(session.scalars(over))


def count_open(session: Session, batch_ids: Sequence[int]) -> int:
    """How many deliveries of these batches have no state of their own."""
    waiting = select(func.count()).where(Delivery.batch_id.in_(batch_ids), Delivery.state.is_(None))
    return session.scalar(waiting) or 0
