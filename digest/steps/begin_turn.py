"""What every turn begins with, in a worker and in ``digest tick`` alike: recover, plan, leave a mark."""

from dataclasses import dataclass
from datetime import datetime

from digest.domain.edition import Policy
from digest.ports import TurnMark, Witness
from digest.steps.plan_editions import Planned, Since, plan_editions
from digest.steps.recover_batches import Recovered, recover_batches
from digest.store.database import Sessions
from digest.store.recovery import count_open, give_up_lost
from digest.store.turns import last_turn, ledger_name, mark_turn, only_planner


@dataclass(frozen=True, slots=True)
class Begun:
    """What was found and planned.

    Attributes:
        recovered: what the last process had left behind.
        planned: what became due.
        lost: deliveries that may have gone out before the database came back from an older backup.
    """

    recovered: Recovered
    planned: Planned
    lost: int


def begin_turn(
    sessions: Sessions,
    policy: Policy,
    provider_takes: int,
    witness: Witness | None,
    now: datetime,
    *,
    wait: bool = True,
) -> Begun:
    """Recover what was left behind and plan what is due at ``now``; safe at any time, in any number of processes.

    Args:
        sessions: the database.
        policy: how a morning is run.
        provider_takes: how many readers the provider takes in one hand-over.
        witness: remembers the last turn outside the database; None where nothing does.
        now: the moment of this turn.
        wait: where another process is at it, wait for its end and go over it again; else leave it to that one.
    """
    with only_planner(sessions, wait=wait) as is_planner:
        if not is_planner:
            return Begun(Recovered(), Planned(), 0)
        return _begin(sessions, policy, provider_takes, witness, now)


def _begin(sessions: Sessions, policy: Policy, provider_takes: int, witness: Witness | None, now: datetime) -> Begun:
    # The witness is asked first: whatever it saw was written to the database before.
    seen = _recall(sessions, witness)
    with sessions() as session:
        last = last_turn(session)
    lost_until = _forgotten(last, seen)
    lost = _give_up(sessions, lost_until) if lost_until else 0
    recovered = recover_batches(sessions, policy, now)
    since = Since(last.at if last else None, lost_until)
    planned = plan_editions(sessions, now, policy, policy.batch_size(provider_takes), since)
    with sessions.begin() as session:
        mark = mark_turn(session, now, last.ledger if last else "", after=seen.turn if seen and lost_until else 0)
    if witness is not None:
        witness.remember(mark)
    return Begun(recovered, planned, lost + planned.lost)


def _recall(sessions: Sessions, witness: Witness | None) -> TurnMark | None:
    if witness is None:
        return None
    with sessions() as session:
        ledger = ledger_name(session)
    return witness.recall(ledger) if ledger else None


def _forgotten(last: TurnMark | None, seen: TurnMark | None) -> datetime | None:
    """Until when turns were taken that this ledger does not know of: it is a copy from before them."""
    return seen.at if last and seen and seen.turn > last.turn else None


def _give_up(sessions: Sessions, until: datetime) -> int:
    with sessions.begin() as session:
        return count_open(session, give_up_lost(session, until))


def declare_restored(sessions: Sessions, witness: Witness, now: datetime) -> bool:
    """Have the next turn treat this ledger as a back-up that was restored at ``now``, whatever the witness still knows.

    For a witness that was lost with the database, or a back-up so fresh that no turn was taken since. False where this
    ledger never saw a turn, so nothing can have gone out by it.
    """
    with sessions() as session:
        last = last_turn(session)
    if last is None:
        return False
    seen = witness.recall(last.ledger)
    witness.remember(TurnMark(last.ledger, max(last.turn, seen.turn if seen else 0) + 1, now))
    return True
