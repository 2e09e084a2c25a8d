"""What every command starts from: checked settings, the wired application, the clock."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path

from digest.bootstrap import Application, build
from digest.domain.errors import BadInputError
from digest.settings import load_settings
from digest.store.database import current_revision, migrate, newest_revision

FIRST_YEAR, LAST_YEAR = 1900, 2200
LARGEST_ID = 2**63 - 1
"""Beyond it no database can hold an id."""


def utc_now() -> datetime:
    """The instant at which a command runs."""
    return datetime.now(UTC)


def read_instant(text: str | None, name: str) -> datetime:
    """The instant in an option, now if it is empty; without an offset it is UTC.

    Raises:
        BadInputError: it is no ISO 8601 instant.
    """
    if not text:
        return utc_now()
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadInputError(name, text, "is not an instant: write 2026-12-03T00:00:00Z.") from error
    if not FIRST_YEAR <= at.year <= LAST_YEAR:
        raise BadInputError(name, text, f"is outside of {FIRST_YEAR} to {LAST_YEAR}, for which time zones have rules.")
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def read_date(text: str, name: str) -> date:
    """The local date in an option.

    Raises:
        BadInputError: it is no ISO 8601 date.
    """
    try:
        on = date.fromisoformat(text)
    except ValueError as error:
        raise BadInputError(name, text, "is not a date: write 2026-12-03.") from error
    if not FIRST_YEAR <= on.year <= LAST_YEAR:
        raise BadInputError(name, text, f"is outside of {FIRST_YEAR} to {LAST_YEAR}, for which time zones have rules.")
    return on


def read_file(path: Path) -> bytes:
    """The bytes of a file that a person named.

    Raises:
        BadInputError: it can't be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInputError("file", path, f"can't be read: {error.strerror or 'unknown reason'}.") from error


def instant_text(at: datetime) -> str:
    """An instant as commands print it: UTC with Z."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


@contextmanager
def application() -> Iterator[Application]:
    """The wired application over a database at the newest schema; an embedded one is brought there."""
    app = build(load_settings())
    try:
        bring_up_to_date(app)
        yield app
    finally:
        app.close()


def bring_up_to_date(app: Application) -> None:
    """Migrate the embedded database; a server's is the operator's to migrate.

    Raises:
        BadInputError: the schema is not the newest.
    """
    revision = current_revision(app.engine)
    if revision == newest_revision():
        return
    if app.engine.dialect.name != "sqlite":
        raise BadInputError("schema", revision or "none", "is not the newest: run digest migrate.")
    migrate(app.engine)
