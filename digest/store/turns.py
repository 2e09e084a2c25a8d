"""The scheduler's turns as the ledger counts them."""

import secrets
from datetime import datetime

from sqlalchemy.orm import Session

from digest.ports import TurnMark
from digest.store.dialects import insert_new
from digest.store.tables import Switch

TICKED = "ticked"
"""The mark of the scheduler's last turn."""
LEDGER = "ledger"
"""The ledger's own name, made once; a copy or a backup of it has the same."""


def last_turn(session: Session) -> TurnMark | None:
    """The newest turn that this ledger knows of; None before the first."""
    ticked, ledger = session.get(Switch, TICKED), session.get(Switch, LEDGER)
    if ticked is None or ledger is None:
        return None
    return TurnMark(ledger.value, int(ticked.value), ticked.changed_at)


def mark_turn(session: Session, now: datetime, after: int = 0) -> TurnMark:
    """Count one more turn, taken at ``now``; its number is above every one before and above ``after``."""
    for name, value in ((LEDGER, secrets.token_hex(8)), (TICKED, "0")):
        session.execute(insert_new(session, Switch).values({"name": name, "value": value, "changed_at": now}))
    ticked = session.get_one(Switch, TICKED, with_for_update=True, populate_existing=True)
    ticked.value = str(max(int(ticked.value), after) + 1)
    ticked.changed_at = now
    return TurnMark(session.get_one(Switch, LEDGER).value, int(ticked.value), now)


def ledger_name(session: Session) -> str:
    """The ledger's own name; empty before the first turn."""
    row = session.get(Switch, LEDGER)
    return "" if row is None else row.value
