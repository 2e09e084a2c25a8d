"""Column types that keep the domain's rules on SQLite and PostgreSQL alike."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from sqlalchemy import DateTime, Dialect, String
from sqlalchemy.types import TypeDecorator

E = TypeVar("E", bound=StrEnum)


class UtcDateTime(TypeDecorator[datetime]):
    """An instant. Goes in aware, comes out aware in UTC; a naive value is refused, since nobody knows what it means."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To UTC; SQLite keeps no offset, so there it is stored without one."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"naive datetime {value!r}: an instant needs its offset")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Back to aware UTC."""
        if value is None:
            return None
        if value.tzinfo is UTC:
            return value
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Word(TypeDecorator[E], Generic[E]):
    """A word of an enum, stored as its value; checked against the enum on the way in and out."""

    impl = String(24)
    cache_ok = True

    def __init__(self, words: type[E]) -> None:
        super().__init__()
        self.words = words
        self._by_value = {word.value: word for word in words}

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ANN401, ARG002 - SQLAlchemy's signature
        """To the plain word."""
        return None if value is None else self.words(str(value)).value

    def process_result_value(self, value: str | None, dialect: Dialect) -> E | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Back to the enum."""
        return None if value is None else self._by_value.get(value) or self.words(value)
