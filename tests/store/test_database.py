"""Migrations and engines."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from threading import Barrier

import psycopg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import CheckConstraint, Engine, inspect, text
from sqlalchemy.exc import IntegrityError

from digest.store import liveness
from digest.store.database import (
    MIGRATIONS,
    Sessions,
    at_once,
    current_revision,
    migrate,
    newest_revision,
    open_engine,
    open_sessions,
)
from digest.store.months import is_month
from digest.store.tables import Subscriber, Table


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A database without any table."""
    on_postgres = request.param == "postgresql"
    url = request.getfixturevalue("empty_postgres_url") if on_postgres else f"sqlite:///{tmp_path}/new/digest.db"
    made = open_engine(url)
    yield made
    made.dispose()


def not_a_model(name: str | None, kind: str, _: object) -> bool:
    """The months of deliveries and SQLite's full-text tables are made by hand; other tests use them."""
    return kind != "table" or not (is_month(str(name)) or str(name).startswith("story_search_fts"))


def config(engine: Engine) -> Config:
    made = Config()
    made.set_main_option("script_location", str(MIGRATIONS))
    made.attributes["engine"] = engine
    return made


@pytest.mark.filterwarnings("ignore:autogenerate skipping metadata-specified expression-based index")
def test_migrations_equal_the_models(engine: Engine) -> None:
    migrate(engine)
    with engine.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        known = {"include_name": not_a_model}
        context = MigrationContext.configure(connection, opts=options | known)
        assert compare_metadata(context, Table.metadata) == []


def test_migrations_make_the_checks_of_the_models(engine: Engine) -> None:
    """Autogeneration does not compare these."""
    migrate(engine)
    with engine.connect() as connection:
        look = inspect(connection)
        for table in Table.metadata.sorted_tables:
            made = {check["name"] for check in look.get_check_constraints(table.name)}
            meant = {str(check.name) for check in table.constraints if isinstance(check, CheckConstraint)}
            assert made == meant


def test_every_foreign_key_says_what_a_deletion_does(engine: Engine) -> None:
    migrate(engine)
    with engine.connect() as connection:
        look = inspect(connection)
        for table in Table.metadata.sorted_tables:
            made = {
                (key["constrained_columns"][0], (key["options"].get("ondelete") or "NO ACTION").upper())
                for key in look.get_foreign_keys(table.name)
            }
            assert made == {(key.parent.name, key.ondelete or "NO ACTION") for key in table.foreign_keys}


def test_down_to_nothing_and_up_again(engine: Engine) -> None:
    assert current_revision(engine) is None
    assert migrate(engine) == newest_revision()
    command.downgrade(config(engine), "base")
    with engine.connect() as connection:
        assert set(inspect(connection).get_table_names()) <= {"alembic_version"}
    assert migrate(engine) == newest_revision()


def test_each_step_down_can_be_taken_up_again(engine: Engine) -> None:
    migrate(engine)
    for revision in ScriptDirectory.from_config(config(engine)).walk_revisions():
        command.downgrade(config(engine), str(revision.down_revision or "base"))
        command.upgrade(config(engine), revision.revision)
        command.downgrade(config(engine), str(revision.down_revision or "base"))


def test_migrating_again_changes_nothing(engine: Engine) -> None:
    migrate(engine)
    assert migrate(engine) == newest_revision()


def test_sqlite_keeps_its_promises(sqlite_url: str) -> None:
    engine = open_engine(sqlite_url)
    with engine.connect() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("foreign_keys", "journal_mode")
        }
        assert found == {"foreign_keys": 1, "journal_mode": "wal"}
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000
        assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
    engine.dispose()


