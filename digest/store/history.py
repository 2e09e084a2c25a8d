"""Everything that the ledger knows of one reader, each kind read by its own index and cut at a limit."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from sqlalchemy import String, func, select, type_coerce
from sqlalchemy.orm import Session

from digest.domain.event import EventKind
from digest.store.acts import acts_of
from digest.store.ledger import DETAIL, REASON, STATUS
from digest.store.tables import AddressChange, Batch, Brief, Consent, Delivery, Edition, Event, Letter, Morning

LIMIT = 200


@dataclass(frozen=True, slots=True)
class Given:
    """One delivery of a reader, with the state that counts."""

    on: date
    status: str
    reason: str | None
    detail: str = field(repr=False)
    batch: int
    brief: int
    send_at: datetime
    not_before_at: datetime
    sent_at: datetime | None
    provider: str


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened to a reader.

    Attributes:
        kind: ``asked``, ``confirmed``, ``letter``, ``event``, ``address_asked``, ``address_moved`` or ``act``.
        name: which letter, event or act.
        facts: values by name; may hold addresses.
    """

    at: datetime
    kind: str
    name: str = ""
    facts: dict[str, Any] = field(default_factory=dict, repr=False)


def first_date(session: Session) -> date | None:
    """The first local date that the ledger knows of; None while it is empty."""
    return session.scalar(select(func.min(Edition.on)))


def deliveries_of(session: Session, subscriber_id: int, since: date, until: date) -> dict[date, Given]:
    """A reader's deliveries of ``since <= date <= until``, by date."""
    wanted = (
        select(
            Delivery.on,
            STATUS,
            REASON,
            DETAIL,
            Batch.id,
            Brief.id,
            Edition.send_at,
            Batch.not_before_at,
            Batch.sent_at,
            Batch.provider,
        )
        .join(Batch, Batch.id == Delivery.batch_id)
        .join(Brief, Brief.id == Batch.brief_id)
        .join(Edition, Edition.id == Brief.edition_id)
        .where(Delivery.subscriber_id == subscriber_id, Delivery.on >= since, Delivery.on <= until)
    )
    return {row[0]: Given(*row) for row in session.execute(wanted)}


def reports_of(session: Session, subscriber_id: int, since: date, until: date) -> dict[date, list[Event]]:
    """What providers reported of a reader's briefs of these dates, in order, by date."""
    wanted = select(Event).where(Event.subscriber_id == subscriber_id, Event.on >= since, Event.on <= until)
    found: dict[date, list[Event]] = {}
    for event in session.scalars(wanted.order_by(Event.occurred_at, Event.id).limit(LIMIT)):
        if event.on is not None:
            found.setdefault(event.on, []).append(event)
    return found


def missed_mornings(session: Session, cadence_id: int, since: date, until: date) -> set[date]:
    """The dates that went by without a brief for everybody of this cadence."""
    wanted = select(Morning.on).where(Morning.cadence_id == cadence_id, Morning.on >= since, Morning.on <= until)
    return set(session.scalars(wanted.where(Morning.missed)))


def consents_of(session: Session, subscriber_id: int) -> Sequence[Consent]:
    """A reader's requests, the newest first."""
    wanted = select(Consent).where(Consent.subscriber_id == subscriber_id)
    return session.scalars(wanted.order_by(Consent.requested_at.desc()).limit(LIMIT)).all()


def moments_of(session: Session, subscriber_id: int) -> list[Moment]:
    """What happened to a reader besides their mornings, the newest first."""
    found = [
        *_of_consents(session, subscriber_id),
        *_of_letters(session, subscriber_id),
        *_of_changes(session, subscriber_id),
        *_of_events(session, subscriber_id),
        *_of_acts(session, subscriber_id),
    ]
    return sorted(found, key=lambda moment: moment.at, reverse=True)[:LIMIT]


def _of_consents(session: Session, subscriber_id: int) -> list[Moment]:
    rows = consents_of(session, subscriber_id)
    facts = [{"source": row.source, "wording": row.wording, "remote": row.remote} for row in rows]
    asked = [Moment(row.requested_at, "asked", "", values) for row, values in zip(rows, facts, strict=True)]
    return asked + [
        Moment(row.confirmed_at, "confirmed", "", values)
        for row, values in zip(rows, facts, strict=True)
        if row.confirmed_at is not None
    ]


def _of_letters(session: Session, subscriber_id: int) -> list[Moment]:
    wanted = select(Letter).where(Letter.subscriber_id == subscriber_id).order_by(Letter.id.desc()).limit(LIMIT)
    return [
        Moment(row.sent_at or row.created_at, "letter", row.kind, {"state": row.state.value, "detail": row.detail})
        for row in session.scalars(wanted)
    ]


def _of_changes(session: Session, subscriber_id: int) -> list[Moment]:
    wanted = select(AddressChange).where(AddressChange.subscriber_id == subscriber_id)
    found = []
    for row in session.scalars(wanted.order_by(AddressChange.id.desc()).limit(LIMIT)):
        found.append(Moment(row.requested_at, "address_asked", "", {"email": row.email}))
        if row.confirmed_at is not None:
            values = {"email": row.email, "previous": row.previous_email}
            found.append(Moment(row.confirmed_at, "address_moved", "", values))
    return found


def _of_events(session: Session, subscriber_id: int) -> list[Moment]:
    """Those that are about no brief, and those of a brief that say more than that it arrived."""
    kind = type_coerce(Event.kind, String)
    wanted = select(Event).where(Event.subscriber_id == subscriber_id, kind.not_in(_ORDINARY))
    return [
        Moment(row.occurred_at, "event", row.kind.value, {"on": row.on, "detail": row.detail})
        for row in session.scalars(wanted.order_by(Event.occurred_at.desc()).limit(LIMIT))
    ]


_ORDINARY = (EventKind.PROCESSED.value, EventKind.DELIVERED.value)


def _of_acts(session: Session, subscriber_id: int) -> list[Moment]:
    return [
        Moment(row.acted_at, "act", row.kind.value, {"who": row.who, "outcome": row.outcome})
        for row in acts_of(session, f"subscriber {subscriber_id}", LIMIT)
    ]
