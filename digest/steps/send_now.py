"""Today's brief to one reader, on the operator's word; the ledger's rule of one per local date holds."""

from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from digest.domain.brief import BriefState
from digest.domain.edition import EditionKey, Policy, edition_for
from digest.domain.errors import PermanentError
from digest.domain.schedule import Send, parse_timezone
from digest.domain.subscriber import SubscriberState
from digest.ports import Provider
from digest.steps.compile_briefs import Press, compile_brief
from digest.steps.send_batches import send_batch
from digest.store.database import Sessions
from digest.store.ledger import entries
from digest.store.planning import SETTLED, add_batches, add_delivery, brief_of, edition_id
from digest.store.subscribers import find
from digest.store.tables import Brief, Subscriber


def send_now(sessions: Sessions, provider: Provider, press: Press, policy: Policy, address: str, now: datetime) -> str:
    """Compile and hand over the brief of the reader's local date; returns the delivery's status.

    Raises:
        PermanentError: no such reader, not active, or they have a delivery for today already.
    """
    with sessions.begin() as session:
        subscriber = find(session, address, lock=True)
        if subscriber is None:
            raise PermanentError(f"there is no subscriber {address}")
        if subscriber.state is not SubscriberState.ACTIVE:
            raise PermanentError(f"{address} is {subscriber.state.value}, not active")
        brief, batch_id = _plan(session, subscriber, policy, now)
    compile_brief(sessions, press, brief.id, now)
    send_batch(sessions, provider, press.links, policy, batch_id, now)
    with sessions() as session:
        entry = next(entry for entry in entries(session, email=address) if entry.batch == batch_id)
    return entry.status if entry.reason is None else f"{entry.status} ({entry.reason})"


def _plan(session: Session, subscriber: Subscriber, policy: Policy, now: datetime) -> tuple[Brief, int]:
    cadence = subscriber.cadence_row.cadence
    zone = ZoneInfo(parse_timezone(cadence.timezone))
    today = now.astimezone(zone).date()
    shared = edition_for(cadence, Send(today, now), frozenset(), policy)
    key = EditionKey(now, today, subscriber.window_start_at or shared.window_start, now)
    brief = brief_of(session, edition_id(session, key), subscriber.languages, subscriber.topics, BriefState.PLANNED)
    state, reason = SETTLED[brief.state]
    row = {
        "number": 0,
        "state": state,
        "reason": reason,
        "not_before_at": now,
        "expires_at": now + policy.grace,
    }
    (batch_id,) = add_batches(session, brief, [row])
    if not add_delivery(session, subscriber.id, today, batch_id):
        raise PermanentError(f"{subscriber.email} has a delivery for {today.isoformat()} already")
    return brief, batch_id
