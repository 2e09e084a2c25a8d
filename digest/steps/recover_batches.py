"""What the last process left behind: expired leases, briefs that came too late, pauses that are over."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update

from digest.domain.schedule import is_known_zone, local_today
from digest.domain.subscriber import SubscriberState
from digest.store.database import Sessions
from digest.store.letters import expire_letter_leases
from digest.store.planning import settle_batches
from digest.store.sending import count_open, expire_late, expire_leases, expire_retried, keep_windows_open
from digest.store.tables import CadenceRow, Subscriber


@dataclass(frozen=True, slots=True)
class Recovered:
    """How much was found: deliveries become unknown, deliveries too late, readers whose pause is over."""

    unknown: int
    late: int
    resumed: int


def recover_batches(sessions: Sessions, now: datetime) -> Recovered:
    """Give every batch a definite state. A lost hand-over becomes *unknown* and is never repeated on a guess."""
    with sessions.begin() as session:
        settle_batches(session)
        unknown = [*expire_leases(session, now), *expire_retried(session, now)]
        expire_letter_leases(session, now)
        late = expire_late(session, now)
        if late:
            keep_windows_open(session, late)
        found = count_open(session, unknown), count_open(session, late)
    return Recovered(*found, _end_pauses(sessions, now))


def _end_pauses(sessions: Sessions, now: datetime) -> int:
    """Paused readers whose local date has come are active again, before that morning is planned."""
    resumed = 0
    with sessions.begin() as session:
        waiting = (
            select(CadenceRow.id, CadenceRow.timezone)
            .join(Subscriber, Subscriber.cadence_id == CadenceRow.id)
            .where(Subscriber.state == SubscriberState.PAUSED, Subscriber.paused_until_on.is_not(None))
            .distinct()
        )
        for cadence_id, timezone in session.execute(waiting).all():
            if not is_known_zone(timezone):
                continue
            over = (
                update(Subscriber)
                .where(
                    Subscriber.cadence_id == cadence_id,
                    Subscriber.state == SubscriberState.PAUSED,
                    Subscriber.paused_until_on <= local_today(timezone, now),
                )
                .values(state=SubscriberState.ACTIVE, paused_until_on=None, changed_at=now)
                .returning(Subscriber.id)
                .execution_options(synchronize_session=False)
            )
            resumed += len(session.scalars(over).all())
    return resumed
