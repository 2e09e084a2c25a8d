"""The ledger as people ask for it: deliveries with the state that counts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from sqlalchemy import ColumnElement, String, case, exists, func, select, type_coerce, update
from sqlalchemy.orm import Session

from digest.domain.address import address_key
from digest.domain.brief import BriefState
from digest.domain.delivery import BatchState, DeliveryReason
from digest.store.tables import Batch, Brief, CadenceRow, Delivery, Edition, Subscriber

STATUS: ColumnElement[str] = func.coalesce(type_coerce(Delivery.state, String), type_coerce(Batch.state, String))
"""A delivery's own state, else its batch's."""
REASON = case(
    (Delivery.state.is_not(None), type_coerce(Delivery.reason, String)), else_=type_coerce(Batch.reason, String)
)

DETAIL = case((Delivery.state.is_not(None), func.coalesce(Delivery.detail, "")), else_=Batch.detail)


@dataclass(frozen=True, slots=True)
class Entry:
    """One delivery with the state that counts."""

    email: str = field(repr=False)
    on: date
    status: str
    reason: str | None
    batch: int
    brief: int
    send_at: datetime
    sent_at: datetime | None
    detail: str
    """The provider's words about a refusal, or what a batch waits for."""


def entries(
    session: Session, *, status: str = "", email: str = "", on: date | None = None, limit: int | None = None
) -> list[Entry]:
    """Deliveries, the newest date first; all of them unless ``limit`` says how many."""
    wanted = (
        select(
            Subscriber.email, Delivery.on, STATUS, REASON, Batch.id, Brief.id, Edition.send_at, Batch.sent_at, DETAIL
        )
        .join(Batch, Batch.id == Delivery.batch_id)
        .join(Brief, Brief.id == Batch.brief_id)
        .join(Edition, Edition.id == Brief.edition_id)
        .join(Subscriber, Subscriber.id == Delivery.subscriber_id)
        .order_by(Delivery.on.desc(), Delivery.subscriber_id)
        .limit(limit)
    )
    if status:
        wanted = wanted.where(STATUS.in_([status]))
    if email:
        wanted = wanted.where(Subscriber.email_key == address_key(email))
    if on is not None:
        wanted = wanted.where(Delivery.on == on)
    return [_entry(tuple(row)) for row in session.execute(wanted)]


def _entry(row: Sequence[object]) -> Entry:
    email, on, status, reason, *rest = row
    return Entry(email, on, str(status), str(reason) if reason else None, *rest)  # type: ignore[arg-type] # a row of known columns


def dates_had(session: Session, subscriber_id: int, since: date) -> set[date]:
    """The local dates from ``since`` on for which a reader's delivery is over, one way or another."""
    waits = STATUS.in_([BatchState.PLANNED.value, BatchState.READY.value, BatchState.SENDING.value])
    wanted = select(Delivery.on).join(Batch, Batch.id == Delivery.batch_id)
    return set(session.scalars(wanted.where(Delivery.subscriber_id == subscriber_id, Delivery.on >= since, ~waits)))


def count_by_zone(session: Session) -> Iterator[tuple[str, str, str | None, int]]:
    """How many deliveries each zone of the list has, by status and reason."""
    counting = (
        select(CadenceRow.timezone, STATUS, REASON, func.count())
        .join(Subscriber, Subscriber.cadence_id == CadenceRow.id)
        .join(Delivery, Delivery.subscriber_id == Subscriber.id)
        .join(Batch, Batch.id == Delivery.batch_id)
        .group_by(CadenceRow.timezone, STATUS, REASON)
    )
    for zone, status, reason, number in session.execute(counting):
        yield zone, str(status), str(reason) if reason else None, number


def retry_batch(session: Session, batch_id: int, now: datetime, expires_at: datetime) -> bool:
    """The operator's word that an unknown, failed or late batch may be handed over (again); False if it is none such.

    Deliveries with a state of their own keep it: whoever is known to have the brief does not get it twice. A brief that
    has no words is given to nobody.
    """
    has_words = exists().where(Brief.id == Batch.brief_id, Brief.state == BriefState.READY)
    late = (Batch.state == BatchState.SKIPPED) & (Batch.reason == DeliveryReason.LATE)
    compiled = Batch.reason != DeliveryReason.NOT_COMPILED
    given_up = Batch.state.in_([BatchState.UNKNOWN, BatchState.FAILED]) & compiled
    freed = session.scalars(
        update(Batch)
        .where(Batch.id == batch_id, given_up | late, has_words)
        .values(
            state=BatchState.READY,
            reason=None,
            attempts=0,
            nudged_at=None,
            not_before_at=case((Batch.not_before_at > now, Batch.not_before_at), else_=now),
            expires_at=expires_at,
        )
        .returning(Batch.id)
    )
    return freed.one_or_none() is not None
