"""A ready batch -> the provider, and what became of it. The network is never waited for inside a transaction."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, joinedload, undefer

from digest.domain.delivery import BatchState, DeliveryReason, DeliveryState
from digest.domain.edition import Policy
from digest.domain.schedule import is_known_zone
from digest.domain.subscriber import SubscriberState
from digest.links import Links
from digest.ports import HandOver, Message, Provider, Recipient
from digest.rendering.dates import full_date
from digest.steps.record_refusals import record_refusals
from digest.store.database import Sessions
from digest.store.sending import (
    BatchOutcome,
    Member,
    OwnState,
    claim_batch,
    is_still_held,
    left_since,
    members,
    open_in,
    part_from,
    record_outcome,
    record_own_states,
    set_paused,
    split_off,
)
from digest.store.tables import Batch, Brief
from digest.store.windows import keep_windows_open, move_windows

MOST_ATTEMPTS = 8
FIRST_WAIT = timedelta(seconds=15)
LONGEST_WAIT = timedelta(minutes=15)
LONGEST_ASKED = timedelta(hours=1)
"""A provider that asks for more is asked again all the same: no instant in the store lies far ahead."""
JITTER = 0.2
GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it, whole parts taken off, spread evenly: batches that failed together don't come back together."""


@dataclass(slots=True)
class Sent:
    """What a hand-over did, in deliveries."""

    sent: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    unknown: int = 0
    again: int = 0
    alarm: str = ""
    delayed: str = ""
    after_seconds: float | None = None


def delivery_key(subscriber_id: int, on: date) -> str:
    """The name of a delivery towards a provider; comes back in its events."""
    return f"{subscriber_id}-{_compact(on)}"


@lru_cache(maxsize=64)
def _compact(on: date) -> str:
    return f"{on.year:04d}{on.month:02d}{on.day:02d}"


def send_batch(
    sessions: Sessions, provider: Provider, links: Links, policy: Policy, batch_id: int, now: datetime
) -> Sent:
    """Claim the batch, hand it over, record the outcome. Losing the claim, also later, is a quiet return."""
    with sessions.begin() as session:
        batch = claim_batch(session, batch_id, now, policy.lease, provider.name)
    if batch is None:
        return Sent()
    brief, readers = _read(sessions, batch)
    if len(readers) > provider.batch_size:
        readers = _as_many_as_fit(sessions, batch, readers, provider.batch_size)
    out = {_name(member): _skip(member) for member in readers if _is_out(member)}
    staying = [member for member in readers if not _is_out(member)] if out else readers
    going = {delivery_key(member.subscriber_id, member.on): member for member in staying}
    message, recipients = message_of(brief), _recipients(going, brief, links)
    with sessions.begin() as session:
        if not is_still_held(session, batch):
            return Sent()
        out |= _let_go(session, batch, readers, going)
    if len(going) < len(recipients):
        recipients = [recipient for recipient in recipients if recipient.key in going]
    given = provider.hand_over(message, recipients, now) if recipients else HandOver()
    outcome = _outcome(batch, given, now)
    own = out | _own_states(going, given, outcome)
    with sessions.begin() as session:
        if record_outcome(session, batch, outcome, provider.name):
            record_own_states(session, own)
            if outcome.state is not BatchState.UNKNOWN and given.unknown:
                split_off(session, batch, [going[key].subscriber_id for key in given.unknown], given.receipt)
            move_windows(session, _took(batch, going, given), brief.edition)
            if outcome.reason is DeliveryReason.TRIED_OUT:
                keep_windows_open(session, [batch.id])
        if given.alarm:
            set_paused(session, paused=True, now=now, why=given.alarm)
    record_refusals(sessions, provider.name, given.refused, now)
    return _report(out, given, outcome)


def _read(sessions: Sessions, batch: Batch) -> tuple[Brief, list[Member]]:
    with sessions() as session:
        words = select(Brief).where(Brief.id == batch.brief_id)
        loaded = words.options(undefer(Brief.html), undefer(Brief.text), joinedload(Brief.edition))
        return session.scalars(loaded).one(), members(session, batch.id)


def _as_many_as_fit(sessions: Sessions, batch: Batch, readers: list[Member], size: int) -> list[Member]:
    """The first readers of a batch that was cut for a provider which takes more; the others get batches of their own.

    So a hand-over whose answer is lost leaves no more readers in doubt than this provider's own batches would.
    """
    with sessions.begin() as session:
        if not is_still_held(session, batch):
            return []
        part_from(session, batch, [member.subscriber_id for member in readers[size:]], size)
    return readers[:size]


def _let_go(
    session: Session, batch: Batch, readers: list[Member], going: dict[str, Member]
) -> dict[tuple[int, date], OwnState]:
    """Take out of ``going`` whoever left while their messages were made; the last look before the hand-over."""
    left = left_since(session, batch.id, [member.subscriber_id for member in readers])
    now_in = members(session, batch.id) if left else []
    for key in [key for key, member in going.items() if member.subscriber_id in left]:
        del going[key]
    # Whoever was erased has no delivery any more, so nothing is written about them.
    return {_name(member): _skip(member) for member in now_in if _is_out(member)}


