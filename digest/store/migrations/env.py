"""How Alembic reaches the database; called in process by :mod:`digest.store.database`."""

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import Engine

from digest.store.months import is_month
from digest.store.tables import Table
from digest.store.types import UtcDateTime, Word


def render_item(kind: str, item: Any, _: AutogenContext) -> str | Literal[False]:  # noqa: ANN401 - Alembic's signature
    """Migrations name plain types, so that an old one never changes with the code."""
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(item, Word):
        return "sa.String(24)"
    return False


engine: Engine = context.config.attributes["engine"]
with engine.connect() as connection:
    # SQLite changes a table by copying it and dropping the old one, which would take the rows that refer to it along.
    if engine.dialect.name == "sqlite":
        connection.connection.driver_connection.execute("PRAGMA foreign_keys=OFF")  # type: ignore[union-attr] # it is open
    context.configure(
        connection=connection,
        target_metadata=Table.metadata,
        render_item=render_item,
        include_name=lambda name, kind, _: kind != "table" or not is_month(str(name)),
        render_as_batch=engine.dialect.name == "sqlite",
    )
    with context.begin_transaction():
        context.run_migrations()
    connection.commit()
    if engine.dialect.name == "sqlite":
        broken = connection.connection.driver_connection.execute("PRAGMA foreign_key_check").fetchall()  # type: ignore[union-attr] # it is open
        connection.connection.driver_connection.execute("PRAGMA foreign_keys=ON")  # type: ignore[union-attr] # likewise
        if broken:
            raise RuntimeError(f"the migration left {len(broken)} rows that refer to nothing")
