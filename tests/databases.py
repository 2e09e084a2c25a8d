"""Migrated PostgreSQL databases that tests use one after another; a copy of the schema costs more than most tests."""

import secrets
from dataclasses import dataclass, field

import psycopg
from psycopg import Connection, sql

from digest.store.database import migrate, open_engine
from tests.servers import with_database

ROOM = 8_000_000
"""Bytes by which a database may have grown and still be used again."""

# Copies of a template keep its object ids, so other sums mean that a test changed the schema.
SCHEMA = """
    SELECT (SELECT sum(oid::bigint) FROM pg_class), (SELECT sum(oid::bigint) FROM pg_constraint),
        (SELECT sum(oid::bigint) FROM pg_trigger), (SELECT sum(oid::bigint) FROM pg_proc),
        (SELECT sum(oid::bigint) FROM pg_attrdef),
        (SELECT count(*) FROM pg_attribute WHERE NOT attisdropped), (SELECT count(*) FROM pg_attribute WHERE attnotnull)
"""
TABLES = """
    SELECT relname FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        AND relname <> 'alembic_version'
"""
MONTHS = "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'"
OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s"
SEQUENCES = """
    SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
    FROM pg_sequences WHERE last_value IS NOT NULL
"""


def run(server: str, statement: str, *names: str) -> None:
    """Run one statement about databases, whose names stand for its ``{}``."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@dataclass
class Stock:
    """Databases of one schema on one server.

    Attributes:
        server: its libpq address.
    """

    server: str
    _template: str = field(default_factory=lambda: f"template_{secrets.token_hex(6)}")
    _spare: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        run(self.server, "CREATE DATABASE {}", self._template)
        engine = open_engine(with_database(self.server, self._template))
        migrate(engine)
        engine.dispose()
        with psycopg.connect(with_database(self.server, self._template), autocommit=True) as connection:
            self._months = {name for (name,) in connection.execute(MONTHS)}
            self._schema = connection.execute(SCHEMA).fetchone()
            self._emptying = _emptying(connection)
            self._largest = _size(connection) + ROOM

    def take(self) -> str:
        """The name of an empty database at the newest schema."""
        if self._spare:
            return self._spare.pop()
        name = f"test_{secrets.token_hex(6)}"
        run(self.server, "CREATE DATABASE {} TEMPLATE {}", name, self._template)
        return name

    def give_back(self, name: str) -> None:
        """Empty a database for the next test, or drop it where a test changed its schema or filled it."""
        with psycopg.connect(with_database(self.server, name), autocommit=True) as connection:
            connection.execute(OTHERS, [connection.info.backend_pid])
            for month in {name for (name,) in connection.execute(MONTHS)} - self._months:
                connection.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(month)))
            is_fit = connection.execute(SCHEMA).fetchone() == self._schema and _size(connection) <= self._largest
            if is_fit:
                connection.execute(self._emptying)
                connection.execute(SEQUENCES)
        if is_fit:
            self._spare.append(name)
        else:
            run(self.server, "DROP DATABASE {} WITH (FORCE)", name)

    def close(self) -> None:
        """Drop them all."""
        for name in (self._template, *self._spare):
            run(self.server, "DROP DATABASE {} WITH (FORCE)", name)


def _emptying(connection: Connection) -> sql.Composed:
    tables = [sql.Identifier(name) for (name,) in connection.execute(TABLES)]
    deletes = [sql.SQL("DELETE FROM {};").format(table) for table in tables]
    # Foreign keys are triggers, which a replica leaves out; all tables are emptied anyway.
    return sql.SQL("SET session_replication_role = replica;") + sql.SQL("").join(deletes)


def _size(connection: Connection) -> int:
    found = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    assert found is not None
    return int(found[0])
