"""The counts of mornings: made from the deliveries now and then, read by pages, metrics and the morning report."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import Select, String, func, select, type_coerce
from sqlalchemy.orm import Session

from digest.domain.delivery import BatchState
from digest.domain.event import EventKind
from digest.store.ledger import REASON, STATUS
from digest.store.tables import Batch, Brief, CadenceRow, Delivery, Edition, Event, Figures, Subscriber

LATENESS = (1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400)
"""Upper bounds of the lateness histogram, in seconds."""
BEYOND = "+Inf"
BOUNCES = (EventKind.BOUNCED, EventKind.SOFT_BOUNCED, EventKind.BLOCKED, EventKind.DROPPED)
OPEN = (BatchState.PLANNED, BatchState.READY, BatchState.SENDING)


@dataclass(slots=True)
class Count:
    """What became of some deliveries.

    Attributes:
        status: ``sent``, ``planned``, ``skipped:late``, ``unknown:answer_lost``, …: status, and reason where there is
            one -> deliveries.
        events: kind -> events that the provider reported of them.
        late: bound of :data:`LATENESS` in seconds, or ``+Inf`` -> sent deliveries whose hand-over began so late at
            most, and later than the bound before.
        late_seconds: how late they were, together.
    """

    status: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    late: Counter[str] = field(default_factory=Counter)
    late_seconds: float = 0.0

    @property
    def due(self) -> int:
        """All of them."""
        return self.status.total()

    def of(self, status: str) -> int:
        """How many have this status, whatever the reason."""
        return sum(number for word, number in self.status.items() if word.partition(":")[0] == status)

    @property
    def waiting(self) -> int:
        """How many are still to be handed over."""
        return sum(self.of(status) for status in OPEN)

    @property
    def bounced(self) -> int:
        """How many came back or were blocked."""
        return sum(self.events[kind] for kind in BOUNCES)

    def add(self, other: "Count") -> None:
        """Count in the others."""
        self.status.update(other.status)
        self.events.update(other.events)
        self.late.update(other.late)
        self.late_seconds += other.late_seconds

    def as_json(self) -> dict[str, Any]:
        """As it is kept."""
        words = {"status": dict(self.status), "events": dict(self.events), "late": dict(self.late)}
        return words | {"late_seconds": round(self.late_seconds, 3)}

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> "Count":
        """As it was kept."""
        status, events, late = (Counter[str](kept.get(name, {})) for name in NAMES)
        return cls(status, events, late, float(kept.get("late_seconds", 0)))


NAMES = ("status", "events", "late")


@dataclass(frozen=True, slots=True)
class Morning:
    """The counts of one instant and local date, by time zone of the readers."""

    send_at: datetime
    on: date
    counted_at: datetime
    zones: dict[str, Count]

    @property
    def total(self) -> Count:
        """All zones together."""
        whole = Count()
        for count in self.zones.values():
            whole.add(count)
        return whole


def mornings_between(session: Session, start: datetime, end: datetime) -> list[Morning]:
    """The counts of every instant in ``start <= send_at < end``, in order."""
    wanted = select(Figures).where(Figures.send_at >= start, Figures.send_at < end)
    return [_morning(row) for row in session.scalars(wanted.order_by(Figures.send_at, Figures.on))]


def mornings_of_date(session: Session, on: date) -> list[Morning]:
    """The counts of every instant of one local date around the world, in order."""
    start = datetime(on.year, on.month, on.day, tzinfo=UTC) - timedelta(days=2)
    return [each for each in mornings_between(session, start, start + timedelta(days=5)) if each.on == on]


def _morning(row: Figures) -> Morning:
    zones = {zone: Count.from_json(kept) for zone, kept in row.zones.items()}
    return Morning(row.send_at, row.on, row.counted_at, zones)


def instants(session: Session, start: datetime, end: datetime) -> dict[tuple[datetime, date], datetime | None]:
    """The instants and dates in ``start <= send_at < end``, each with when it was counted last; None for never."""
    counted = (Figures.send_at == Edition.send_at) & (Figures.on == Edition.on)
    wanted = select(Edition.send_at, Edition.on, Figures.counted_at).distinct().outerjoin(Figures, counted)
    rows = session.execute(wanted.where(Edition.send_at >= start, Edition.send_at < end))
    return {(row.send_at, row.on): row.counted_at for row in rows}


def count_morning(session: Session, send_at: datetime, on: date, now: datetime) -> None:
    """Count the deliveries of one instant and date, and what was reported of them, and keep that."""
    zones: dict[str, Count] = {}
    for zone, status, reason, sent_at, number in _deliveries(session, send_at, on):
        count = zones.setdefault(zone, Count())
        count.status[f"{status}:{reason}" if reason else str(status)] += number
        if status == BatchState.SENT and sent_at is not None:
            seconds = max(0.0, (sent_at - send_at).total_seconds())
            count.late[_bound(seconds)] += number
            count.late_seconds += seconds * number
    for zone, kind, number in _events(session, send_at, on):
        zones.setdefault(zone, Count()).events[str(kind)] += number
    kept = {zone: count.as_json() for zone, count in sorted(zones.items())}
    session.merge(Figures(send_at=send_at, on=on, counted_at=now, zones=kept))


def _bound(seconds: float) -> str:
    return next((str(bound) for bound in LATENESS if seconds <= bound), BEYOND)


def _of_morning(send_at: datetime, on: date) -> Select[int]:
    """The ids of its batches: few, where deliveries are many."""
    wanted = select(Batch.id).join(Brief, Brief.id == Batch.brief_id).join(Edition, Edition.id == Brief.edition_id)
    return wanted.where(Edition.send_at == send_at, Edition.on == on)


def _deliveries(session: Session, send_at: datetime, on: date) -> Iterator[Sequence[Any]]:
    by = (CadenceRow.timezone, STATUS, REASON, Batch.sent_at)
    counting = (
        select(*by, func.count())
        .select_from(Delivery)
        .join(Batch, Batch.id == Delivery.batch_id)
        .join(Subscriber, Subscriber.id == Delivery.subscriber_id)
        .join(CadenceRow, CadenceRow.id == Subscriber.cadence_id)
        .where(Delivery.on == on, Delivery.batch_id.in_(_of_morning(send_at, on)))
        .group_by(*by)
    )
    yield from session.execute(counting)


def _events(session: Session, send_at: datetime, on: date) -> Iterator[Sequence[Any]]:
    by = (CadenceRow.timezone, type_coerce(Event.kind, String))
    counting = (
        select(*by, func.count())
        .select_from(Delivery)
        .join(Event, (Event.subscriber_id == Delivery.subscriber_id) & (Event.on == Delivery.on))
        .join(Subscriber, Subscriber.id == Delivery.subscriber_id)
        .join(CadenceRow, CadenceRow.id == Subscriber.cadence_id)
        .where(Delivery.on == on, Delivery.batch_id.in_(_of_morning(send_at, on)))
        .group_by(*by)
    )
    yield from session.execute(counting)
