"""Provider events -> what they change: suppressions, endings, and deliveries whose answer was lost."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy.orm import Session

from digest.domain.event import PROVES_HAND_OVER, EventKind, ProviderEvent
from digest.domain.subscriber import SubscriberState
from digest.domain.suppression import Consequence, SoftBounces, SuppressionReason, consequence_of, meaning_of
from digest.store.database import Sessions
from digest.store.events import add_event, is_subscriber, settle_unknown, soft_bounced_mornings
from digest.store.subscribers import find, get, set_state, suppress
from digest.store.tables import Letter, Subscriber
from digest.store.windows import move_windows

LONGEST_KEY = 26
"""Our longest: an id of 17 digits, which every database can hold, and a date."""
USUAL = SoftBounces()


@dataclass(slots=True)
class Recorded:
    """How many events were new, known already, or of nobody we know."""

    new: int = 0
    known: int = 0
    strangers: int = 0


def record_events(
    sessions: Sessions, events: Iterable[ProviderEvent], received_at: datetime, rule: SoftBounces = USUAL
) -> Recorded:
    """Store each event once and let it act. Order, repeats and unknown ids do no harm; each event stands alone."""
    recorded = Recorded()
    for event in events:
        with sessions.begin() as session:
            _record(session, event, received_at, recorded, rule)
    return recorded


def _record(
    session: Session, event: ProviderEvent, received_at: datetime, recorded: Recorded, rule: SoftBounces
) -> None:
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
    subscriber = get(session, subscriber_id, lock=True)
    if subscriber is not None:
        _act(session, event, subscriber, event_id, received_at, rule)


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
        set_state(subscriber, SubscriberState.ENDED, now, follows.ends)


def _soft_mornings(session: Session, subscriber: Subscriber, now: datetime, rule: SoftBounces) -> int:
    since = max(now - rule.window, subscriber.active_from_at or subscriber.created_at)
    return soft_bounced_mornings(session, subscriber.id, since)


def _concerns(event: ProviderEvent, follows: Consequence, subscriber: Subscriber) -> bool:
    """A fact older than the reader's latest yes is an old one that came late; a complaint counts at any age."""
    joined = subscriber.active_from_at
    at_any_age = follows.bars is SuppressionReason.COMPLAINED
    return at_any_age or joined is None or event.occurred_at >= joined
