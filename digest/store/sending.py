"""Claiming a batch, reading whom it is for, and recording what became of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from sqlalchemy import ColumnElement, Select, bindparam, exists, func, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from digest.domain.brief import BriefState
from digest.domain.delivery import MOVES, BatchState, DeliveryReason, DeliveryState
from digest.domain.subscriber import SubscriberState
from digest.store.tables import Batch, Brief, CadenceRow, Delivery, Subscriber, Suppression, Switch

PAUSED = "sending_paused"
"""The switch that stops every hand-over."""


@dataclass(slots=True)
class Member:
    """A reader in a claimed batch, as of now; not frozen, as :class:`digest.ports.Recipient` is not."""

    subscriber_id: int
    on: date
    address: str = field(repr=False)
    state: SubscriberState
    suppressed: bool
    timezone: str
    subscribed_at: datetime


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
    if ids:
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
    if ids:
        session.execute(update(Batch).where(Batch.id.in_(ids)).values(nudged_at=now))
    return list(ids)


def _not_nudged(
    column: InstrumentedAttribute[datetime | None], now: datetime, again_after: timedelta
) -> ColumnElement[bool]:
    return or_(column.is_(None), column <= now - again_after, column > now)


def claim_batch(session: Session, batch_id: int, now: datetime, lease: timedelta, provider: str) -> Batch | None:
    """Take a batch for hand-over; None when somebody else has it, it is not time, or the switch is off.

    A guarded update is the claim: of two workers only one changes the row. It says already now who is to get it, since
    a process that dies on the way says nothing more.
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
        .values(
            state=BatchState.SENDING,
            lease_until_at=now + lease,
            attempts=Batch.attempts + 1,
            claimed_at=now,
            provider=provider,
        )
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


def open_in(batch_id: int) -> Select[int]:
    """The query for the readers of a batch whose delivery has no state of its own."""
    return select(Delivery.subscriber_id).where(Delivery.batch_id == batch_id, Delivery.state.is_(None))


def is_still_held(session: Session, batch: Batch) -> bool:
    """Whether this claim stands, its batch locked; a process may have stood still until it was given up."""
    mine = select(Batch.id).where(*_of_claim(batch), Batch.state == BatchState.SENDING)
    return session.scalar(mine.with_for_update()) is not None


def _of_claim(batch: Batch) -> tuple[ColumnElement[bool], ...]:
    return Batch.id == batch.id, Batch.attempts == batch.attempts, Batch.claimed_at == batch.claimed_at


def left_since(session: Session, batch_id: int, readers: Collection[int]) -> set[int]:
    """Which of these readers of a batch may not have their brief at this moment.

    Asked right before the hand-over, when everything else is done, so that an unsubscribe committed a moment ago stops
    its mail; hence as small a question as can be: how many there still are, and only where some are out, who.
    """
    theirs = open_in(batch_id).join(Subscriber, Subscriber.id == Delivery.subscriber_id)
    suppressed = exists().where(Suppression.email_key == Subscriber.email_key)
    may = (Subscriber.state == SubscriberState.ACTIVE) & ~suppressed
    counts = theirs.with_only_columns(func.count(), func.count().filter(may))
    # Nobody joins a batch that is being handed over, so as many as there were are those that there were.
    here, staying = session.execute(counts).one()
    if here == staying == len(readers):
        return set()
    return set(readers).difference(session.scalars(theirs.where(may)))


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
    was_tried: bool = True
    """Whether the provider was asked at all; else the claim does not count as an attempt."""


def record_outcome(session: Session, batch: Batch, outcome: BatchOutcome, provider: str) -> bool:
    """Write the end of one claim; False when another claim came between.

    Attempt and instant of the claim are the fence: whoever held an older claim cannot overwrite a newer one. A batch
    given up as *unknown* meanwhile is settled by the answer that did come.
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
    if not outcome.was_tried:
        changes |= {"attempts": Batch.attempts - 1}
    if outcome.state is BatchState.UNKNOWN:
        changes |= {"doubtful": True}
    if outcome.not_before_at is not None:
        changes |= {"not_before_at": outcome.not_before_at, "nudged_at": None}
    written = session.scalars(
        update(Batch)
        .where(*_of_claim(batch), Batch.state.in_([BatchState.SENDING, BatchState.UNKNOWN]))
        .values(changes)
        .returning(Batch.id)
    )
    return written.one_or_none() is not None


def split_off(session: Session, batch: Batch, subscriber_ids: Collection[int], receipt: str) -> int:
    """Part these readers of a claimed batch, whose answer was lost, from the others; returns their new batch's id.

    So *unknown* is always said of a whole batch, which can be settled, retried and listed as one.
    """
    apart = Batch(
        brief_id=batch.brief_id,
        number=batch.number,
        state=BatchState.UNKNOWN,
        reason=DeliveryReason.ANSWER_LOST,
        doubtful=True,
        not_before_at=batch.not_before_at,
        expires_at=batch.expires_at,
        claimed_at=batch.claimed_at,
        attempts=batch.attempts,
        provider=batch.provider,
        receipt=receipt,
    )
    session.add(apart)
    session.flush()
    _move(session, batch, subscriber_ids, apart)
    return apart.id


def part_from(session: Session, batch: Batch, subscriber_ids: Sequence[int], size: int) -> None:
    """Part these readers of a claimed batch, who are not to be given this time, into ready batches of ``size``."""
    for start in range(0, len(subscriber_ids), size):
        rest = Batch(
            brief_id=batch.brief_id,
            number=batch.number,
            state=BatchState.READY,
            doubtful=batch.doubtful,
            not_before_at=batch.not_before_at,
            expires_at=batch.expires_at,
            attempts=batch.attempts - 1,
        )
        session.add(rest)
        session.flush()
        _move(session, batch, subscriber_ids[start : start + size], rest)


def _move(session: Session, batch: Batch, subscriber_ids: Collection[int], to: Batch) -> None:
    theirs = (Delivery.batch_id == batch.id, Delivery.subscriber_id.in_(subscriber_ids))
    moved = update(Delivery).where(*theirs).values(batch_id=to.id)
    session.execute(moved.execution_options(synchronize_session=False))
