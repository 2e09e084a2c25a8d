"""The scheduler's turns as the ledger counts them."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import BigInteger, String, case, cast, func, or_, select, update
from sqlalchemy.orm import Session

from digest.ports import TurnMark
from digest.store.database import Sessions
from digest.store.dialects import insert_new, on_postgresql
from digest.store.tables import Delivery, Switch

TICKED = "ticked"
"""The mark of the scheduler's last turn."""
TIDIED = "tidied"
"""The mark of the last tidying, with the date before which things went."""
PLANNING = 0x0F1A4
"""The advisory lock of whoever plans."""
LEDGER = "ledger"
"""The ledger's own name, made once; a copy or a backup of it has the same."""


def last_turn(session: Session) -> TurnMark | None:
    """The newest turn that this ledger knows of; None before the first."""
    kept = {row.name: row for row in session.scalars(select(Switch).where(Switch.name.in_([TICKED, LEDGER])))}
    if len(kept) < len((TICKED, LEDGER)):
        return None
    return TurnMark(kept[LEDGER].value, int(kept[TICKED].value), kept[TICKED].changed_at)


def mark_turn(session: Session, now: datetime, ledger: str = "", after: int = 0) -> TurnMark:
    """Count one more turn, taken at ``now``; its number is above every one before and above ``after``.

    Args:
        session: of a transaction that commits this.
        now: the moment of the turn.
        ledger: the ledger's name where it is known; else it is looked up, or made.
        after: a number seen elsewhere.
    """
    if not ledger:
        for name, value in ((LEDGER, secrets.token_hex(8)), (TICKED, "0")):
            session.execute(insert_new(session, Switch).values({"name": name, "value": value, "changed_at": now}))
        ledger = ledger_name(session)
    number = cast(Switch.value, BigInteger)
    counted = cast(case((number > after, number), else_=after) + 1, String)
    counting = update(Switch).where(Switch.name == TICKED).values(value=counted, changed_at=now)
    value = session.scalars(counting.returning(Switch.value).execution_options(synchronize_session=False)).one()
    return TurnMark(ledger, int(value), now)


def ledger_name(session: Session) -> str:
    """The ledger's own name; empty before the first turn."""
    row = session.get(Switch, LEDGER)
    return "" if row is None else row.value


def take_tidying(session: Session, wanted: date, now: datetime, every: timedelta) -> date | None:
    """Take the next tidying and say before which date things go; None when nobody has to tidy now.

    The date comes nearer to ``wanted`` by a day at a time, so that a clock which is far ahead for some hours makes
    nobody forget whom they wrote to this morning.
    """
    start = datetime(1970, 1, 1, tzinfo=UTC)
    session.execute(insert_new(session, Switch).values({"name": TIDIED, "value": "", "changed_at": start}))
    is_due = or_(Switch.changed_at <= now - every, Switch.changed_at > now)
    taking = update(Switch).where(Switch.name == TIDIED, is_due).values(changed_at=now).returning(Switch)
    mark = session.scalars(taking.execution_options(populate_existing=True)).one_or_none()
    if mark is None:
        return None
    last = date.fromisoformat(mark.value) if mark.value else session.scalar(select(func.min(Delivery.on))) or wanted
    cut = min(wanted, last + timedelta(days=1))
    mark.value = cut.isoformat()
    return cut


def take_mark(session: Session, name: str, now: datetime, every: timedelta) -> bool:
    """Whether it is time again for what ``name`` stands for, and this process is to do it; of two only one is."""
    start = datetime(1970, 1, 1, tzinfo=UTC)
    session.execute(insert_new(session, Switch).values({"name": name, "value": "", "changed_at": start}))
    is_due = or_(Switch.changed_at <= now - every, Switch.changed_at > now)
    taking = update(Switch).where(Switch.name == name, is_due).values(changed_at=now).returning(Switch.name)
    return session.scalars(taking.execution_options(synchronize_session=False)).one_or_none() is not None


@contextmanager
def only_planner(sessions: Sessions, *, wait: bool) -> Iterator[bool]:
    """Whether this process is the one that plans now; held until the block ends, or the process does.

    Correctness does not hang on it, the rows see to that. It keeps ticks that come while a long morning is planned from
    queueing up behind it, in workers that have letters to send meanwhile.

    Args:
        sessions: the database; on SQLite, which lets one writer in at a time anyway, everybody plans.
        wait: wait for the other one to end instead of passing by.
    """
    with sessions() as session:
        if not on_postgresql(session):
            yield True
            return
        lock = func.pg_advisory_xact_lock if wait else func.pg_try_advisory_xact_lock
        yield session.scalar(select(lock(PLANNING))) is not False
