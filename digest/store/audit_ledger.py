"""What must hold for mornings, batches and deliveries; each query finds what breaks it."""

from datetime import date, datetime, timedelta

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session

from digest.domain.brief import BriefState
from digest.domain.delivery import BatchState, DeliveryReason, DeliveryState
from digest.domain.schedule import Cadence, is_known_zone, send_on
from digest.domain.subscriber import SubscriberState
from digest.store.tables import Batch, Brief, CadenceRow, Delivery, Edition, Letter, Morning, Subscriber, Suppression

SLACK = timedelta(minutes=5)
"""How long a lease or a grace may be over before a tick has to have dealt with it."""
RECENT = timedelta(days=2)
"""How far back sends are held against the clock again; older ones may have gone by rules that changed since."""
NEVER_HANDED_OVER = (DeliveryReason.NOTHING_NEW, DeliveryReason.MISSED, DeliveryReason.NOT_COMPILED)

WAS_SENT: ColumnElement[bool] = or_(
    Delivery.state == DeliveryState.SENT, Delivery.state.is_(None) & (Batch.state == BatchState.SENT)
)
"""The provider took it."""


def doubles() -> Select[int, date]:
    """Readers and dates with more than one delivery."""
    by = (Delivery.subscriber_id, Delivery.on)
    return select(*by).group_by(*by).having(func.count() > 1)


def without_batch() -> Select[int]:
    """Deliveries whose batch is not there."""
    batch = select(Batch.id).where(Batch.id == Delivery.batch_id)
    return select(Delivery.subscriber_id).where(~batch.exists())


def left_out() -> Select[int]:
    """Readers, unchanged since before a morning was planned, for whom nothing was written when it was closed.

    Mornings older than the oldest delivery that is kept can't be looked into.
    """
    oldest = select(func.min(Delivery.on)).scalar_subquery()
    theirs = select(Delivery.on).where(Delivery.subscriber_id == Subscriber.id, Delivery.on == Morning.on)
    return (
        select(Subscriber.id)
        .join(Morning, Morning.cadence_id == Subscriber.cadence_id)
        .where(
            Morning.closed_at.is_not(None),
            or_(oldest.is_(None), Morning.on >= oldest),
            Subscriber.state == SubscriberState.ACTIVE,
            Subscriber.created_at < Morning.planned_at,
            Subscriber.changed_at < Morning.planned_at,
            or_(Subscriber.active_from_at.is_(None), Subscriber.active_from_at < Morning.planned_at),
            ~theirs.exists(),
        )
    )


def without_lease() -> Select[int]:
    """Batches that are being sent by nobody."""
    return select(Batch.id).where(Batch.state == BatchState.SENDING, Batch.lease_until_at.is_(None))


def lease_over(now: datetime) -> Select[int]:
    """Batches whose holder is gone and that no tick has dealt with."""
    return select(Batch.id).where(Batch.state == BatchState.SENDING, Batch.lease_until_at < now - SLACK)


def letter_lease_over(now: datetime) -> Select[int]:
    """Letters whose sender is gone and that no tick has dealt with."""
    return select(Letter.id).where(Letter.state == BatchState.SENDING, Letter.lease_until_at < now - SLACK)


def no_definite_state(now: datetime) -> Select[int]:
    """Batches past their grace that are still to be sent."""
    is_open = Batch.state.in_([BatchState.PLANNED, BatchState.READY])
    return select(Batch.id).where(is_open, Batch.expires_at < now - SLACK)


def early() -> Select[int]:
    """Batches that left before their edition's instant."""
    return (
        select(Batch.id)
        .join(Brief, Brief.id == Batch.brief_id)
        .join(Edition, Edition.id == Brief.edition_id)
        .where(Batch.sent_at < Edition.send_at)
    )


def late() -> Select[int]:
    """Batches that left after their grace."""
    return select(Batch.id).where(Batch.state == BatchState.SENT, Batch.sent_at > Batch.expires_at)


def never_claimed() -> Select[int]:
    """Batches that are sent though nobody ever took them to send."""
    return select(Batch.id).where(Batch.state == BatchState.SENT, Batch.attempts == 0)


