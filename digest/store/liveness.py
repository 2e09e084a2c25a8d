"""Whether a connection of the pool still leads to a server, without a trip to it each time."""

from time import monotonic
from typing import cast

import psycopg
from sqlalchemy import Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

RESTED_SECONDS = 2.0
"""A connection that lay idle for longer is asked: what stands between may have forgotten it without a word."""
SINCE = "idle since"


def look_before_use(engine: Engine) -> None:
    """Have a PostgreSQL engine look at each connection before it is used; one that is gone takes its pool with it.

    A server that ends leaves the end of the stream in the socket, which is seen here without asking. That is what
    SQLAlchemy's own ``pool_pre_ping`` finds out by a trip before every transaction.
    """

    def rest(_: DBAPIConnection | None, entry: ConnectionPoolEntry) -> None:
        entry.info[SINCE] = monotonic()

    def look(connection: DBAPIConnection, entry: ConnectionPoolEntry, _: PoolProxiedConnection) -> None:
        rested = monotonic() - entry.info.get(SINCE, monotonic())
        try:
            _read_what_came(cast("psycopg.Connection", connection))
            if rested > RESTED_SECONDS:
                engine.dialect.do_ping(connection)
        except psycopg.Error as error:
            raise InvalidatePoolError from error

    event.listen(engine, "checkin", rest)
    event.listen(engine, "checkout", look)


def _read_what_came(connection: psycopg.Connection) -> None:
    """Without waiting; raises psycopg's error at the end of the stream."""
    # Its last words come first, its end is read after them.
    for _ in range(2):
        connection.pgconn.consume_input()
