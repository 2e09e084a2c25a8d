"""Provider events -> what they change: suppressions, endings, and deliveries whose answer was lost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from digest.domain.address import address_key
from digest.domain.event import PROVES_HAND_OVER, EventKind, ProviderEvent
from digest.domain.subscriber import SubscriberState
from digest.domain.suppression import Consequence, SoftBounces, SuppressionReason, consequence_of, meaning_of
from digest.store.addresses import address_at, address_of_letter, handed_over_at, moved_at
from digest.store.database import Sessions
from digest.store.events import (
    add_event,
    is_subscriber,
    newest_given,
    settle_taken,
    soft_bounced_mornings,
)
from digest.store.subscribers import find, get, set_state, suppress
from digest.store.tables import Letter, Subscriber
from digest.store.windows import move_windows

LONGEST_KEY = 26
"""Our longest: an id of 17 digits, which every database can hold, and a date."""
USUAL = SoftBounces()
AT_ONCE = 200
"""Events of one transaction; a commit costs more than all that an event usually does."""


@dataclass(slots=True)
class Recorded:
    """How many events were new, known already, or of nobody we know; and the faults of those that weren't recorded."""

    new: int = 0
    known: int = 0
    strangers: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, other: "Recorded") -> None:
        """Count in what another recording did."""
        self.new, self.known = self.new + other.new, self.known + other.known
        self.strangers += other.strangers
        self.faults += other.faults


def record_events(
    sessions: Sessions, events: Iterable[ProviderEvent], received_at: datetime, rule: SoftBounces = USUAL
) -> Recorded:
    """Store each event once and let it act. Order, repeats and unknown ids do no harm; each event stands alone.

    Raises:
        OperationalError: the database is away. Nothing is lost by giving all of them again.
    """
    recorded, everything = Recorded(), list(events)
    for start in range(0, len(everything), AT_ONCE):
        recorded.add(_record_some(sessions, everything[start : start + AT_ONCE], received_at, rule))
    return recorded


def _record_some(
    sessions: Sessions, events: Sequence[ProviderEvent], received_at: datetime, rule: SoftBounces
) -> Recorded:
    """All in one transaction; where one of them is at fault, each in its own, so that the others are recorded."""
    together = Recorded()
    try:
        with sessions.begin() as session:
            for event in events:
                _record(session, event, received_at, together, rule)
    except Exception as error:  # noqa: BLE001 - whatever an event may hold, it is that event's fault alone
        if len(events) == 1:
            return _fault(error)
        together = Recorded()
        for event in events:
            together.add(_record_some(sessions, [event], received_at, rule))
    return together


def _fault(error: Exception) -> Recorded:
    if isinstance(error, OperationalError):
        raise error
    return Recorded(faults=[type(error).__name__])


@dataclass(frozen=True, slots=True)
class _Whose:
    """The reader and local date an event is about.

    Attributes:
        letter: the letter it is about, if it is about one.
        is_told: by our own key, which came back; else the date is that of the newest brief sent to the address by then.
    """

    subscriber_id: int | None = None
    on: date | None = None
    letter: Letter | None = None
    is_told: bool = True


def _record(
    session: Session, event: ProviderEvent, received_at: datetime, recorded: Recorded, rule: SoftBounces
) -> None:
    whose = _whose(session, event)
    event_id = add_event(session, event, whose.subscriber_id, whose.on, received_at)
    if event_id is None:
        recorded.known += 1
        return
    recorded.new += 1
    if whose.subscriber_id is None:
        recorded.strangers += 1
        return
    if whose.on is not None and whose.is_told and event.kind in PROVES_HAND_OVER:
        _settle(session, whose.subscriber_id, whose.on)
    if not _may_act(meaning_of(event.kind, event.detail), rule):
        return
    subscriber = get(session, whose.subscriber_id, lock=True)
    if subscriber is not None:
        address = _written_to(session, event, subscriber, whose)
        if address_key(address) == subscriber.email_key:
            _act(session, event, subscriber, event_id, received_at, rule)
        else:
            _act_elsewhere(session, event, address, event_id, received_at, rule)


