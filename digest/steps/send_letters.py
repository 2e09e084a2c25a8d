"""Letters that people wait for -> the provider."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session, joinedload

from digest.domain.address import masked
from digest.domain.delivery import BatchState
from digest.domain.schedule import is_known_zone, next_send, zone_of
from digest.domain.subscriber import SubscriberState, topics_of
from digest.links import Links
from digest.ports import HandOver, Message, Provider, Recipient
from digest.rendering.letters import (
    AddressChange,
    AddressChanged,
    AlreadySubscribed,
    Back,
    Confirm,
    ExportReady,
    Goodbye,
    Paused,
    PreferencesLink,
    Welcome,
    render_letter,
)
from digest.rendering.letters import Letter as Words
from digest.steps.compile_briefs import Press
from digest.steps.read_briefs import latest_stories
from digest.steps.read_subscribers import reader_of
from digest.steps.record_refusals import record_refusals
from digest.steps.send_batches import wait_asked
from digest.store.addresses import address_of_letter, change_asked_by, change_told_by
from digest.store.database import Sessions
from digest.store.letters import claim_letter
from digest.store.tables import Letter, Subscriber

LEASE = timedelta(minutes=5)
MOST_ATTEMPTS = 8
FIRST_WAIT = timedelta(seconds=10)
PAUSE_STATES = {Paused.kind: SubscriberState.PAUSED, Back.kind: SubscriberState.ACTIVE}


def letter_key(letter_id: int) -> str:
    """The name of a letter towards a provider."""
    return f"letter-{letter_id}"


@dataclass(frozen=True, slots=True)
class _Ready:
    message: Message
    recipient: Recipient


def send_letter(
    sessions: Sessions, provider: Provider, press: Press, letter_id: int, now: datetime
) -> BatchState | None:
    """Write and hand over one letter; returns its state, None when another worker has it."""
    with sessions.begin() as session:
        letter = claim_letter(session, letter_id, now, LEASE)
    if letter is None:
        return None
    with sessions() as session:
        ready = _write(session, press, letter, now)
    if ready is None:
        return _record(sessions, letter, HandOver(), BatchState.SKIPPED, now)
    given = provider.hand_over(ready.message, [ready.recipient], now)
    record_refusals(sessions, provider.name, given.refused, now)
    return _record(sessions, letter, given, _state(letter, given), now)


def _write(session: Session, press: Press, letter: Letter, now: datetime) -> _Ready | None:
    """The letter as it stands now; None when its reader is gone or it no longer applies."""
    subscriber = session.get(Subscriber, letter.subscriber_id, options=[joinedload(Subscriber.cadence_row)])
    if subscriber is None:
        return None
    words = _words(session, press, letter, subscriber, now)
    if words is None:
        return None
    key = letter_key(letter.id)
    message = render_letter(press.templates, press.links, press.site, key=key, language=letter.language, letter=words)
    leave = words.unsubscribe_url if isinstance(words, Welcome) else None
    about_change = isinstance(words, AddressChange | AddressChanged)
    address = address_of_letter(session, subscriber, letter.id, now) if about_change else subscriber.email
    return _Ready(message, Recipient(key=key, address=address, unsubscribe_url=leave))


def _words(session: Session, press: Press, letter: Letter, subscriber: Subscriber, now: datetime) -> Words | None:
    links, of = press.links, subscriber.id
    if letter.kind == Confirm.kind and letter.consent_id is not None:
        return Confirm(links.confirm(letter.consent_id, letter.created_at), links.confirm_for.days)
    if letter.kind == Goodbye.kind:
        return Goodbye(links.unsubscribe(of))
    if letter.kind == Welcome.kind and subscriber.state is SubscriberState.ACTIVE:
        return _welcome(session, press, subscriber, now)
    if letter.kind in {AddressChange.kind, AddressChanged.kind}:
        return _about_change(session, links, letter)
    return _about_settings(session, links, letter, subscriber, now)


def _about_settings(
    session: Session, links: Links, letter: Letter, subscriber: Subscriber, now: datetime
) -> AlreadySubscribed | PreferencesLink | ExportReady | Paused | Back | None:
    """The letters that bring a reader a link of their own, as long as they are one."""
    if subscriber.state is SubscriberState.ENDED:
        return None
    if letter.kind == ExportReady.kind:
        return ExportReady(links.export(subscriber.id, now), links.export_for.days)
    if letter.kind in PAUSE_STATES:
        return _about_pause(session, links, letter, subscriber, now)
    url = links.preferences(subscriber.id)
    if letter.kind == PreferencesLink.kind:
        return PreferencesLink(url)
    return AlreadySubscribed(url) if letter.kind == AlreadySubscribed.kind else None


def _about_pause(
    session: Session, links: Links, letter: Letter, subscriber: Subscriber, now: datetime
) -> Paused | Back | None:
    """The letter on a pause or its end; none where the reader has changed their mind meanwhile."""
    send = reader_of(session, subscriber, now).next_send
    if subscriber.state is not PAUSE_STATES[letter.kind] or send is None:
        return None
    zone = subscriber.cadence_row.cadence.timezone
    words = Paused if letter.kind == Paused.kind else Back
    return words(send.at.astimezone(zone_of(zone)), zone, links.preferences(subscriber.id))


def _about_change(session: Session, links: Links, letter: Letter) -> AddressChange | AddressChanged | None:
    if letter.kind == AddressChange.kind:
        return _address_change(session, links, letter)
    return _address_changed(session, links, letter) if letter.kind == AddressChanged.kind else None


def _address_change(session: Session, links: Links, letter: Letter) -> AddressChange | None:
    """The question to the owner of a new address; none once it has been answered."""
    change = change_asked_by(session, letter.id)
    if change is None or change.confirmed_at is not None:
        return None
    return AddressChange(links.new_address(change.id, change.requested_at), links.confirm_for.days)


def _address_changed(session: Session, links: Links, letter: Letter) -> AddressChanged | None:
    change = change_told_by(session, letter.subscriber_id, letter.id)
    if change is None or change.confirmed_at is None:
        return None
    back = links.former_address(change.id, change.confirmed_at)
    return AddressChanged(masked(change.email), back, links.return_for.days)


def _welcome(session: Session, press: Press, subscriber: Subscriber, now: datetime) -> Welcome | None:
    """The welcome; none where the zone has no rules, since it promises the first brief."""
    cadence = subscriber.cadence_row.cadence
    if not is_known_zone(cadence.timezone):
        return None
    zone = zone_of(cadence.timezone)
    joined = subscriber.active_from_at or subscriber.created_at
    read_until = subscriber.window_start_at or joined
    return Welcome(
        next_send=next_send(cadence, now).at.astimezone(zone),
        timezone=cadence.timezone,
        subscribed_on=_local_date(joined, zone),
        preferences_url=press.links.preferences(subscriber.id),
        unsubscribe_url=press.links.unsubscribe(subscriber.id),
        stories=latest_stories(session, subscriber.language, topics_of(subscriber.topics), press.limits, read_until),
    )


def _local_date(at: datetime, zone: ZoneInfo) -> date:
    return at.astimezone(zone).date()


def _state(letter: Letter, given: HandOver) -> BatchState:
    if given.accepted:
        return BatchState.SENT
    if given.unknown:
        return BatchState.UNKNOWN
    if given.refused or (letter.attempts >= MOST_ATTEMPTS and not given.delayed):
        return BatchState.FAILED
    return BatchState.READY


def _record(sessions: Sessions, letter: Letter, given: HandOver, state: BatchState, now: datetime) -> BatchState:
    with sessions.begin() as session:
        row = session.get(Letter, letter.id, with_for_update=True)
        if row is None or row.attempts != letter.attempts:
            return state
        row.state, row.lease_until_at = state, None
        row.sent_at = now if state is BatchState.SENT else None
        row.detail = given.alarm or next((refusal.detail for refusal in given.refused.values()), "")
        if state is BatchState.READY:
            wait = FIRST_WAIT * (1 << min(letter.attempts, MOST_ATTEMPTS) - 1)
            asked = wait_asked(given.after_seconds or 0)
            row.not_before_at, row.nudged_at = now + max(wait, asked), None
    return state
