"""Many rows of a list at once, copied into tables that end with the transaction."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Column, Date, Integer, MetaData, String, Table, insert
from sqlalchemy import text as sql
from sqlalchemy.orm import Session

from digest.domain.language import Language, LanguageChoice
from digest.domain.subscriber import EndReason, SubscriberState
from digest.domain.suppression import SuppressionReason
from digest.store.copying import driver_of
from digest.store.dialects import on_postgresql
from digest.store.types import UtcDateTime, Word

_IDS = sql("nextval('subscribers_id_seq')")
_TABLES = MetaData()
ROWS = Table(
    "import_rows",
    _TABLES,
    Column("number", BigInteger),
    Column("id", BigInteger, server_default=_IDS),
    Column("email", String(320)),
    Column("email_key", String(320)),
    Column("name", String(200)),
    Column("consent_at", UtcDateTime()),
    Column("standing", Integer),
    prefixes=["TEMPORARY"],
    postgresql_on_commit="DROP",
)
"""The rows; each has the id that its subscriber gets if it is a new one."""
STANDINGS = Table(
    "import_standings",
    _TABLES,
    Column("number", Integer),
    Column("state", Word(SubscriberState)),
    Column("reason", Word(EndReason)),
    Column("bar", Word(SuppressionReason)),
    Column("language", Word(LanguageChoice)),
    Column("first_language", Word(Language)),
    Column("cadence_id", BigInteger),
    Column("topics", String(400)),
    Column("source", String(400)),
    Column("wording", String(40)),
    Column("paused_until_on", Date),
    prefixes=["TEMPORARY"],
    postgresql_on_commit="DROP",
)
"""What rows have in common."""
HASHES = Table(
    "import_hashes",
    _TABLES,
    Column("number", BigInteger),
    Column("address_hash", String(64)),
    prefixes=["TEMPORARY"],
    postgresql_on_commit="DROP",
)
"""The keyed hashes of the rows' addresses, where there are erased ones to compare with."""
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def stage(
    session: Session, rows: Iterable[tuple[Any, ...]], standings: Iterable[tuple[Any, ...]], first_id: int
) -> None:
    """Put rows and what they have in common into fresh tables that end with the transaction.

    Args:
        rows: number, email, email_key, name, consent_at, standing.
        standings: as the columns of :data:`STANDINGS`.
        first_id: see :func:`free_id`.
    """
    for table in (ROWS, STANDINGS, HASHES):
        session.execute(sql(f"DROP TABLE IF EXISTS {table.name}"))
    _TABLES.create_all(session.connection(), checkfirst=False)
    _fill(session, STANDINGS, [c.name for c in STANDINGS.c], standings)
    columns = [c.name for c in ROWS.c if c.name != "id"]
    if on_postgresql(session):
        _fill(session, ROWS, columns, rows)
    else:
        _fill(session, ROWS, ["id", *columns], ((first_id + at, *row) for at, row in enumerate(rows)))


def free_id(session: Session) -> int:
    """The first id that no subscriber has or had; of use on SQLite, where nobody else can write meanwhile."""
    if on_postgresql(session):
        return 0
    given = session.scalar(sql("SELECT seq FROM sqlite_sequence WHERE name = 'subscribers'"))
    return int(given or 0) + 1


def _fill(session: Session, table: Table, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    if on_postgresql(session):
        copy_in(session, table.name, columns, rows)
    elif found := [dict(zip(columns, row, strict=True)) for row in rows]:
        session.execute(insert(table), found)


def copy_in(session: Session, table: str, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """PostgreSQL's COPY, in this session's transaction."""
    lines = "".join("\t".join(map(_copied, row)) + "\n" for row in rows)
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
    with driver_of(session.connection()).cursor() as cursor, cursor.copy(statement.encode()) as copy:
        copy.write(lines)


def _copied(value: object) -> str:
    if value is None:
        return r"\N"
    if isinstance(value, datetime):
        return value.isoformat()
    text = str(value)
    return text.translate(_ESCAPES) if "\\" in text or not text.isprintable() else text


def add_hashes(session: Session, hashes: Iterable[tuple[int, str]]) -> None:
    """The keyed hashes of staged rows."""
    _fill(session, HASHES, ["number", "address_hash"], hashes)
