"""Provider events, once each, and what they settle."""

from datetime import date, datetime

from sqlalchemy import String, exists, func, or_, select, type_coerce, update
from sqlalchemy.orm import Session

from digest.domain.delivery import BatchState, DeliveryState
from digest.domain.event import PROVES_DELIVERY, EventKind, ProviderEvent
from digest.store.dialects import insert_new
from digest.store.tables import Batch, Brief, Delivery, Edition, Event, Subscriber

NUL, REPLACEMENT = "\0", "\N{REPLACEMENT CHARACTER}"
"""A mail server's words may hold a NUL, which PostgreSQL keeps in no text."""
UNSAID = (BatchState.READY, BatchState.SENDING, BatchState.UNKNOWN, BatchState.FAILED)
"""States of a batch that do not say already what an event can show: it is with the provider, once more, or given up."""


def add_event(
    session: Session, event: ProviderEvent, subscriber_id: int | None, on: date | None, received_at: datetime
) -> int | None:
    """Store the event; its id, or None when it was known already."""
    values = {
        "provider": event.provider,
        "identifier": event.identifier[:200],
        "kind": event.kind,
        "occurred_at": event.occurred_at,
        "received_at": received_at,
        "subscriber_id": subscriber_id,
        "on": on,
        "detail": event.detail.replace(NUL, REPLACEMENT),
        "raw": event.raw.replace(NUL, REPLACEMENT),
    }
    return session.scalars(insert_new(session, Event).values(values).returning(Event.id)).one_or_none()


def is_subscriber(session: Session, subscriber_id: int) -> bool:
    """Whether this reader is still in the list."""
    return session.scalar(select(Subscriber.id).where(Subscriber.id == subscriber_id)) is not None


def soft_bounced_mornings(session: Session, subscriber_id: int, since: datetime) -> int:
    """On how many local dates the reader's mailbox took nothing, after ``since`` and after the last sign that it does.

    Several bounces of one brief are one morning. The index on subscriber and date serves both selects.
    """
    theirs = Event.subscriber_id == subscriber_id
    worked = select(func.max(Event.occurred_at)).where(theirs, Event.kind.in_(PROVES_DELIVERY)).scalar_subquery()
    bounces = select(func.count(Event.on.distinct())).where(
        theirs,
        Event.kind == EventKind.SOFT_BOUNCED,
        Event.occurred_at > since,
        or_(worked.is_(None), Event.occurred_at > worked),
    )
    return session.scalar(bounces) or 0


def newest_given(session: Session, subscriber_id: int, by: datetime) -> date | None:
    """The date of the newest brief that the provider took, or may have taken, from us by then; None where none was."""
    taken = (BatchState.SENT, BatchState.UNKNOWN)
    state = func.coalesce(type_coerce(Delivery.state, String), type_coerce(Batch.state, String))
    return session.scalar(
        select(Delivery.on)
        .join(Batch, Batch.id == Delivery.batch_id)
        .where(Delivery.subscriber_id == subscriber_id, Batch.not_before_at <= by, state.in_(taken))
        .order_by(Delivery.on.desc())
        .limit(1)
    )


def settle_taken(session: Session, subscriber_id: int, on: date) -> Edition | None:
    """The provider has shown that it took this delivery; unless its answer said so already, it is settled now.

    Also where the answer is still waited for: it may never come, and the event does not come again.

    Returns:
        the edition that the reader turns out to have; None where nothing was to settle.
    """
    unsaid = exists().where(Batch.id == Delivery.batch_id, Batch.state.in_(UNSAID))
    settled = session.scalars(
        update(Delivery)
        .where(
            Delivery.subscriber_id == subscriber_id,
            Delivery.on == on,
            Delivery.state.is_(None),
            unsaid,
        )
        .values(state=DeliveryState.SENT, reason=None)
        .returning(Delivery.batch_id)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    if settled is None:
        return None
    of_batch = select(Edition).join(Brief, Brief.edition_id == Edition.id).join(Batch, Batch.brief_id == Brief.id)
    return session.scalars(of_batch.where(Batch.id == settled)).one()
