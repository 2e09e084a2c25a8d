"""What the last process left behind: expired leases, briefs that came too late, lost answers, pauses that are over."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from digest.domain.edition import Policy
from digest.domain.schedule import is_known_zone, local_today
from digest.domain.subscriber import SubscriberState
from digest.store.database import Sessions
from digest.store.letters import expire_letter_leases
from digest.store.planning import settle_batches
from digest.store.recovery import count_open, expire_late, expire_leases, expire_retried, is_anything_open
from digest.store.tables import CadenceRow, Subscriber
from digest.store.unknown import close_settled, free_again, give_up, never_taken
from digest.store.windows import keep_windows_open

DATE_LINE = timedelta(hours=14)
"""How far the earliest clocks are ahead of UTC."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """How much was found.

    Attributes:
        unknown: deliveries whose hand-over lost its holder.
        late: deliveries whose grace is over.
        never_taken: deliveries that the provider never saw, as its events show; given again or failed.
        resumed: readers whose pause is over.
    """

    unknown: int = 0
    late: int = 0
    never_taken: int = 0
    resumed: int = 0


def recover_batches(sessions: Sessions, policy: Policy, now: datetime) -> Recovered:
    """Give every batch a definite state. A lost hand-over becomes *unknown* and is never repeated on a guess."""
    unknown = late = untaken = 0
    with sessions.begin() as session:
        expire_letter_leases(session, now)
        if is_anything_open(session):
            settle_batches(session)
            unknown = count_open(session, [*expire_leases(session, now), *expire_retried(session, now)])
            late = _expire_late(session, now)
            untaken = _settle_unknown(session, policy, now)
    return Recovered(unknown, late, untaken, _end_pauses(sessions, now))


def _expire_late(session: Session, now: datetime) -> int:
    late = expire_late(session, now)
    if late:
        keep_windows_open(session, late)
    return count_open(session, late)


def _settle_unknown(session: Session, policy: Policy, now: datetime) -> int:
    """Close what events have settled; give again, or up, what they show was never taken."""
    close_settled(session)
    untaken = never_taken(session, now, policy.settle)
    if not untaken:
        return 0
    found = count_open(session, untaken)
    failed = set(untaken).difference(free_again(session, untaken, now))
    keep_windows_open(session, sorted(failed))
    give_up(session, failed)
    return found


def _end_pauses(sessions: Sessions, now: datetime) -> int:
    """Paused readers whose local date has come are active again, before that morning is planned."""
    resumed = 0
    with sessions.begin() as session:
        waiting = (
            select(CadenceRow.id, CadenceRow.timezone)
            .join(Subscriber, Subscriber.cadence_id == CadenceRow.id)
            .where(Subscriber.paused_until_on <= (now + DATE_LINE).date())
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
