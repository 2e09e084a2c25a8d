"""One turn of the scheduler with everything it leads to, in this process: for tests, cron, recovery and simulation."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from digest.domain.delivery import DeliveryReason
from digest.domain.edition import Policy
from digest.ports import Provider, Witness
from digest.steps.begin_turn import Begun, begin_turn
from digest.steps.compile_briefs import Press, compile_brief
from digest.steps.send_batches import Sent, send_batch
from digest.steps.send_letters import send_letter
from digest.steps.tidy_up import tidy_up
from digest.store.database import Sessions
from digest.store.letters import take_letters
from digest.store.planning import readers_of_briefs
from digest.store.sending import take_batches, take_briefs

AT_ONCE = timedelta(0)
"""Here nobody else is asked, so nothing has to rest between two askings."""
COMPILING = timedelta(seconds=10)
"""How long a brief is left to whoever took it: turns at one moment would use up its attempts together."""
PAGE = 200
LEDGER_ALARM = (
    "the database is older than the scheduler's last turn: {} deliveries that may have gone out are unknown; "
    "digest deliveries list --status unknown"
)
Result = TypeVar("Result")


@dataclass(slots=True)
class Turn:
    """What one turn did, in deliveries."""

    now: datetime
    editions: list[int] = field(default_factory=list)
    planned: int = 0
    sent: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    unknown: int = 0
    letters: int = 0
    unknown_zones: list[str] = field(default_factory=list)
    delayed: Counter[str] = field(default_factory=Counter)
    """Deliveries above a ceiling, or that wait for what the provider asked, by what holds them back."""
    alarms: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def take_turn(
    sessions: Sessions,
    provider: Provider,
    press: Press,
    policy: Policy,
    now: datetime,
    witness: Witness | None = None,
) -> Turn:
    """Recover, plan, compile and hand over whatever is due at ``now``."""
    turn = _begun(now, begin_turn(sessions, policy, provider.batch_size, witness, now))
    _send_letters(sessions, provider, press, turn)
    _compile(sessions, press, turn)
    _send(sessions, provider, press, policy, turn)
    tidy_up(sessions, press.links.confirm_for, now)
    return turn


def _begun(now: datetime, begun: Begun) -> Turn:
    planned, recovered = begun.planned, begun.recovered
    turn = Turn(now, planned.editions, planned.deliveries, unknown_zones=sorted(planned.unknown_zones))
    turn.unknown = recovered.unknown + begun.lost
    skipped = {
        DeliveryReason.LATE: recovered.late,
        DeliveryReason.MISSED: planned.missed,
        DeliveryReason.UNKNOWN_TIMEZONE: planned.without_zone,
    }
    turn.skipped.update({reason: number for reason, number in skipped.items() if number})
    if begun.lost:
        turn.alarms.append(LEDGER_ALARM.format(begun.lost))
    return turn


def _send_letters(sessions: Sessions, provider: Provider, press: Press, turn: Turn) -> None:
    tried: set[int] = set()
    while True:
        with sessions.begin() as session:
            ids = [i for i in take_letters(session, turn.now, AT_ONCE, PAGE) if i not in tried]
        for letter_id in ids:
            tried.add(letter_id)
            work = partial(send_letter, sessions, provider, press, letter_id, turn.now)
            turn.letters += _apart(turn, f"letter {letter_id}", work) is not None
        if not ids:
            return


def _compile(sessions: Sessions, press: Press, turn: Turn) -> None:
    tried: set[int] = set()
    while True:
        with sessions.begin() as session:
            ids = [i for i in take_briefs(session, turn.now, COMPILING, PAGE) if i not in tried]
        for brief_id in ids:
            tried.add(brief_id)
            _apart(turn, f"brief {brief_id}", partial(compile_brief, sessions, press, brief_id, turn.now))
        if not ids:
            break
    if tried:
        with sessions() as session:
            turn.skipped.update(readers_of_briefs(session, tried))


def _send(sessions: Sessions, provider: Provider, press: Press, policy: Policy, turn: Turn) -> None:
    tried: set[int] = set()
    while True:
        with sessions.begin() as session:
            ids = [i for i in take_batches(session, turn.now, AT_ONCE, PAGE) if i not in tried]
        for batch_id in ids:
            tried.add(batch_id)
            work = partial(send_batch, sessions, provider, press.links, policy, batch_id, turn.now)
            _count(turn, _apart(turn, f"batch {batch_id}", work) or Sent())
        if not ids:
            return


def _apart(turn: Turn, name: str, work: Callable[[], Result]) -> Result | None:
    """Do one piece of work; a fault in it is reported and stops no other, as if each ran in a worker of its own.

    The rows say what to do next about it: attempts are counted and leases end.
    """
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - stands in for the worker process, whose pieces of work fail apart
        turn.faults.append(f"{name}: {type(error).__name__}: {error}")
        return None


def _count(turn: Turn, sent: Sent) -> None:
    turn.sent += sent.sent
    turn.skipped.update(sent.skipped)
    turn.failed += sent.failed
    turn.unknown += sent.unknown
    if sent.delayed:
        turn.delayed[sent.delayed] += sent.again
    if sent.alarm:
        turn.alarms.append(f"sending stopped: {sent.alarm}; mend it and run digest deliveries resume")
