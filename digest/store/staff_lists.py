"""What the staff's pages list: a page at a time by key, so that a page costs the same however long a table is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from digest.domain.delivery import BatchState
from digest.store.ledger import DETAIL, REASON, STATUS
from digest.store.tables import Batch, Brief, Delivery, Edition, Story, Subscriber, Suppression

PAGE = 100


@dataclass(frozen=True, slots=True)
class Member:
    """One reader of a batch, with the state that counts."""

    subscriber_id: int
    email: str = field(repr=False)
    on: date
    status: str
    reason: str | None
    detail: str = field(repr=False)


def briefs_of_date(session: Session, on: date, after: int = 0, limit: int = PAGE) -> Sequence[Brief]:
    """The briefs of every edition of a local date, in the order they were planned."""
    wanted = select(Brief).join(Edition, Edition.id == Brief.edition_id).where(Edition.on == on, Brief.id > after)
    return session.scalars(wanted.options(joinedload(Brief.edition)).order_by(Brief.id).limit(limit)).all()


def newest_dates(session: Session, until: date, limit: int) -> Sequence[date]:
    """The local dates that have editions, the newest first."""
    wanted = select(Edition.on).where(Edition.on <= until).distinct().order_by(Edition.on.desc()).limit(limit)
    return session.scalars(wanted).all()


def batches_by_brief(session: Session, brief_ids: Sequence[int]) -> dict[int, dict[str, int]]:
    """How many batches of these briefs are in each state."""
    counting = select(Batch.brief_id, Batch.state, func.count()).where(Batch.brief_id.in_(brief_ids))
    found: dict[int, dict[str, int]] = {}
    for brief_id, state, number in session.execute(counting.group_by(Batch.brief_id, Batch.state)):
        found.setdefault(brief_id, {})[str(state)] = number
    return found


def brief_with_id(session: Session, brief_id: int) -> Brief | None:
    """One brief with its edition."""
    return session.get(Brief, brief_id, options=[joinedload(Brief.edition)])


def batches_of_brief(session: Session, brief_id: int, limit: int = PAGE) -> Sequence[Batch]:
    """The batches of a brief, the first planned first."""
    return session.scalars(select(Batch).where(Batch.brief_id == brief_id).order_by(Batch.id).limit(limit)).all()


def batches_in(
    session: Session, state: BatchState | None, before: int | None = None, limit: int = PAGE
) -> Sequence[Batch]:
    """The newest batches, in a state or in any; those of a state that is over are looked for among the newest only."""
    wanted = select(Batch).order_by(Batch.id.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(Batch.id < before)
    if state is not None:
        wanted = wanted.where(Batch.state == state)
    return session.scalars(wanted.options(joinedload(Batch.brief).joinedload(Brief.edition))).all()


def batch_with_id(session: Session, batch_id: int) -> Batch | None:
    """One batch with its brief and edition."""
    return session.get(Batch, batch_id, options=[joinedload(Batch.brief).joinedload(Brief.edition)])


def members_of(session: Session, batch_id: int, after: int = 0, limit: int = PAGE) -> list[Member]:
    """The readers of a batch, a page at a time by number of subscriber."""
    wanted = (
        select(Subscriber.id, Subscriber.email, Delivery.on, STATUS, REASON, DETAIL)
        .join(Batch, Batch.id == Delivery.batch_id)
        .join(Subscriber, Subscriber.id == Delivery.subscriber_id)
        .where(Delivery.batch_id == batch_id, Delivery.subscriber_id > after)
        .order_by(Delivery.subscriber_id)
        .limit(limit)
    )
    return [Member(*row) for row in session.execute(wanted)]


def count_members(session: Session, batch_id: int) -> dict[str, int]:
    """How many readers of a batch stand where; a batch has a thousand at most."""
    joined = select(STATUS, func.count()).join(Batch, Batch.id == Delivery.batch_id)
    counting = joined.where(Delivery.batch_id == batch_id).group_by(STATUS)
    return {str(status): number for status, number in session.execute(counting)}


def newest_suppressions(session: Session, before: int | None = None, limit: int = PAGE) -> Sequence[Suppression]:
    """Suppressions, the newest first."""
    wanted = select(Suppression).order_by(Suppression.id.desc()).limit(limit)
    return session.scalars(wanted if before is None else wanted.where(Suppression.id < before)).all()


def story_ids_before(
    session: Session, at: datetime | None, story_id: int, *, flagged: bool, limit: int = PAGE
) -> Sequence[int]:
    """Stories that lead their event, the newest to enter first; from the one with that instant and id on."""
    wanted = select(Story.id).where(Story.lead_id.is_(None))
    if flagged:
        wanted = wanted.where(Story.flag != "")
    if at is not None:
        wanted = wanted.where((Story.enters_at < at) | ((Story.enters_at == at) & (Story.id < story_id)))
    return session.scalars(wanted.order_by(Story.enters_at.desc(), Story.id.desc()).limit(limit)).all()
