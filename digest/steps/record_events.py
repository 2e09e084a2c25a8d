"""Provider events -> what they change: suppressions, endings, and deliveries whose answer was lost."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy.orm import Session

from digest.domain.event import ENDS_SUBSCRIPTION, PROVES_HAND_OVER, SUPPRESSES, EventKind, ProviderEvent
from digest.domain.subscriber import SubscriberState
from digest.domain.suppression import SuppressionReason
from digest.store.database import Sessions
from digest.store.events import add_event, is_subscriber, settle_unknown
from digest.store.subscribers import find, get, set_state, suppress
from digest.store.tables import Letter, Subscriber
from digest.store.windows import move_windows

LONGEST_KEY = 26
"""Our longest: an id of 17 digits, which every database can hold, and a date."""


@dataclass(slots=True)
class Recorded:
    """How many events were new, known already, or of nobody we know."""

    new: int = 0
    known: int = 0
    strangers: int = 0


def record_events(sessions: Sessions, events: Iterable[ProviderEvent], received_at: datetime) -> Recorded:
    """Store each event once and let it act. Order, repeats and unknown ids do no harm; each event stands alone."""
    recorded = Recorded()
    for event in events:
        with sessions.begin() as session:
            _record(session, event, received_at, recorded)
    return recorded


def _record(session: Session, event: ProviderEvent, received_at: datetime, recorded: Recorded) -> None:
    subscriber_id, on = _whose(session, event)
    event_id = add_event(session, event, subscriber_id, on, received_at)
    if event_id is None:
        recorded.known += 1
        return
    recorded.new += 1
    if subscriber_id is None:
        recorded.strangers += 1
        return
    if on is not None and event.kind in PROVES_HAND_OVER:
        _settle(session, subscriber_id, on)
    _act(session, event, subscriber_id, event_id, received_at)


def _settle(session: Session, subscriber_id: int, on: date) -> None:
    edition = settle_unknown(session, subscriber_id, on)
    if edition is not None:
        move_windows(session, [subscriber_id], edition)


def _whose(session: Session, event: ProviderEvent) -> tuple[int | None, date | None]:
    """The reader and local date an event is about: by our own key, else by its address."""
    found = _read_key(session, event.recipient_key or "")
    if found is not None and is_subscriber(session, found[0]):
        return found
    subscriber = find(session, event.address) if event.address else None
    return (None if subscriber is None else subscriber.id), None


def _read_key(session: Session, key: str) -> tuple[int, date | None] | None:
    first, _, second = key.partition("-")
    if len(key) > LONGEST_KEY:
        return None
    if first == "letter" and second.isdecimal():
        letter = session.get(Letter, int(second))
        return None if letter is None else (letter.subscriber_id, None)
    if not (first.isdecimal() and second.isdecimal()):
        return None
    try:
        return int(first), date.fromisoformat(second)
    except ValueError:
        return None


def _act(session: Session, event: ProviderEvent, subscriber_id: int, event_id: int, now: datetime) -> None:
    reason = ENDS_SUBSCRIPTION.get(event.kind)
    subscriber = get(session, subscriber_id, lock=True)
    if reason is None or subscriber is None or not _concerns(event, subscriber):
        return
    if event.kind in SUPPRESSES:
        suppress(session, subscriber.email, SuppressionReason(reason.value), now, event_id)
    if subscriber.state is not SubscriberState.ENDED or event.kind is EventKind.COMPLAINED:
        set_state(subscriber, SubscriberState.ENDED, now, reason)


def _concerns(event: ProviderEvent, subscriber: Subscriber) -> bool:
    """An unsubscription older than the reader's latest yes is an old one that came late."""
    joined = subscriber.active_from_at
    return event.kind in SUPPRESSES or joined is None or event.occurred_at >= joined
