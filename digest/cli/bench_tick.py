"""The queries of a tick: which they are, and how PostgreSQL runs them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, event

IDLE_AT = datetime(2027, 6, 9, 12, 1, tzinfo=UTC)
"""A minute past the hour: nobody's 08:00 is nearer than a quarter of an hour."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One query as the driver got it."""

    sql: str
    parameters: Any


def statements_of(work: Callable[[], object], engine: Engine) -> list[Statement]:
    """What ``work`` asks of the database, in order."""
    found: list[Statement] = []

    def note(_: object, __: object, sql: str, parameters: object, *___: object) -> None:
        found.append(Statement(sql, parameters))

    event.listen(engine, "before_cursor_execute", note)
    try:
        work()
    finally:
        event.remove(engine, "before_cursor_execute", note)
    return found


def explain(engine: Engine, statements: Sequence[Statement]) -> list[str]:
    """``EXPLAIN (ANALYZE)`` of each query, run and rolled back."""
    plans = []
    for statement in statements:
        with engine.connect() as connection:
            rows = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, COSTS OFF) {statement.sql}", statement.parameters)
            plans.append("\n".join([statement.sql.strip(), *(f"    {line}" for (line,) in rows), ""]))
            connection.rollback()
    return plans