def without_words() -> Select[int]:
    """Batches that are further than their brief."""
    return (
        select(Batch.id)
        .join(Brief, Brief.id == Batch.brief_id)
        .where(Batch.state.in_([BatchState.SENT, BatchState.READY]), Brief.state != BriefState.READY)
    )


def empty_batches() -> Select[int]:
    """Open batches of nobody."""
    filled = select(Delivery.batch_id).where(Delivery.batch_id == Batch.id)
    return select(Batch.id).where(Batch.state.in_([BatchState.PLANNED, BatchState.READY]), ~filled.exists())


def wrong_date() -> Select[int]:
    """Deliveries for another date than their edition's."""
    return (
        select(Delivery.subscriber_id)
        .join(Batch, Batch.id == Delivery.batch_id)
        .join(Brief, Brief.id == Batch.brief_id)
        .join(Edition, Edition.id == Brief.edition_id)
        .where(Edition.on != Delivery.on)
    )


def told_too_soon() -> Select[int]:
    """Deliveries with a state of their own though their batch never was at the provider's door."""
    never = or_(Batch.state == BatchState.PLANNED, Batch.reason.in_(NEVER_HANDED_OVER))
    return (
        select(Delivery.subscriber_id)
        .join(Batch, Batch.id == Delivery.batch_id)
        .where(Delivery.state.is_not(None), never)
    )


def after_leaving(now: datetime) -> Select[int]:
    """Sent by a batch that was claimed after the reader had left; ``sent_at`` is the instant of the claim.

    What a turn with a clock moved into the future sent says nothing about who left first.
    """
    return (
        select(Delivery.subscriber_id)
        .join(Batch, Batch.id == Delivery.batch_id)
        .join(Subscriber, Subscriber.id == Delivery.subscriber_id)
        .where(
            Subscriber.state == SubscriberState.ENDED,
            WAS_SENT,
            Subscriber.changed_at < Batch.sent_at,
            Batch.sent_at <= now,
        )
    )


def after_suppression(now: datetime) -> Select[int]:
    """Sent by a batch that was claimed after the reader's address was barred."""
    return (
        select(Delivery.subscriber_id)
        .join(Batch, Batch.id == Delivery.batch_id)
        .join(Subscriber, Subscriber.id == Delivery.subscriber_id)
        .join(Suppression, Suppression.email_key == Subscriber.email_key)
        .where(WAS_SENT, Suppression.created_at < Batch.sent_at, Batch.sent_at <= now)
    )


def before_local_time(session: Session, now: datetime) -> int:
    """How many cadences and dates got a brief before their local time, by the rules of the running tzdata.

    Readers who changed something since the cut-off are left out: the row no longer tells what they wanted then. So are
    briefs that the operator sent at once, whose window ends at their own instant.
    """
    zone = (CadenceRow.timezone, CadenceRow.send_time, CadenceRow.weekdays)
    rows = session.execute(
        select(*zone, Delivery.on, func.min(Batch.sent_at, type_=Batch.sent_at.type))
        .join(Batch, Batch.id == Delivery.batch_id)
        .join(Brief, Brief.id == Batch.brief_id)
        .join(Edition, Edition.id == Brief.edition_id)
        .join(Subscriber, Subscriber.id == Delivery.subscriber_id)
        .join(CadenceRow, CadenceRow.id == Subscriber.cadence_id)
        .where(Batch.state == BatchState.SENT, Batch.sent_at > now - RECENT)
        .where(Subscriber.changed_at <= Edition.window_end_at, Edition.window_end_at < Edition.send_at)
        .group_by(*zone, Delivery.on)
    )
    return sum(_is_early(Cadence(name, at, days), on, sent_at) for name, at, days, on, sent_at in rows)


def _is_early(cadence: Cadence, on: date, sent_at: datetime | None) -> bool:
    if sent_at is None or not is_known_zone(cadence.timezone):
        return False
    due = send_on(cadence, on)
    return due is None or sent_at < due.at