def _written_to(session: Session, event: ProviderEvent, subscriber: Subscriber, whose: _Whose) -> str:
    """The address that the event is about: the reader may have moved since, or has not moved yet."""
    if whose.letter is not None:
        return address_of_letter(session, subscriber, whose.letter.id, whose.letter.created_at)
    sent_at = handed_over_at(session, subscriber, whose.on) if whose.on else None
    return address_at(session, subscriber, sent_at or event.occurred_at)


def _act_elsewhere(
    session: Session, event: ProviderEvent, address: str, event_id: int, now: datetime, rule: SoftBounces
) -> None:
    """What happened at an address that is not the reader's, any more or yet, bars that one; the reader reads on."""
    follows = consequence_of(meaning_of(event.kind, event.detail), 0, rule)
    if follows is not None and follows.bars is not None:
        suppress(session, address, follows.bars, now, event_id)


def _may_act(kind: EventKind, rule: SoftBounces) -> bool:
    """Whether anything can follow for the reader; only then is their row locked."""
    return kind is EventKind.SOFT_BOUNCED or consequence_of(kind, 0, rule) is not None


def _settle(session: Session, subscriber_id: int, on: date) -> None:
    edition = settle_taken(session, subscriber_id, on)
    if edition is not None:
        move_windows(session, [subscriber_id], edition)


def _whose(session: Session, event: ProviderEvent) -> _Whose:
    """By our own key, else by the address: a bounce that comes long after the message has lost its ids."""
    found = _read_key(session, event.recipient_key or "")
    if found is not None and found.subscriber_id is not None and is_subscriber(session, found.subscriber_id):
        return found
    subscriber = find(session, event.address) if event.address else None
    if subscriber is None:
        return _Whose()
    return _Whose(subscriber.id, newest_given(session, subscriber.id, event.occurred_at), is_told=False)


def _read_key(session: Session, key: str) -> _Whose | None:
    first, _, second = key.partition("-")
    if len(key) > LONGEST_KEY:
        return None
    if first == "letter" and second.isdecimal():
        letter = session.get(Letter, int(second))
        return None if letter is None else _Whose(letter.subscriber_id, letter=letter)
    if first == "reader" and second.isdecimal():
        return _Whose(int(second))
    if not (first.isdecimal() and second.isdecimal()):
        return None
    try:
        return _Whose(int(first), date.fromisoformat(second))
    except ValueError:
        return None


def _act(  # a fact, whom it is about, and what it takes to judge it
    session: Session,
    event: ProviderEvent,
    subscriber: Subscriber,
    event_id: int,
    now: datetime,
    rule: SoftBounces,
) -> None:
    kind = meaning_of(event.kind, event.detail)
    mornings = _soft_mornings(session, subscriber, now, rule) if kind is EventKind.SOFT_BOUNCED else 0
    follows = consequence_of(kind, mornings, rule)
    if follows is None or not _concerns(event, follows, subscriber):
        return
    if follows.bars is not None:
        suppress(session, subscriber.email, follows.bars, now, event_id)
    if subscriber.state is not SubscriberState.ENDED or kind is EventKind.COMPLAINED:
        set_state(session, subscriber, SubscriberState.ENDED, now, follows.ends)


def _soft_mornings(session: Session, subscriber: Subscriber, now: datetime, rule: SoftBounces) -> int:
    moved = moved_at(session, subscriber.id) or subscriber.created_at
    since = max(now - rule.window, subscriber.active_from_at or subscriber.created_at, moved)
    return soft_bounced_mornings(session, subscriber.id, since)


def _concerns(event: ProviderEvent, follows: Consequence, subscriber: Subscriber) -> bool:
    """A fact older than the reader's latest yes is an old one that came late; a complaint counts at any age."""
    joined = subscriber.active_from_at
    at_any_age = follows.bars is SuppressionReason.COMPLAINED
    return at_any_age or joined is None or event.occurred_at >= joined
