"""The invariants of the ledger, the list and the suppressions, each a query that must find nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session

from digest.domain.brief import BriefState
from digest.domain.delivery import BatchState, DeliveryState
from digest.domain.subscriber import SubscriberState
from digest.store.tables import Batch, Brief, Delivery, Edition, Event, Subscriber, Suppression

SLACK = timedelta(minutes=5)
"""How long a lease or a grace may be over before a tick has to have dealt with it."""


@dataclass(frozen=True, slots=True)
class Check:
    """One invariant and how many rows break it."""

    name: str
    found: int

    @property
    def ok(self) -> bool:
        """Whether it holds."""
        return self.found == 0


def audit(session: Session, now: datetime) -> list[Check]:
    """Every invariant, checked in SQL."""
    return [Check(name, session.scalar(query(now)) or 0) for name, query in CHECKS.items()]


def _count(rows: Select[*tuple[Any, ...]]) -> Select[int]:
    return select(func.count()).select_from(rows.subquery())


def _doubles(_: datetime) -> Select[int]:
    by = (Delivery.subscriber_id, Delivery.on)
    return _count(select(*by).group_by(*by).having(func.count() > 1))


def _same_address(_: datetime) -> Select[int]:
    return _count(select(Subscriber.email_key).group_by(Subscriber.email_key).having(func.count() > 1))


def _without_lease(_: datetime) -> Select[int]:
    return _count(select(Batch.id).where(Batch.state == BatchState.SENDING, Batch.lease_until_at.is_(None)))


def _lease_over(now: datetime) -> Select[int]:
    over = Batch.lease_until_at < now - SLACK
    return _count(select(Batch.id).where(Batch.state == BatchState.SENDING, over))


def _no_definite_state(now: datetime) -> Select[int]:
    is_open = Batch.state.in_([BatchState.PLANNED, BatchState.READY])
    return _count(select(Batch.id).where(is_open, Batch.expires_at < now - SLACK))


def _early(_: datetime) -> Select[int]:
    rows = (
        select(Batch.id)
        .join(Brief, Brief.id == Batch.brief_id)
        .join(Edition, Edition.id == Brief.edition_id)
        .where(Batch.sent_at < Edition.send_at)
    )
    return _count(rows)


def _after_leaving(now: datetime) -> Select[int]:
    """Sent by a batch that was claimed after the reader had left; ``sent_at`` is the instant of the claim.

    What a turn with a clock moved into the future sent says nothing about who left first.
    """
    rows = (
        select(Delivery.subscriber_id)
        .join(Batch, Batch.id == Delivery.batch_id)
        .join(Subscriber, Subscriber.id == Delivery.subscriber_id)
        .where(
            Subscriber.state == SubscriberState.ENDED,
            or_(Delivery.state == DeliveryState.SENT, Delivery.state.is_(None) & (Batch.state == BatchState.SENT)),
            Subscriber.changed_at < Batch.sent_at,
            Batch.sent_at <= now,
        )
    )
    return _count(rows)


def _barred_but_active(_: datetime) -> Select[int]:
    rows = (
        select(Subscriber.id)
        .join(Suppression, Suppression.email_key == Subscriber.email_key)
        .where(Subscriber.state.in_([SubscriberState.ACTIVE, SubscriberState.PAUSED]))
    )
    return _count(rows)


def _sent_without_words(_: datetime) -> Select[int]:
    rows = (
        select(Batch.id)
        .join(Brief, Brief.id == Batch.brief_id)
        .where(Batch.state.in_([BatchState.SENT, BatchState.READY]), Brief.state != BriefState.READY)
    )
    return _count(rows)


def _empty_batches(_: datetime) -> Select[int]:
    filled = select(Delivery.batch_id).where(Delivery.batch_id == Batch.id).exists()
    return _count(select(Batch.id).where(Batch.state.in_([BatchState.PLANNED, BatchState.READY]), ~filled))


def _wrong_date(_: datetime) -> Select[int]:
    rows = (
        select(Delivery.subscriber_id)
        .join(Batch, Batch.id == Delivery.batch_id)
        .join(Brief, Brief.id == Batch.brief_id)
        .join(Edition, Edition.id == Brief.edition_id)
        .where(Edition.on != Delivery.on)
    )
    return _count(rows)


def _double_events(_: datetime) -> Select[int]:
    by = (Event.provider, Event.identifier)
    return _count(select(*by).group_by(*by).having(func.count() > 1))


CHECKS: dict[str, Callable[[datetime], Select[int]]] = {
    "one delivery per subscriber and local date": _doubles,
    "one subscriber per address": _same_address,
    "no batch sending without a lease": _without_lease,
    "no lease over and unrecovered": _lease_over,
    "every batch past its grace has a definite state": _no_definite_state,
    "nothing handed over before its instant": _early,
    "nobody mailed after leaving": _after_leaving,
    "nobody barred is subscribed": _barred_but_active,
    "no batch ahead of its brief": _sent_without_words,
    "no open batch without deliveries": _empty_batches,
    "a delivery's date is its edition's": _wrong_date,
    "each event once": _double_events,
}
