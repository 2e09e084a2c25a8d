"""Batches that were left behind, and the definite state each of them gets."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import exists, func, or_, select, update
from sqlalchemy.orm import Session

from digest.domain.delivery import BatchState, DeliveryReason
from digest.store.tables import Batch, Delivery

NO_LEASE_IS_LONGER = timedelta(hours=2)
"""Well above every lease, so that clocks which differ a little between machines never end one."""


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


def is_anything_open(session: Session) -> bool:
    """Whether any batch waits for something; a quick look that spares an idle turn all the others."""
    waiting = [BatchState.PLANNED, BatchState.READY, BatchState.SENDING, BatchState.UNKNOWN]
    return session.scalar(select(exists().where(Batch.state.in_(waiting)))) or False


def give_up_lost(session: Session, until: datetime) -> list[int]:
    """Batches that may have gone out by ``until``, in the time that this ledger has forgotten, become *unknown*."""
    waiting = [BatchState.PLANNED, BatchState.READY, BatchState.SENDING]
    given_up = (
        update(Batch)
        .where(Batch.state.in_(waiting), Batch.not_before_at <= until)
        .values(state=BatchState.UNKNOWN, reason=DeliveryReason.LEDGER_LOST, doubtful=True, lease_until_at=None)
        .returning(Batch.id)
    )
    return list(session.scalars(given_up))


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
