"""The months that PostgreSQL keeps deliveries in; SQLite has one table and needs none of this."""

import re
from collections.abc import Iterable
from datetime import date, timedelta

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from digest.store.dialects import on_postgresql

MONTH = re.compile(r"deliveries_(\d{4})_(\d{2})")
ONE_AT_A_TIME = 0x0DE11E
"""The advisory lock under which months are made and dropped."""


def is_month(name: str) -> bool:
    """Whether this table is one month of the deliveries, or takes those of months not made yet."""
    return name == "deliveries_default" or MONTH.fullmatch(name) is not None


def month_of(on: date) -> str:
    """The table of the month that ``on`` lies in."""
    return f"deliveries_{on:%Y_%m}"


def wait_briefly(session: Session) -> None:
    """Give up on a lock before PostgreSQL looks for deadlocks, which it does after a second."""
    if on_postgresql(session):
        session.execute(text("SET LOCAL lock_timeout = '300ms'"))


def make_months(session: Session, dates: Iterable[date]) -> list[str]:
    """Have a table for the month of each date; returns those made now.

    Call it in a transaction of its own: a new month locks the deliveries for a moment, and whoever held a row of them
    and waited for this would wait for ever.
    """
    if not on_postgresql(session):
        return []
    firsts = sorted({on.replace(day=1) for on in dates})
    missing = [first for first in firsts if not _exists(session, first)]
    if not missing:
        return []
    session.execute(select(func.pg_advisory_xact_lock(ONE_AT_A_TIME)))
    return [
        _make(session, first) for first in missing if not _exists(session, first) and not _is_astray(session, first)
    ]


def _exists(session: Session, first: date) -> bool:
    return session.scalar(select(func.to_regclass(month_of(first)))) is not None


def _is_astray(session: Session, first: date) -> bool:
    """Rows written without a month are in the default table; while they are there, that month stays there."""
    found = text("SELECT EXISTS (SELECT 1 FROM deliveries_default WHERE local_on >= :first AND local_on < :next)")
    return bool(session.scalar(found, {"first": first, "next": _next(first)}))


def _make(session: Session, first: date) -> str:
    name = month_of(first)
    # Names and dates here are made of digits; a table's bounds can't be parameters.
    bounds = f"FROM ('{first.isoformat()}') TO ('{_next(first).isoformat()}')"
    session.execute(text(f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF deliveries FOR VALUES {bounds}"))
    return name


def _next(first: date) -> date:
    return (first + timedelta(days=32)).replace(day=1)


def drop_months(session: Session, before: date) -> list[str]:
    """Drop the months that end before ``before``; returns their tables."""
    if not on_postgresql(session):
        return []
    session.execute(select(func.pg_advisory_xact_lock(ONE_AT_A_TIME)))
    parts = text("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'deliveries'::regclass")
    gone = [name for name in session.scalars(parts) if (end := _end(name)) is not None and end <= before]
    for name in gone:
        session.execute(text(f"DROP TABLE {name}"))
    return sorted(gone)


def _end(name: str) -> date | None:
    found = MONTH.fullmatch(name)
    return None if found is None else _next(date(int(found[1]), int(found[2]), 1))