@pytest.mark.parametrize(("asked", "holds"), [("", "1.1"), ("?options=-crandom_page_cost%3D1.05", "1.05")])
def test_postgresql_looks_each_reader_of_a_batch_up(postgres_url: str, asked: str, holds: str) -> None:
    """It neither reads the whole list nor starts processes; an operator's own lower cost stays."""
    engine = open_engine(f"{postgres_url}{asked.replace('?', '&') if '?' in postgres_url else asked}")
    for _ in range(2):
        with engine.connect() as connection:
            assert connection.exec_driver_sql("SHOW random_page_cost").scalar() == holds
            assert connection.exec_driver_sql("SHOW parallel_setup_cost").scalar() == "10000"
            connection.rollback()
    engine.dispose()


def test_a_statement_at_once_leaves_its_connection_to_transactions_that_can_be_taken_back(postgres_url: str) -> None:
    """Whether it went well or not, on the very connection that the pool gives out next."""
    engine = open_engine(postgres_url)
    sessions, servers = open_sessions(engine), set[int]()
    put = text("INSERT INTO switches VALUES (:name, '', now()) RETURNING pg_backend_pid()")
    for failure in (None, IntegrityError):
        with sessions() as session, pytest.raises(failure) if failure else nullcontext():
            servers.add(at_once(session).scalar(put, {"name": "kept"}))
        with sessions() as session:
            servers.add(session.scalar(put, {"name": "taken back"}) or 0)
            session.rollback()
            assert session.scalars(text("SELECT name FROM switches")).all() == ["kept"]
    assert len(servers) == 1
    engine.dispose()


@pytest.mark.parametrize("rested_seconds", [-1.0, 3600.0])
def test_connections_whose_server_ended_are_replaced_before_they_are_used(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, rested_seconds: float
) -> None:
    monkeypatch.setattr(liveness, "RESTED_SECONDS", rested_seconds)
    engine = open_engine(postgres_url)
    with engine.connect() as first, engine.connect() as second:
        before = {one.exec_driver_sql("SELECT pg_backend_pid()").scalar_one() for one in (first, second)}
    with psycopg.connect(postgres_url, autocommit=True) as other:
        ended = [other.execute("SELECT pg_terminate_backend(%s, 10000)", [pid]).fetchone() for pid in before]
    assert ended == [(True,)] * 2
    with engine.connect() as first, engine.connect() as second:
        after = {one.exec_driver_sql("SELECT pg_backend_pid()").scalar_one() for one in (first, second)}
    assert len(after) == 2
    assert after.isdisjoint(before)
    engine.dispose()


def test_the_folder_of_a_new_sqlite_file_is_made(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/deep/down/digest.db")
    migrate(engine)
    engine.dispose()
    assert (tmp_path / "deep" / "down" / "digest.db").exists()


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_any_spelling_of_postgresql_uses_psycopg_3(scheme: str) -> None:
    engine = open_engine(f"{scheme}://reader@db.example.com/digest")
    assert engine.dialect.driver == "psycopg"
    engine.dispose()


def test_a_read_that_turns_into_a_write_waits_its_turn(database: Sessions) -> None:
    """Two transactions that read first and then write; neither fails for the other, and no change is lost."""
    start, rounds = Barrier(2), 10

    def count_up() -> None:
        start.wait(10)
        for _ in range(rounds):
            with database.begin() as session:
                lock = " FOR UPDATE" if session.get_bind().dialect.name == "postgresql" else ""
                value = int(session.scalar(text(f"SELECT value FROM switches WHERE name = 'n'{lock}")) or 0)  # noqa: S608 - two literals
                session.execute(text("UPDATE switches SET value = :value WHERE name = 'n'"), {"value": str(value + 1)})

    with database.begin() as session:
        session.execute(text("INSERT INTO switches VALUES ('n', '0', '2027-06-10 00:00:00')"))
    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(count_up) for _ in range(2)]:
            future.result(60)
    with database() as session:
        assert session.scalar(text("SELECT value FROM switches")) == str(2 * rounds)


def test_objects_stay_readable_after_their_transaction(database: Sessions) -> None:
    with database.begin() as session:
        assert session.get(Subscriber, 1) is None
    assert database.kw["expire_on_commit"] is False
