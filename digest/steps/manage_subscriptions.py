"""Confirm, change, pause, leave and come back. Everything here is safe to repeat."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice

from sqlalchemy.orm import Session

from digest.domain.edition import Policy, last_cut_off
from digest.domain.language import Language, LanguageChoice
from digest.domain.schedule import Cadence, is_known_zone, sends_from
from digest.domain.subscriber import EndReason, LeaveReason, SubscriberState
from digest.domain.suppression import may_ask_again
from digest.rendering.letters import Back, Paused, PreferencesLink
from digest.steps.read_subscribers import Reader, reader_of
from digest.steps.request_subscriptions import NOTICE_EVERY
from digest.store.cadences import cadence_id
from digest.store.database import Sessions
from digest.store.letters import add_letter, was_written
from digest.store.subscribers import (
    Wishes,
    apply_wishes,
    bar_on,
    confirmed_consent,
    find,
    get,
    last_window_ends,
    release,
    set_state,
    withdraw_planned,
)
from digest.store.tables import Consent, Subscriber

USUAL = Policy()
BARRED = frozenset({EndReason.BOUNCED, EndReason.COMPLAINED})


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What a confirm link is worth now.

    Attributes:
        status: ``confirmed`` just now, ``already`` subscribed, ``waiting`` for the button, ``asked`` once more, or
            ``gone``: the reader left since, or the row is no more, and has to sign up again.
    """

    status: str
    language: Language
    reader: Reader | None
    letters: tuple[int, ...] = ()


def look_up_confirmation(sessions: Sessions, consent_id: int, now: datetime) -> Confirmation:
    """What the confirm page shows; changes nothing (link scanners open every link)."""
    with sessions() as session:
        return confirmation_of(session, session.get(Consent, consent_id), now)


def confirmation_of(session: Session, consent: Consent | None, now: datetime) -> Confirmation:
    """What a consent's link is worth."""
    subscriber = get(session, consent.subscriber_id) if consent else None
    if consent is None or subscriber is None:
        return Confirmation("gone", Language.ENGLISH, None)
    reader = reader_of(session, subscriber, now)
    if subscriber.state in {SubscriberState.ACTIVE, SubscriberState.PAUSED}:
        return Confirmation("already", subscriber.language, reader)
    gone = consent.confirmed_at is not None or not _is_fresh(session, consent, subscriber, now)
    return Confirmation("gone" if gone else "waiting", consent.language, reader)


def _is_fresh(session: Session, consent: Consent, subscriber: Subscriber, now: datetime) -> bool:
    """Whether a yes to this request counts: one from before a bounce or complaint doesn't, nor one while barred."""
    bar = bar_on(session, subscriber.email)
    barred = bar is not None and not may_ask_again(bar.reason, bar.created_at, now)
    return not barred and (subscriber.reason not in BARRED or consent.requested_at > subscriber.changed_at)


def confirm(sessions: Sessions, consent_id: int, now: datetime, policy: Policy = USUAL) -> Confirmation:
    """The reader's yes: the subscription becomes active with the wishes of that request, and a welcome is owed.

    The welcome brings what this reader would have read by now; their first brief goes on from there.
    """
    with sessions.begin() as session:
        consent = session.get(Consent, consent_id)
        subscriber = get(session, consent.subscriber_id, lock=True) if consent else None
        found = confirmation_of(session, consent, now)
        if consent is None or subscriber is None or found.status != "waiting":
            return found
        consent.confirmed_at = now
        apply_wishes(subscriber, Wishes(consent.languages, consent.cadence_id, consent.topics), now)
        set_state(session, subscriber, SubscriberState.ACTIVE, now)
        release(session, subscriber.email)
        session.flush()
        session.refresh(subscriber, ["cadence_row"])
        subscriber.active_from_at = now
        subscriber.window_start_at = _begin(subscriber, now, policy)
        letter = add_letter(session, "welcome", subscriber, now, consent)
        return Confirmation("confirmed", subscriber.language, reader_of(session, subscriber, now), (letter,))


def unsubscribe(
    sessions: Sessions, subscriber_id: int, now: datetime, *, reason: EndReason = EndReason.UNSUBSCRIBED
) -> tuple[Reader | None, list[int]]:
    """End the subscription; returns the reader (None when the row is gone) and the letters owed.

    Repeats change nothing: the first time and reason stay, and no second goodbye is written.
    """
    with sessions.begin() as session:
        subscriber = get(session, subscriber_id, lock=True)
        if subscriber is None:
            return None, []
        if subscriber.state is SubscriberState.ENDED:
            return reader_of(session, subscriber, now), []
        set_state(session, subscriber, SubscriberState.ENDED, now, reason)
        letters = [add_letter(session, "goodbye", subscriber, now)] if reason is EndReason.UNSUBSCRIBED else []
        return reader_of(session, subscriber, now), letters


def tell_why(sessions: Sessions, subscriber_id: int, why: LeaveReason, now: datetime) -> Reader | None:
    """Keep what a reader who left says about it; the last word counts, and nobody has to say any.

    Returns:
        the reader; None when the row is gone.
    """
    with sessions.begin() as session:
        subscriber = get(session, subscriber_id, lock=True)
        if subscriber is None:
            return None
        if subscriber.reason is EndReason.UNSUBSCRIBED:
            subscriber.left_because = why
        return reader_of(session, subscriber, now)


def unsubscribe_address(sessions: Sessions, address: str, now: datetime) -> Reader | None:
    """End the subscription of an address, however it is spelled, on the operator's word."""
    with sessions() as session:
        found = find(session, address)
    return None if found is None else unsubscribe(sessions, found.id, now)[0]


