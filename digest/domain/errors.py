"""Two families of failure: what will never work, and what may work later."""

from typing import Self


class DigestError(Exception):
    """Any failure this project raises on purpose."""


class PermanentError(DigestError):
    """Trying again unchanged cannot help."""


class UnknownZoneError(PermanentError):
    """The running tzdata has no rules for a zone that it, or an older copy, once had.

    Args:
        name: the zone as stored.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"time zone {shown(name)} has no rules in the tzdata package in use")


class GoneError(PermanentError):
    """What was asked for is gone for good, and whoever had it says so."""


class TryAgainError(DigestError):
    """The same call may work later.

    Args:
        message: what happened.
        after_seconds: how long to wait at least, where the other side said so.
    """

    def __init__(self, message: str, after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.after_seconds = after_seconds


class BadInputError(PermanentError):
    """A value from outside that cannot be used; says which value, why, and what to do.

    Args:
        field: the name its giver knows it by, e.g. ``timezone``.
        value: the value as given; shown shortened and without control characters.
        mend: one sentence that says what would be accepted.
    """

    def __init__(self, field: str, value: object, mend: str) -> None:
        self.field = field
        self.value = value
        self.mend = mend
        super().__init__(f"{field}: {shown(value)} {mend}")

    def __reduce__(self) -> tuple[type[Self], tuple[str, object, str]]:
        """How another process makes it anew; by itself an error is made of its message alone."""
        return type(self), (self.field, self.value, self.mend)


def shown(value: object, limit: int = 80) -> str:
    """The value quoted for a one-line message: no control characters, cut in the middle to ``limit`` characters."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(value))
    half = limit // 2
    return f"“{text if len(text) <= limit else f'{text[: half - 1]}…{text[-half:]}'}”"
