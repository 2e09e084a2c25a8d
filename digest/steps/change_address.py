"""Another address for the same subscription: asked for on the settings page, agreed to by its owner, told to the old.

Nobody learns from an answer whether the other address is known; a letter goes out where its owner may be asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from digest.domain.address import address_key
from digest.domain.subscriber import SubscriberState
from digest.domain.suppression import may_ask_again
from digest.rendering.letters import AddressChange as AskLetter
from digest.rendering.letters import AddressChanged as TellLetter
from digest.steps.read_subscribers import Reader, reader_of
from digest.store.addresses import changes_asked, newest_change
from digest.store.database import Sessions
from digest.store.letters import add_letter
from digest.store.subscribers import bar_on, find, get, release
from digest.store.tables import AddressChange, Subscriber

PER_HOUR, PER_DAY = 3, 6
"""Changes that one reader may ask for."""
READING = frozenset({SubscriberState.ACTIVE, SubscriberState.PAUSED})


def ask_new_address(
    sessions: Sessions, subscriber_id: int, address: str, hashes: Sequence[str], now: datetime
) -> list[int]:
    """Ask the owner of another address whether the reader's briefs may go there; returns the ids of letters owed.

    Args:
        address: as :func:`digest.steps.check_address.check_address` returned it.
        hashes: its keyed hashes, see ``Application.address_hashes``.
    """
    with sessions.begin() as session:
        subscriber = get(session, subscriber_id, lock=True)
        if subscriber is None or subscriber.state not in READING or _asked_enough(session, subscriber, now):
            return []
        change = AddressChange(
            subscriber_id=subscriber.id, email=address, previous_email=subscriber.email, requested_at=now
        )
        session.add(change)
        if not _may_move(session, subscriber, address, hashes, now):
            return []
        change.asked_letter_id = add_letter(session, AskLetter.kind, subscriber, now)
        return [change.asked_letter_id]


def _asked_enough(session: Session, subscriber: Subscriber, now: datetime) -> bool:
    return (
        changes_asked(session, subscriber.id, now - timedelta(hours=1)) >= PER_HOUR
        or changes_asked(session, subscriber.id, now - timedelta(days=1)) >= PER_DAY
    )


def _may_move(session: Session, subscriber: Subscriber, address: str, hashes: Sequence[str], now: datetime) -> bool:
    """Whether the address is free: another one, not barred for now, and nobody reads there already."""
    if address_key(address) == subscriber.email_key:
        return False
    bar, other = bar_on(session, address, hashes), find(session, address)
    barred = bar is not None and not may_ask_again(bar.reason, bar.created_at, now)
    return not barred and (other is None or other.state not in READING)


@dataclass(frozen=True, slots=True)
class Move:
    """What a link about a change of address is worth now.

    Attributes:
        status: ``waiting`` for the button, ``moved`` just now or before, ``gone``: something newer holds, or the
            address is taken.
        address: where briefs go once it is done.
    """

    status: str
    reader: Reader | None = None
    address: str = ""
    letters: tuple[int, ...] = ()


def look_up_move(sessions: Sessions, change_id: int, now: datetime) -> Move:
    """What the page behind the link in the letter to the new address shows; changes nothing."""
    with sessions() as session:
        change = session.get(AddressChange, change_id)
        subscriber = get(session, change.subscriber_id) if change else None
        return _move_of(session, change, subscriber, now)


def _move_of(session: Session, change: AddressChange | None, subscriber: Subscriber | None, now: datetime) -> Move:
    if change is None or subscriber is None:
        return Move("gone")
    reader = reader_of(session, subscriber, now)
    if change.confirmed_at is not None:
        return Move("moved" if address_key(change.email) == subscriber.email_key else "gone", reader, change.email)
    holds = newest_change(session, subscriber.id) is change and subscriber.state in READING
    free = change.asked_letter_id is not None and _may_move(session, subscriber, change.email, (), now)
    return Move("waiting" if holds and free else "gone", reader, change.email)


def move(sessions: Sessions, change_id: int, now: datetime) -> Move:
    """The new owner's yes: briefs go there from now on, and the former address is told."""
    with sessions.begin() as session:
        change = session.get(AddressChange, change_id)
        subscriber = get(session, change.subscriber_id, lock=True) if change else None
        found = _move_of(session, change, subscriber, now)
        if change is None or subscriber is None or found.status != "waiting":
            return found
        _write_to(session, subscriber, change.email)
        change.confirmed_at = now
        change.told_letter_id = add_letter(session, TellLetter.kind, subscriber, now)
        return Move("moved", reader_of(session, subscriber, now), change.email, (change.told_letter_id,))


def _write_to(session: Session, subscriber: Subscriber, address: str) -> None:
    """Change the address; who only waits for confirmation there, or has left, makes room."""
    other = find(session, address, lock=True)
    if other is not None and other.id != subscriber.id:
        session.delete(other)
        session.flush()
    release(session, address)
    subscriber.email, subscriber.email_key = address, address_key(address)
    session.flush()


def look_up_return(sessions: Sessions, change_id: int, now: datetime) -> Move:
    """What the page behind the link in the letter to the former address shows; changes nothing."""
    with sessions() as session:
        change = session.get(AddressChange, change_id)
        subscriber = get(session, change.subscriber_id) if change else None
        return _return_of(session, change, subscriber, now)


def _return_of(session: Session, change: AddressChange | None, subscriber: Subscriber | None, now: datetime) -> Move:
    if change is None or subscriber is None or change.confirmed_at is None:
        return Move("gone")
    reader, former = reader_of(session, subscriber, now), change.previous_email
    if address_key(former) == subscriber.email_key:
        return Move("moved", reader, former)
    return Move("waiting" if _may_move(session, subscriber, former, (), now) else "gone", reader, former)


def move_back(sessions: Sessions, change_id: int, now: datetime) -> Move:
    """The former owner's no: briefs go there again, whatever was changed since; links asked for by then are void."""
    with sessions.begin() as session:
        change = session.get(AddressChange, change_id)
        subscriber = get(session, change.subscriber_id, lock=True) if change else None
        found = _return_of(session, change, subscriber, now)
        if change is None or subscriber is None or found.status != "waiting":
            return found
        back = AddressChange(
            subscriber_id=subscriber.id,
            email=change.previous_email,
            previous_email=subscriber.email,
            requested_at=now,
            confirmed_at=now,
        )
        session.add(back)
        _write_to(session, subscriber, change.previous_email)
        return Move("moved", reader_of(session, subscriber, now), change.previous_email)