def come_back(sessions: Sessions, subscriber_id: int, now: datetime) -> Reader | None:
    """Undo an unsubscription from the reader's own signed link; other endings, or a missing yes, can't be undone so."""

    def undo(session: Session, subscriber: Subscriber) -> None:
        agreed = confirmed_consent(session, subscriber.id) is not None
        barred = bar_on(session, subscriber.email) is not None
        if subscriber.reason is EndReason.UNSUBSCRIBED and agreed and not barred:
            set_state(session, subscriber, SubscriberState.ACTIVE, now)
            subscriber.active_from_at = now
            subscriber.window_start_at = last_window_ends(session, [subscriber.id]).get(subscriber.id, now)

    return _change(sessions, subscriber_id, now, undo)


def change_wishes(
    sessions: Sessions, subscriber_id: int, languages: LanguageChoice, cadence: Cadence, topics: str, now: datetime
) -> Reader | None:
    """What, when and in which language the reader wants from now on.

    A brief that is planned but may not leave yet is taken back; the next one begins where the last one ended.
    """

    def change(session: Session, subscriber: Subscriber) -> None:
        wishes = Wishes(languages, cadence_id(session, cadence, now), topics)
        give_wishes(session, [(subscriber, wishes)], now)

    return _change(sessions, subscriber_id, now, change)


def give_wishes(session: Session, wanted: Sequence[tuple[Subscriber, Wishes]], now: datetime) -> None:
    """Give locked readers their new wishes, by the rule of :func:`change_wishes`; however many, in a few statements."""
    changed = [each for each in wanted if each[1] != Wishes(each[0].languages, each[0].cadence_id, each[0].topics)]
    reading = [one for one, _ in changed if one.state is SubscriberState.ACTIVE]
    starts = _read_until(session, reading)
    for one, wishes in changed:
        apply_wishes(one, wishes, now)
    for one in reading:
        one.window_start_at = starts[one.id]
    session.flush()
    if reading:
        withdraw_planned(session, [one.id for one in reading], now)


def _read_until(session: Session, readers: Sequence[Subscriber]) -> dict[int, datetime]:
    """Where each reader's next brief has to begin, however their settings change.

    Whoever never had one begins where their first was to begin: mornings without news leave nothing to go by.
    """
    ends = last_window_ends(session, [one.id for one in readers if one.window_start_at is None])
    return {
        one.id: one.window_start_at or ends.get(one.id) or _begin(one, one.active_from_at or one.created_at, USUAL)
        for one in readers
    }


def _begin(subscriber: Subscriber, joined: datetime, policy: Policy) -> datetime:
    """Where the first brief of a reader who joined then begins."""
    cadence = subscriber.cadence_row.cadence
    return last_cut_off(cadence, joined, policy) if is_known_zone(cadence.timezone) else joined


def pause(sessions: Sessions, subscriber_id: int, until_on: date, now: datetime) -> Reader | None:
    """No brief before local date ``until_on``; an active reader only. A letter says so, where it is worth one."""

    def hold(session: Session, subscriber: Subscriber) -> None:
        if subscriber.state not in {SubscriberState.ACTIVE, SubscriberState.PAUSED}:
            return
        is_news = until_on != subscriber.paused_until_on
        start = _read_until(session, [subscriber])[subscriber.id]
        set_state(session, subscriber, SubscriberState.PAUSED, now)
        subscriber.paused_until_on, subscriber.window_start_at = until_on, start
        if is_news:
            _tell_of_pause(session, Paused.kind, subscriber, until_on, now)

    return _change(sessions, subscriber_id, now, hold)


def resume(sessions: Sessions, subscriber_id: int, now: datetime) -> Reader | None:
    """End a pause at once, and say so like :func:`pause`; one that runs out ends in a brief, which says enough."""

    def go_on(session: Session, subscriber: Subscriber) -> None:
        until_on = subscriber.paused_until_on
        if subscriber.state is not SubscriberState.PAUSED or until_on is None:
            return
        set_state(session, subscriber, SubscriberState.ACTIVE, now)
        subscriber.active_from_at = now
        _tell_of_pause(session, Back.kind, subscriber, until_on, now)

    return _change(sessions, subscriber_id, now, go_on)


def _tell_of_pause(session: Session, kind: str, subscriber: Subscriber, until_on: date, now: datetime) -> None:
    """Owe a letter about a pause that holds back more than the next brief, one of a kind a day at most.

    The page that pauses opens from a forwarded brief, too; nobody can fill the reader's mailbox from there.
    """
    cadence = subscriber.cadence_row.cadence
    if not is_known_zone(cadence.timezone) or was_written(session, kind, subscriber.id, now - NOTICE_EVERY):
        return
    _, second = islice(sends_from(cadence, now), 2)
    if second.on < until_on:
        add_letter(session, kind, subscriber, now)


def send_preferences_link(sessions: Sessions, address: str, now: datetime) -> Reader | None:
    """Owe the owner of this address, however it is spelled, the link to their settings; for who lost every brief.

    Returns:
        the reader; None where no subscription of that address goes on. The link itself is in the letter alone.
    """
    with sessions.begin() as session:
        found = find(session, address)
        if found is None or found.state not in {SubscriberState.ACTIVE, SubscriberState.PAUSED}:
            return None
        add_letter(session, PreferencesLink.kind, found, now)
        return reader_of(session, found, now)


def _change(
    sessions: Sessions, subscriber_id: int, now: datetime, act: Callable[[Session, Subscriber], None]
) -> Reader | None:
    with sessions.begin() as session:
        subscriber = get(session, subscriber_id, lock=True)
        if subscriber is None:
            return None
        act(session, subscriber)
        session.flush()
        session.refresh(subscriber, ["cadence_row"])
        return reader_of(session, subscriber, now)
