"""What is older than the operator keeps, taken away in steps so small that nobody waits for one."""

from datetime import date, datetime

from sqlalchemy import delete, exists, select, tuple_
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningDelete

from digest.domain.delivery import BatchState
from digest.store.tables import Announcement, Batch, Brief, Delivery, Edition, Event, EventPost, Letter, Morning


def forget_deliveries(session: Session, before: date, limit: int) -> int:
    """Delete deliveries for local dates before ``before``; returns how many. Whole months go sooner, by a drop."""
    key = tuple_(Delivery.subscriber_id, Delivery.on)
    old = select(Delivery.subscriber_id, Delivery.on).where(Delivery.on < before).limit(limit)
    return _count(session, delete(Delivery).where(key.in_(old)).returning(Delivery.subscriber_id))


def forget_batches(session: Session, before: date, limit: int) -> int:
    """Delete batches of editions before ``before`` that have no deliveries any more; their briefs stay readable."""
    of_edition = select(Batch.id).join(Brief, Brief.id == Batch.brief_id).join(Edition, Edition.id == Brief.edition_id)
    empty = ~exists().where(Delivery.batch_id == Batch.id)
    old = of_edition.where(Edition.on < before, empty).limit(limit)
    return _count(session, delete(Batch).where(Batch.id.in_(old)).returning(Batch.id))


def forget_mornings(session: Session, before: date, limit: int) -> int:
    """Delete the mornings of cadences before ``before``."""
    key = tuple_(Morning.cadence_id, Morning.on)
    old = select(Morning.cadence_id, Morning.on).where(Morning.on < before).limit(limit)
    return _count(session, delete(Morning).where(key.in_(old)).returning(Morning.cadence_id))


def forget_events(session: Session, before: datetime, limit: int) -> int:
    """Delete events received before ``before``; what followed from them, such as a suppression, stays."""
    oldest = select(Event.id, Event.received_at).order_by(Event.id).limit(limit).subquery()
    old = select(oldest.c.id).where(oldest.c.received_at < before)
    return _count(session, delete(Event).where(Event.id.in_(old)).returning(Event.id))


def forget_letters(session: Session, before: datetime, limit: int) -> int:
    """Delete letters written before ``before`` that wait for nothing."""
    oldest = select(Letter.id, Letter.created_at, Letter.state).order_by(Letter.id).limit(limit).subquery()
    done = oldest.c.state.not_in([BatchState.READY, BatchState.SENDING])
    old = select(oldest.c.id).where(oldest.c.created_at < before, done)
    return _count(session, delete(Letter).where(Letter.id.in_(old)).returning(Letter.id))


def forget_posts(session: Session, before: datetime, limit: int) -> int:
    """Delete posts of events received before ``before``; those given up too, with the bytes that were kept of them."""
    old = select(EventPost.id).where(EventPost.received_at < before).limit(limit)
    return _count(session, delete(EventPost).where(EventPost.id.in_(old)).returning(EventPost.id))


def forget_announcements(session: Session, before: datetime, limit: int) -> int:
    """Delete news from before ``before``, with the calls that were made of it."""
    old = select(Announcement.id).where(Announcement.created_at < before).limit(limit)
    return _count(session, delete(Announcement).where(Announcement.id.in_(old)).returning(Announcement.id))


def _count(session: Session, removal: ReturningDelete[tuple[int]]) -> int:
    return len(session.scalars(removal.execution_options(synchronize_session=False)).all())
