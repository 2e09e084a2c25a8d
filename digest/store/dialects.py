"""What SQLite and PostgreSQL say differently."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from digest.store.tables import Table


def on_postgresql(session: Session) -> bool:
    """Whether this session speaks to PostgreSQL."""
    return session.get_bind().dialect.name == "postgresql"


def insert_new(session: Session, table: type[Table], *unique: str) -> sqlite.Insert | postgresql.Insert:
    """An INSERT that passes over rows which exist already; ``returning`` then gives the new ones only.

    Args:
        unique: the columns that tell; none: whatever is unique.
    """
    if on_postgresql(session):
        return postgresql.insert(table).on_conflict_do_nothing(index_elements=unique or None)
    return sqlite.insert(table).on_conflict_do_nothing(index_elements=unique or None)


def insert_new_from(session: Session, table: type[Table], columns: Sequence[str], rows: Select[Any]) -> None:
    """``INSERT … SELECT … ON CONFLICT DO NOTHING``: rows that exist already are passed over."""
    session.execute(insert_new(session, table).from_select(list(columns), rows))


def wait_for_turn(session: Session, turn: int) -> None:
    """Hold all other transactions that ask for the same turn until this one ends; SQLite has one writer anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(turn)))
