"""One reader, for whoever is asked about them: why each morning came out as it did, and all that happened."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from sqlalchemy.orm import Session

from digest.domain.event import EventKind
from digest.domain.explanation import MorningFacts, ReaderFacts, Why, explain
from digest.domain.schedule import Send, is_known_zone, local_today, send_on
from digest.domain.suppression import SuppressionReason
from digest.steps.read_subscribers import Reader, reader_of
from digest.store.database import Sessions
from digest.store.history import Given, Moment, deliveries_of, first_date, missed_mornings, moments_of, reports_of
from digest.store.sending import PAUSED
from digest.store.subscribers import bar_on, confirmed_consent, get
from digest.store.tables import Event, Subscriber, Switch

DAYS = 30
A_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Day:
    """One local date of a reader, with why it came out as it did."""

    on: date
    why: Why
    send: Send | None
    given: Given | None
    events: Sequence[Event] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Bar:
    """Why and since when an address is not written to."""

    reason: SuppressionReason
    since: datetime


@dataclass(frozen=True, slots=True)
class Agreed:
    """The consent in force."""

    source: str
    wording: str
    remote: str = field(repr=False)
    requested_at: datetime
    confirmed_at: datetime


@dataclass(frozen=True, slots=True)
class Explained:
    """Everything about one reader, for a page.

    Attributes:
        days: the newest first.
        before: the date to ask for the days before these.
    """

    reader: Reader
    created_at: datetime
    changed_at: datetime
    active_from_at: datetime | None
    bar: Bar | None
    consent: Agreed | None
    days: Sequence[Day]
    before: date
    moments: Sequence[Moment] = field(repr=False)


def explain_reader(
    sessions: Sessions, subscriber_id: int, now: datetime, until: date | None = None
) -> Explained | None:
    """A reader's mornings up to ``until`` (their tomorrow if not given); None where there is no such reader."""
    with sessions() as session:
        subscriber = get(session, subscriber_id)
        if subscriber is None:
            return None
        last = until or local_today(subscriber.cadence_row.timezone, now) + A_DAY
        bar = bar_on(session, subscriber.email)
        return Explained(
            reader=reader_of(session, subscriber, now),
            created_at=subscriber.created_at,
            changed_at=subscriber.changed_at,
            active_from_at=subscriber.active_from_at,
            bar=Bar(bar.reason, bar.created_at) if bar else None,
            consent=_consent(session, subscriber_id),
            days=_days(session, subscriber, last, now),
            before=last - A_DAY * DAYS,
            moments=moments_of(session, subscriber_id),
        )


def _consent(session: Session, subscriber_id: int) -> Agreed | None:
    row = confirmed_consent(session, subscriber_id)
    if row is None or row.confirmed_at is None:
        return None
    return Agreed(row.source, row.wording, row.remote, row.requested_at, row.confirmed_at)


def _days(session: Session, subscriber: Subscriber, last: date, now: datetime) -> list[Day]:
    first = last - A_DAY * (DAYS - 1)
    given = deliveries_of(session, subscriber.id, first, last)
    events = reports_of(session, subscriber.id, first, last)
    missed = missed_mornings(session, subscriber.cadence_id, first, last)
    facts, cadence = _facts(session, subscriber, now), subscriber.cadence_row.cadence
    known, found = is_known_zone(cadence.timezone), []
    for on in (last - A_DAY * number for number in range(DAYS)):
        row, reports = given.get(on), events.get(on, [])
        send = send_on(cadence, on) if known else None
        morning = MorningFacts(
            on=on,
            send=send,
            zone_is_known=known,
            status=row.status if row else None,
            reason=row.reason if row else None,
            events=frozenset(EventKind(event.kind) for event in reports),
            was_missed=on in missed,
        )
        found.append(Day(on, explain(facts, morning, now), send, row, reports))
    return found


def _facts(session: Session, subscriber: Subscriber, now: datetime) -> ReaderFacts:
    switch = session.get(Switch, PAUSED)
    return ReaderFacts(
        state=subscriber.state,
        reason=subscriber.reason,
        created_at=subscriber.created_at,
        changed_at=subscriber.changed_at,
        active_from_at=subscriber.active_from_at,
        kept_since=first_date(session) or now.date(),
        sending_paused_at=switch.changed_at if switch else None,
        is_barred=bar_on(session, subscriber.email) is not None,
    )
