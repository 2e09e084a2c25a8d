"""Counters that all processes of the service share, so that whichever is asked gives the same numbers."""

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from digest.store.dialects import on_postgresql
from digest.store.tables import TallyRow

LONGEST_LABEL = 80


def count_up(session: Session, numbers: Mapping[str, Mapping[str, int]]) -> None:
    """Add to counters: name -> label -> number. In a transaction of its own: the rows are everybody's.

    They are taken in order, so that two transactions never wait for each other crosswise.
    """
    _write(session, numbers, adds=True)


def set_to(session: Session, name: str, numbers: Mapping[str, int]) -> None:
    """Make these the numbers of ``name``."""
    _write(session, {name: numbers}, adds=False)


def _write(session: Session, numbers: Mapping[str, Mapping[str, int]], *, adds: bool) -> None:
    rows = [
        {"name": name, "label": label[:LONGEST_LABEL], "number": number}
        for name, labels in sorted(numbers.items())
        for label, number in sorted(labels.items())
    ]
    if not rows:
        return
    dialect = postgresql if on_postgresql(session) else sqlite
    new = dialect.insert(TallyRow)
    total = TallyRow.number + new.excluded.number if adds else new.excluded.number
    keys = [TallyRow.name, TallyRow.label]
    # Sent together, past the ORM: a hand-over waits for this before it is recorded.
    session.connection().execute(new.on_conflict_do_update(index_elements=keys, set_={TallyRow.number: total}), rows)


def tallies(session: Session) -> dict[str, dict[str, int]]:
    """Every counter: name -> label -> number."""
    found: dict[str, dict[str, int]] = {}
    for row in session.execute(select(TallyRow.name, TallyRow.label, TallyRow.number)):
        found.setdefault(row.name, {})[row.label] = row.number
    return found


def tallies_of(session: Session, name: str) -> dict[str, int]:
    """The counters of one name: label -> number."""
    rows = session.execute(select(TallyRow.label, TallyRow.number).where(TallyRow.name == name))
    return {label: number for label, number in rows}  # noqa: C416 - rows are not pairs to mypy
