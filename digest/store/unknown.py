"""What becomes of batches whose answer was lost, once the provider's events speak, or their silence is telling."""

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, exists, func, or_, select, update
from sqlalchemy.orm import Session

from digest.domain.delivery import BatchState, DeliveryReason, DeliveryState
from digest.domain.event import PROVES_HAND_OVER
from digest.store.event_posts import is_any_unread
from digest.store.tables import Batch, Delivery, Event

NEIGHBOURS = 3
"""How many hand-overs on each side must be reported completely before silence about one says anything."""
NEAR = timedelta(days=1)


def close_settled(session: Session) -> list[int]:
    """Unknown batches of which every reader is accounted for are *sent*; returns their ids."""
    waits = exists().where(Delivery.batch_id == Batch.id, Delivery.state.is_(None))
    closing = (
        update(Batch)
        .where(Batch.state == BatchState.UNKNOWN, ~waits)
        .values(state=BatchState.SENT, reason=None, sent_at=func.coalesce(Batch.claimed_at, Batch.not_before_at))
        .returning(Batch.id)
        .execution_options(synchronize_session=False)
    )
    return list(session.scalars(closing))


def never_taken(session: Session, now: datetime, settle: timedelta) -> list[int]:
    """Unknown batches that the provider certainly never saw.

    It reported on none of their readers, though its reports on every reader of the hand-overs nearest in time have been
    here for ``settle``, and its events were still coming in when ``settle`` was over; none of its posts since the
    hand-over waits to be read. A batch of which it reported on anybody stays as it is.
    """
    # Whom the provider refused in an answer that did come has an event too, which says nothing of the others.
    reported = exists().where(Delivery.batch_id == Batch.id, _is_taken(), _reports()).correlate(Batch)
    is_old = Batch.claimed_at <= now - settle
    waiting = select(Batch).where(Batch.state == BatchState.UNKNOWN, is_old, Batch.provider != "", ~reported)
    return [batch.id for batch in session.scalars(waiting).all() if _is_silence_telling(session, batch, now, settle)]


def _is_silence_telling(session: Session, batch: Batch, now: datetime, settle: timedelta) -> bool:
    if batch.claimed_at is None or not _speaks_since(session, batch.provider, batch.claimed_at + settle):
        return False
    if is_any_unread(session, batch.provider, batch.claimed_at):
        return False
    near = _neighbours(session, batch, batch.claimed_at)
    # After an outage of our webhook reports come in a burst, in any order: the batch's own may be the next to come.
    unreported = exists().where(Delivery.batch_id.in_(near), *_is_unreported(now - settle))
    return bool(near) and not session.scalar(select(unreported))


def _speaks_since(session: Session, provider: str, moment: datetime) -> bool:
    newest = select(Event.received_at).where(Event.provider == provider).order_by(Event.id.desc()).limit(1)
    received_at = session.scalar(newest)
    return received_at is not None and received_at >= moment


def _neighbours(session: Session, batch: Batch, claimed_at: datetime) -> list[int]:
    """The hand-overs of the same provider that went well, nearest before and after."""
    well = select(Batch.id).where(Batch.provider == batch.provider, Batch.state == BatchState.SENT)
    before = well.where(Batch.claimed_at.between(claimed_at - NEAR, claimed_at)).order_by(Batch.claimed_at.desc())
    after = well.where(Batch.claimed_at.between(claimed_at, claimed_at + NEAR)).order_by(Batch.claimed_at)
    return [found for side in (before, after) for found in session.scalars(side.limit(NEIGHBOURS))]


def _is_unreported(until: datetime) -> tuple[ColumnElement[bool], ...]:
    """A delivery that was taken and of which no event that was here by ``until`` says so."""
    return _is_taken(), ~_reports(Event.received_at <= until)


def _is_taken() -> ColumnElement[bool]:
    """Given to the provider and not refused by it on the spot."""
    return or_(Delivery.state.is_(None), Delivery.state == DeliveryState.SENT)


def _reports(*which: ColumnElement[bool]) -> ColumnElement[bool]:
    of_it = (Event.subscriber_id == Delivery.subscriber_id, Event.on == Delivery.on)
    return exists().where(*of_it, Event.kind.in_(PROVES_HAND_OVER), *which).correlate(Delivery)


def free_again(session: Session, batch_ids: Collection[int], now: datetime) -> list[int]:
    """What was never taken may be handed over after all, where its grace still runs; returns those batches."""
    freed = (
        update(Batch)
        .where(Batch.id.in_(batch_ids), Batch.state == BatchState.UNKNOWN, Batch.expires_at > now)
        .values(state=BatchState.READY, reason=None, doubtful=False, nudged_at=None, not_before_at=now)
        .returning(Batch.id)
    )
    return list(session.scalars(freed))


def give_up(session: Session, batch_ids: Collection[int]) -> None:
    """What was never taken and comes too late has failed."""
    session.execute(
        update(Batch)
        .where(Batch.id.in_(batch_ids), Batch.state == BatchState.UNKNOWN)
        .values(state=BatchState.FAILED, reason=DeliveryReason.NEVER_TAKEN, doubtful=False)
        .execution_options(synchronize_session=False)
    )
