"""Deliveries and events -> the counts that people and monitors read, made again ever more rarely as a morning ages."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from digest.domain.edition import Policy
from digest.domain.subscriber import SubscriberState
from digest.store.database import Sessions
from digest.store.figures import count_morning, instants
from digest.store.tables import CadenceRow, Subscriber
from digest.store.tallies import set_to
from digest.store.turns import take_mark

LOOKS_BACK = timedelta(days=3)
"""After it a morning's counts stand; providers report within that time."""
SOONEST = timedelta(minutes=1)
OF_ITS_AGE = 0.2
"""A morning is counted again when a fifth of its age has passed, so about forty times in all."""
READERS_EVERY = timedelta(minutes=30)
READERS_COUNTED = "readers_counted"
READERS_BY_CADENCE = "readers_by_cadence"


def count_mornings(sessions: Sessions, policy: Policy, now: datetime) -> int:
    """Count again whatever may have changed enough; returns how many instants that was. Each in its own transaction."""
    with sessions() as session:
        known = instants(session, now - LOOKS_BACK, now + policy.lead + SOONEST)
    due = list(_due(known, now))
    for send_at, on in due:
        with sessions.begin() as session:
            count_morning(session, send_at, on, now)
    _count_readers(sessions, now)
    return len(due)


def _due(known: dict[tuple[datetime, date], datetime | None], now: datetime) -> Iterator[tuple[datetime, date]]:
    for (send_at, on), counted_at in known.items():
        rest = max(SOONEST, (now - send_at) * OF_ITS_AGE)
        if counted_at is None or now - counted_at >= rest or counted_at > now:
            yield send_at, on


def _count_readers(sessions: Sessions, now: datetime) -> None:
    """Subscribers by state and by cadence; it reads the whole list, hence seldom."""
    with sessions.begin() as session:
        if not take_mark(session, READERS_COUNTED, now, READERS_EVERY):
            return
        counts = session.execute(select(Subscriber.state, func.count()).group_by(Subscriber.state)).all()
        none = dict.fromkeys(map(str, SubscriberState), 0)
        set_to(session, "subscribers", none | {str(state): number for state, number in counts})
        set_to(session, READERS_BY_CADENCE, _by_cadence(session))


def _by_cadence(session: Session) -> dict[str, int]:
    """Active readers by the number of their cadence, for a look ahead; one that nobody has any more has none."""
    active = Subscriber.state == SubscriberState.ACTIVE
    counting = select(Subscriber.cadence_id, func.count()).where(active).group_by(Subscriber.cadence_id)
    none = {str(number): 0 for number in session.scalars(select(CadenceRow.id))}
    return none | {str(number): readers for number, readers in session.execute(counting)}
