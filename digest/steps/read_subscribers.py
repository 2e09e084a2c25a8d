"""A subscriber as pages, letters and commands show one."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from sqlalchemy.orm import Session

from digest.domain.language import Language, LanguageChoice
from digest.domain.schedule import Cadence, Send, is_known_zone, sends_from
from digest.domain.subscriber import EndReason, SubscriberState, topics_of
from digest.store.database import Sessions
from digest.store.ledger import dates_had
from digest.store.subscribers import find, get
from digest.store.tables import Subscriber

A_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Reader:
    """A subscriber as pages and letters show one."""

    id: int
    address: str = field(repr=False)
    state: SubscriberState
    reason: EndReason | None
    languages: LanguageChoice
    cadence: Cadence
    topics: tuple[str, ...]
    next_send: Send | None
    paused_until_on: date | None

    @property
    def language(self) -> Language:
        """The language to speak to them in."""
        return self.languages.language


def reader_of(session: Session, subscriber: Subscriber, now: datetime) -> Reader:
    """What may be shown of a subscriber, with the next send where one is due."""
    cadence = subscriber.cadence_row.cadence
    return Reader(
        id=subscriber.id,
        address=subscriber.email,
        state=subscriber.state,
        reason=subscriber.reason,
        languages=subscriber.languages,
        cadence=cadence,
        topics=topics_of(subscriber.topics),
        next_send=_next_send(session, subscriber, now) if is_known_zone(cadence.timezone) else None,
        paused_until_on=subscriber.paused_until_on,
    )


def _next_send(session: Session, subscriber: Subscriber, now: datetime) -> Send | None:
    """An active reader's next send, or a paused one's first after the pause; not for a date they had a brief for.

    Whoever moves west after today's brief is not due again when that hour comes round there: one local date, one brief.
    """
    until = subscriber.paused_until_on
    if subscriber.state is not SubscriberState.ACTIVE and until is None:
        return None
    had = dates_had(session, subscriber.id, now.date() - A_DAY)
    sends = (send for send in sends_from(subscriber.cadence_row.cadence, now) if send.on not in had)
    return next(send for send in sends if until is None or send.on >= until)


def find_reader(sessions: Sessions, subscriber_id: int, now: datetime) -> Reader | None:
    """The reader with this id."""
    with sessions() as session:
        subscriber = get(session, subscriber_id)
        return None if subscriber is None else reader_of(session, subscriber, now)


def find_by_address(sessions: Sessions, address: str, now: datetime) -> Reader | None:
    """The reader with this address, however it is spelled."""
    with sessions() as session:
        subscriber = find(session, address)
        return None if subscriber is None else reader_of(session, subscriber, now)
