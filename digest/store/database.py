"""Engines and sessions for SQLite and PostgreSQL."""

import sqlite3
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry

from digest.store.liveness import look_before_use

MIGRATIONS = Path(__file__).parent / "migrations"
BUSY_SECONDS = 30
"""How long a SQLite writer waits for another."""

PATIENCE = {"connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""Seconds after which a PostgreSQL that went away without a word is taken for gone (libpq)."""

LOOKUPS = """
SELECT set_config('random_page_cost', least(current_setting('random_page_cost')::float, 1.1)::text, false),
       set_config('parallel_setup_cost', greatest(current_setting('parallel_setup_cost')::float, 10000)::text, false),
       set_config('TimeZone', 'UTC', false)
"""
"""A batch's thousand readers are each looked up. PostgreSQL's own costs are those of a turning disk and of processes
that start for nothing: with them it reads the whole list for a batch, or starts two processes, at four times the CPU.
Instants come in UTC, so that none has to be moved there.
"""

Sessions = sessionmaker[Session]


def open_engine(url: str) -> Engine:
    """An engine for ``url``: a plain ``postgresql://`` uses psycopg 3, SQLite gets foreign keys and WAL.

    Errors never show parameters: those are addresses.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        engine = create_engine(
            _with_psycopg(parsed),
            hide_parameters=True,
            pool_size=10,
            max_overflow=20,
            connect_args=PATIENCE,
        )
        event.listen(engine, "connect", _prepare_postgresql)
        look_before_use(engine)
        return engine
    if parsed.database and parsed.database != ":memory:":
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(parsed, hide_parameters=True, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine


def _with_psycopg(url: URL) -> URL:
    return url.set(drivername="postgresql+psycopg") if url.drivername in {"postgresql", "postgres"} else url


def _prepare_postgresql(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    # A statement rather than a parameter of the connection: poolers refuse parameters that they don't know.
    cursor = connection.cursor()
    cursor.execute(LOOKUPS)
    cursor.close()
    connection.commit()


def _prepare_sqlite(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
    # The driver's own BEGIN comes too late: a read that turns into a write then fails at once when another writer came
    # between. With isolation off, the "begin" listener opens every transaction as a writer that waits its turn.
    connection.isolation_level = None
    for pragma in (
        "journal_mode=WAL",
        "cache_size=-8000",
        "temp_store=MEMORY",
        "synchronous=NORMAL",
        "foreign_keys=ON",
        f"busy_timeout={BUSY_SECONDS * 1000}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def open_sessions(engine: Engine) -> Sessions:
    """A factory of sessions whose objects stay readable after commit."""
    return sessionmaker(engine, expire_on_commit=False)


def at_once(session: Session) -> Connection:
    """The connection of a session that does nothing else, on which each statement is a transaction of its own.

    It saves the trips that begin and end one.
    """
    return session.connection(execution_options={"isolation_level": "AUTOCOMMIT"})


def ping(engine: Engine, times: int = 1) -> None:
    """Bare round trips to the database, on one connection of the pool."""
    with engine.connect() as connection:
        for _ in range(times):
            connection.exec_driver_sql("SELECT 1").all()


def _config(engine: Engine) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["engine"] = engine
    return config


def migrate(engine: Engine, revision: str = "head") -> str:
    """Bring the schema to ``revision``, up or down; returns the revision it is at."""
    current = current_revision(engine)
    is_down = revision.isdecimal() and current is not None and revision < current
    (command.downgrade if is_down else command.upgrade)(_config(engine), revision)
    return current_revision(engine) or ""


def current_revision(engine: Engine) -> str | None:
    """The revision the database is at; None before the first migration."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


@cache
def newest_revision() -> str:
    """The revision this program expects."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return ScriptDirectory.from_config(config).get_current_head() or ""


@cache
def revisions() -> tuple[str, ...]:
    """Every revision that this program knows, the oldest first."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return tuple(sorted(script.revision for script in ScriptDirectory.from_config(config).walk_revisions()))
