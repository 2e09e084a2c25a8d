"""Databases and a broker for every room, started when first asked for; and how long hypothesis may look."""

import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from hypothesis import HealthCheck, settings
from sqlalchemy import Engine

from digest.store.database import Sessions, migrate, open_engine, open_sessions
from tests.databases import Stock, run
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
CROWDED = ("faults/", "workers/test_processes.py", "workers/test_web_server.py")
"""Tests of a whole installation: many processes of the real program each."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "servers: needs PostgreSQL or Redis; set by itself, for -m 'not servers'")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(TESTS) and str(item.path.relative_to(TESTS)).startswith(CROWDED):
            # One after the other: each alone keeps two cores busy, and together they would wait for one another.
            item.add_marker(pytest.mark.xdist_group("many processes"))
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
def postgres_stock(postgres_server: str) -> Iterator[Stock]:
    """Migrated databases that tests use in turn."""
    stock = Stock(postgres_server)
    yield stock
    stock.close()


@pytest.fixture
def postgres_url(postgres_stock: Stock) -> Iterator[str]:
    """A migrated PostgreSQL database that is the test's own as long as it runs."""
    name = postgres_stock.take()
    yield with_database(postgres_stock.server, name)
    postgres_stock.give_back(name)


@pytest.fixture
def empty_postgres_url(postgres_server: str) -> Iterator[str]:
    """A PostgreSQL database of the test's own without any table."""
    name = f"test_{secrets.token_hex(6)}"
    run(postgres_server, "CREATE DATABASE {}", name)
    yield with_database(postgres_server, name)
    run(postgres_server, "DROP DATABASE {} WITH (FORCE)", name)


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
def sqlite_url(sqlite_template: Path) -> str:
    """A migrated SQLite database that is the test's own as long as it runs."""
    path = sqlite_template.with_name("digest.db")
    for suffix in ("-wal", "-shm"):
        path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
    return f"sqlite:///{shutil.copy(sqlite_template, path)}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A migrated database of the test's own, on SQLite and on PostgreSQL."""
    return str(request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url"))


@pytest.fixture(scope="session")
def engines() -> dict[str, Engine]:
    """Engines by address: databases are used again, and an engine remembers the SQL that it compiled."""
    return {}


@pytest.fixture
def database(database_url: str, engines: dict[str, Engine]) -> Iterator[Sessions]:
    """Sessions on a migrated database of the test's own, on SQLite and on PostgreSQL."""
    yield from _sessions(database_url, engines)


@pytest.fixture
def postgres(postgres_url: str, engines: dict[str, Engine]) -> Iterator[Sessions]:
    """Sessions on a migrated PostgreSQL database of the test's own."""
    yield from _sessions(postgres_url, engines)


def _sessions(url: str, engines: dict[str, Engine]) -> Iterator[Sessions]:
    engine = engines.setdefault(url, open_engine(url))
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
