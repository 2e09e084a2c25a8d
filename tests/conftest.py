"""Databases and a broker for every room, started when first asked for; and how long hypothesis may look."""

import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis
from hypothesis import HealthCheck, settings
from psycopg import sql

from digest.store.database import Sessions, migrate, open_engine, open_sessions
from tests.servers import postgres_server as running_postgres
from tests.servers import redis_server as running_redis
from tests.servers import with_database

TESTS = Path(__file__).parent
PURE = ("domain", "rendering")
"""Rooms whose tests touch no server."""
SERVERS = frozenset({"postgres_server", "redis_server"})

settings.register_profile("short", max_examples=30, deadline=None)
settings.register_profile("long", max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "servers: needs PostgreSQL or Redis; set by itself, for -m 'not servers'")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        needed = SERVERS & set(getattr(item, "fixturenames", ()))
        if not needed:
            continue
        if item.path.is_relative_to(TESTS) and item.path.relative_to(TESTS).parts[0] in PURE:
            raise pytest.UsageError(f"{item.nodeid} is a pure test and asks for {', '.join(sorted(needed))}")
        if "sqlite" not in getattr(getattr(item, "callspec", None), "id", ""):
            item.add_marker("servers")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The libpq address of a PostgreSQL on which databases may be made."""
    with running_postgres() as address:
        yield address


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> Iterator[str]:
    """The name of a migrated database that is copied for each test."""
    name = f"template_{secrets.token_hex(6)}"
    _run(postgres_server, "CREATE DATABASE {}", name)
    engine = open_engine(with_database(postgres_server, name))
    migrate(engine)
    engine.dispose()
    yield name
    _run(postgres_server, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture
def postgres_url(postgres_server: str, postgres_template: str) -> Iterator[str]:
    """A migrated PostgreSQL database of the test's own."""
    name = f"test_{secrets.token_hex(6)}"
    _run(postgres_server, "CREATE DATABASE {} TEMPLATE {}", name, postgres_template)
    yield with_database(postgres_server, name)
    _run(postgres_server, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture
def empty_postgres_url(postgres_server: str) -> Iterator[str]:
    """A PostgreSQL database of the test's own without any table."""
    name = f"test_{secrets.token_hex(6)}"
    _run(postgres_server, "CREATE DATABASE {}", name)
    yield with_database(postgres_server, name)
    _run(postgres_server, "DROP DATABASE {} WITH (FORCE)", name)


def _run(server: str, statement: str, *names: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file that is copied for each test."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    engine = open_engine(f"sqlite:///{path}")
    migrate(engine)
    with engine.connect() as connection:
        # The copy is one file, so nothing may be left in the log beside it.
        connection.exec_driver_sql("COMMIT")
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.exec_driver_sql("BEGIN")
    engine.dispose()
    return path


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """A migrated SQLite database of the test's own."""
    return f"sqlite:///{shutil.copy(sqlite_template, tmp_path / 'digest.db')}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A migrated database of the test's own, on SQLite and on PostgreSQL."""
    return str(request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url"))


@pytest.fixture
def database(database_url: str) -> Iterator[Sessions]:
    """Sessions on a migrated database of the test's own, on SQLite and on PostgreSQL."""
    yield from _sessions(database_url)


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Sessions]:
    """Sessions on a migrated PostgreSQL database of the test's own."""
    yield from _sessions(postgres_url)


def _sessions(url: str) -> Iterator[Sessions]:
    engine = open_engine(url)
    yield open_sessions(engine)
    engine.dispose()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """The address of a Redis-protocol server, without a database number."""
    with running_redis() as address:
        yield address


@pytest.fixture
def redis_url(redis_server: str, worker_id: str) -> str:
    """An emptied Redis database; each xdist worker has a number of its own, for servers they share."""
    number = int(worker_id.removeprefix("gw")) if worker_id.startswith("gw") else 0
    url = f"{redis_server}/{number}"
    with redis.Redis.from_url(url) as client:
        client.flushdb()
    return url
