"""What SQLite and PostgreSQL say differently."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Float, Select, cast, exists, extract, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import InstrumentedAttribute, Session

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


def hours_between(
    session: Session, start: InstrumentedAttribute[Any], end: InstrumentedAttribute[Any]
) -> ColumnElement[float]:
    """The hours from one instant to another."""
    if on_postgresql(session):
        return cast(extract("epoch", end - start) / 3600, Float)
    return (func.julianday(end, type_=Float) - func.julianday(start, type_=Float)) * 24


def holds_any(
    session: Session, words: InstrumentedAttribute[list[Any]], wanted: Collection[str]
) -> ColumnElement[bool]:
    """Whether a column that holds a JSON array of texts holds one of these."""
    if on_postgresql(session):
        each = func.json_array_elements_text(words).table_valued("value").render_derived()
    else:
        each = func.json_each(words).table_valued("value")
    return exists(select(each.c.value).where(each.c.value.in_(list(wanted))))