def _took(batch: Batch, going: dict[str, Member], given: HandOver) -> list[int] | Select[int]:
    """Who has the brief now. Where all have it, those of the batch without a state of their own, asked on the spot."""
    if len(given.accepted) == len(going):
        return open_in(batch.id)
    return [going[key].subscriber_id for key in given.accepted]


def _name(member: Member) -> tuple[int, date]:
    return member.subscriber_id, member.on


def _is_out(member: Member) -> bool:
    return member.suppressed or member.state is not SubscriberState.ACTIVE


def _skip(member: Member) -> OwnState:
    if member.suppressed:
        return OwnState(DeliveryState.SKIPPED, DeliveryReason.SUPPRESSED)
    paused = member.state is SubscriberState.PAUSED
    return OwnState(DeliveryState.SKIPPED, DeliveryReason.PAUSED if paused else DeliveryReason.UNSUBSCRIBED)


def message_of(brief: Brief) -> Message:
    """The words of a compiled brief as providers take them."""
    return Message(
        key=f"brief-{brief.id}",
        kind="brief",
        language=brief.language,
        subject=brief.subject,
        html=brief.html,
        text=brief.text,
        slots=brief.slots,
    )


def _recipients(going: dict[str, Member], brief: Brief, links: Links) -> list[Recipient]:
    zones: dict[str, ZoneInfo] = {}
    words: dict[date, str] = {}
    recipients = []
    for key, member in going.items():
        zone = zones.get(member.timezone) or zones.setdefault(member.timezone, _zone(member.timezone))
        on = member.subscribed_at.astimezone(zone).date()
        since = words.get(on) or words.setdefault(on, full_date(on, brief.language))
        recipients.append(_recipient(key, member, since, links))
    return recipients


def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name if is_known_zone(name) else "UTC")


def _recipient(key: str, member: Member, since: str, links: Links) -> Recipient:
    unsubscribe = links.unsubscribe(member.subscriber_id)
    values = {
        "unsubscribe_url": unsubscribe,
        "preferences_url": links.preferences(member.subscriber_id),
        "subscribed_on": since,
    }
    return Recipient(key, member.address, values, unsubscribe)


def _report(out: dict[tuple[int, date], OwnState], given: HandOver, outcome: BatchOutcome) -> Sent:
    given_up = outcome.state is BatchState.FAILED
    return Sent(
        sent=len(given.accepted),
        skipped=Counter(str(state.reason) for state in out.values()),
        failed=len(given.refused) + (len(given.again) if given_up else 0),
        unknown=len(given.unknown),
        again=0 if given_up else len(given.again),
        alarm=given.alarm,
        delayed=given.delayed,
        after_seconds=given.after_seconds,
    )


def _outcome(batch: Batch, given: HandOver, now: datetime) -> BatchOutcome:
    """What the batch becomes; decided without touching anything."""
    if given.again and (given.alarm or given.delayed or batch.attempts < MOST_ATTEMPTS):
        detail = given.alarm or given.delayed
        at = now + _wait(batch, given)
        return BatchOutcome(BatchState.READY, not_before_at=at, detail=detail, was_tried=not detail)
    if given.again:
        return BatchOutcome(BatchState.FAILED, DeliveryReason.TRIED_OUT)
    if given.unknown and not given.accepted:
        return BatchOutcome(BatchState.UNKNOWN, DeliveryReason.ANSWER_LOST, receipt=given.receipt)
    return BatchOutcome(BatchState.SENT, sent_at=now, receipt=given.receipt)


def wait_asked(seconds: float) -> timedelta:
    """The wait that a provider asked for, between a second and :data:`LONGEST_ASKED`."""
    return timedelta(seconds=min(max(1.0, seconds), LONGEST_ASKED.total_seconds()))


def _wait(batch: Batch, given: HandOver) -> timedelta:
    """As long as asked; else longer from try to try, and up to a fifth more, each batch differently."""
    if given.after_seconds is not None:
        return wait_asked(given.after_seconds)
    wait = min(FIRST_WAIT * (1 << batch.attempts - 1), LONGEST_WAIT)
    return wait * (1 + JITTER * (batch.id * GOLDEN % 1))


def _own_states(going: dict[str, Member], given: HandOver, outcome: BatchOutcome) -> dict[tuple[int, date], OwnState]:
    """The deliveries that end otherwise than their batch."""
    own = {
        key: OwnState(DeliveryState.FAILED, refusal.reason, refusal.detail) for key, refusal in given.refused.items()
    }
    if outcome.state is not BatchState.SENT:
        own |= {key: OwnState(DeliveryState.SENT) for key in given.accepted}
    return {_name(going[key]): state for key, state in own.items()}
