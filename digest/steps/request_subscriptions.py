"""Asking for a subscription: a request is kept, and its owner is asked by e-mail. Everything here is safe to repeat."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from digest.domain.language import LanguageChoice
from digest.domain.schedule import Cadence
from digest.domain.subscriber import SubscriberState
from digest.domain.suppression import may_ask_again
from digest.store.cadences import cadence_id, cadence_values
from digest.store.database import Sessions
from digest.store.letters import add_letter, was_written
from digest.store.sign_ups import add_at_once, add_question, add_stranger, why_barred
from digest.store.subscribers import Wishes, apply_wishes, find, recent_consents
from digest.store.tables import Consent, Subscriber

CONFIRMATIONS_PER_HOUR = 3
CONFIRMATIONS_PER_DAY = 6
NOTICE_EVERY = timedelta(hours=24)
"""How often at most a reader gets a letter of one kind by what anybody can do who knows an address or has a link."""
CONFIRMABLE = frozenset({SubscriberState.PENDING, SubscriberState.ENDED})


@dataclass(frozen=True, slots=True)
class Request:
    """A sign-up as checked at the edge.

    Attributes:
        address: as :func:`digest.steps.check_address.check_address` returned it.
        topics: a key made by :func:`digest.domain.subscriber.topics_key`.
        source: where it came from: ``form``, ``api``, ``embed``.
        wording: version of the words the reader saw.
        remote: the network address it came from.
    """

    address: str = field(repr=False)
    languages: LanguageChoice
    cadence: Cadence
    topics: str = ""
    source: str = "form"
    wording: str = ""
    remote: str = ""


def request_subscription(sessions: Sessions, request: Request, hashes: Sequence[str], now: datetime) -> list[int]:
    """Ask the owner of the address whether they want the brief; returns the ids of letters owed.

    The caller answers the visitor the same whatever happens here, so that nobody learns who subscribes. An active
    reader gets a note at most; a barred address gets nothing until it may be asked again (see
    :func:`digest.domain.suppression.may_ask_again`); anyone else a confirmation, a few an hour and day.
    """
    with sessions() as session:
        letter = add_at_once(session, request.address, hashes, _columns(request), now)
    if letter is not None:
        return [letter]
    with sessions.begin() as session:
        bar = why_barred(session, request.address, hashes)
        if bar is not None and not may_ask_again(bar.reason, bar.created_at, now):
            return []
        wishes = Wishes(request.languages, cadence_id(session, request.cadence, now), request.topics)
        new_id = add_stranger(session, request.address, wishes, now)
        if new_id is not None:
            return [_ask(session, new_id, request, wishes, now)]
        return _ask_known(session, request, wishes, now)


def _columns(request: Request) -> dict[str, Any]:
    names = ("languages", "topics", "source", "wording", "remote")
    return {name: getattr(request, name) for name in names} | cadence_values(request.cadence)


def _ask_known(session: Session, request: Request, wishes: Wishes, now: datetime) -> list[int]:
    subscriber = find(session, request.address, lock=True)
    if subscriber is None:
        raise LookupError("a subscriber who was there a moment ago is gone")
    if subscriber.state not in CONFIRMABLE:
        if was_written(session, "already_subscribed", subscriber.id, now - NOTICE_EVERY):
            return []
        return [add_letter(session, "already_subscribed", subscriber, now)]
    if asked_enough(session, subscriber, now):
        return []
    if subscriber.state is SubscriberState.PENDING:
        apply_wishes(subscriber, wishes, now)
    return [_ask(session, subscriber.id, request, wishes, now)]


def _ask(session: Session, subscriber_id: int, request: Request, wishes: Wishes, now: datetime) -> int:
    consent = {
        "subscriber_id": subscriber_id,
        "source": request.source,
        "wording": request.wording,
        "remote": request.remote,
        "language": wishes.languages,
        "cadence_id": wishes.cadence_id,
        "topics": wishes.topics,
    }
    return add_question(session, consent, now)


def asked_enough(session: Session, subscriber: Subscriber, now: datetime) -> bool:
    """Whether this address got as many confirmations lately as anybody may have it sent."""
    return (
        recent_consents(session, subscriber.id, now - timedelta(hours=1)) >= CONFIRMATIONS_PER_HOUR
        or recent_consents(session, subscriber.id, now - timedelta(days=1)) >= CONFIRMATIONS_PER_DAY
    )


def ask_again(session: Session, subscriber: Subscriber, consent: Consent, now: datetime) -> list[int]:
    """A new request with what an old one says, and the letter for it."""
    if asked_enough(session, subscriber, now):
        return []
    names = ("subscriber_id", "source", "wording", "remote", "cadence_id", "topics")
    copy = {name: getattr(consent, name) for name in names} | {"language": consent.languages}
    return [add_question(session, copy, now)]
