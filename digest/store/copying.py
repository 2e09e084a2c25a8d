"""PostgreSQL's COPY between a statement and a file, a block at a time."""

from pathlib import Path
from typing import Any, cast

import psycopg
from sqlalchemy import Engine

BLOCK = 1 << 18


def copy_out(engine: Engine, statement: str, file: Path) -> None:
    """What ``COPY … TO STDOUT`` gives, as a file."""
    with (
        engine.connect() as connection,
        file.open("wb") as target,
        driver_of(connection).cursor() as cursor,
        cursor.copy(statement.encode()) as blocks,
    ):
        for block in blocks:
            target.write(block)


def copy_file_in(engine: Engine, statement: str, file: Path) -> None:
    """A file for ``COPY … FROM STDIN``, in a transaction of its own."""
    with (
        engine.begin() as connection,
        file.open("rb") as source,
        driver_of(connection).cursor() as cursor,
        cursor.copy(statement.encode()) as copy,
    ):
        while block := source.read(BLOCK):
            copy.write(block)


def driver_of(connection: Any) -> psycopg.Connection:  # noqa: ANN401 - SQLAlchemy knows its drivers' connections as Any
    """Psycopg's own connection under one of SQLAlchemy's."""
    return cast("psycopg.Connection", connection.connection.driver_connection)
