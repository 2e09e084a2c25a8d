"""The invariants of the ledger, the list and the suppressions, each a question whose answer must be "none"."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from digest.store import audit_ledger, audit_list

Count = Callable[[Session, datetime], int]
Rows = Select[*tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Check:
    """One invariant and how many rows break it."""

    name: str
    found: int

    @property
    def ok(self) -> bool:
        """Whether it holds."""
        return self.found == 0


def audit(session: Session, now: datetime) -> list[Check]:
    """Every invariant, checked in SQL; ``now`` tells what is overdue and what is recent."""
    return [Check(name, count(session, now)) for name, count in CHECKS.items()]


def _always(query: Callable[[], Rows]) -> Count:
    """A check that looks at everything there is."""
    return lambda session, _: _count(session, query())


def _as_of(query: Callable[[datetime], Rows]) -> Count:
    """A check that depends on the instant at which it is made."""
    return lambda session, now: _count(session, query(now))


def _count(session: Session, rows: Rows) -> int:
    return session.scalar(select(func.count()).select_from(rows.subquery())) or 0


CHECKS: dict[str, Count] = {
    "one delivery per subscriber and local date": _always(audit_ledger.doubles),
    "one subscriber per address": _always(audit_list.same_address),
    "every delivery has its batch": _always(audit_ledger.without_batch),
    "every reader of a closed morning has a delivery": _always(audit_ledger.left_out),
    "no batch sending without a lease": _always(audit_ledger.without_lease),
    "no lease over and unrecovered": _as_of(audit_ledger.lease_over),
    "no letter's lease over and unrecovered": _as_of(audit_ledger.letter_lease_over),
    "every batch past its grace has a definite state": _as_of(audit_ledger.no_definite_state),
    "nothing handed over before its instant": _always(audit_ledger.early),
    "nobody mailed before local time": audit_ledger.before_local_time,
    "nothing handed over after its grace": _always(audit_ledger.late),
    "nothing sent that nobody claimed": _always(audit_ledger.never_claimed),
    "nobody mailed after leaving": _as_of(audit_ledger.after_leaving),
    "nobody mailed after being barred": _as_of(audit_ledger.after_suppression),
    "nobody barred is subscribed": _always(audit_list.barred_but_subscribed),
    "nobody subscribed without consent": _always(audit_list.without_consent),
    "no batch ahead of its brief": _always(audit_ledger.without_words),
    "no open batch without deliveries": _always(audit_ledger.empty_batches),
    "no outcome of a delivery before its hand-over": _always(audit_ledger.told_too_soon),
    "a delivery's date is its edition's": _always(audit_ledger.wrong_date),
    "each event once": _always(audit_list.double_events),
}
