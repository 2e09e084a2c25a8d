"""What a mail provider keeps about people besides carrying mail to them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from digest.domain.event import EventKind


@dataclass(frozen=True, slots=True)
class Held:
    """An address to which the provider carries no mail.

    Attributes:
        book: the provider's name of the list it is on.
        kind: the fact that put it there.
        detail: the provider's words on it.
    """

    book: str
    kind: EventKind
    held_at: datetime
    address: str = field(repr=False)
    detail: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Erasing:
    """What a provider made of a wish to erase addresses.

    Attributes:
        job: the provider's number of the work it took on.
        refused: addresses it takes for none; all others were taken.
    """

    job: str
    refused: frozenset[str] = field(default=frozenset(), repr=False)


class Account(Protocol):
    """A provider's own records. Calls raise ``TryAgainError`` or ``PermanentError``, never with an address in it."""

    name: str
    most_erased: int
    """Addresses of one wish."""

    def held(self) -> Iterator[Held]:
        """Every address that mail is held back from, newest facts included."""
        ...

    def let_go(self, held: Held) -> None:
        """Carry mail to the address again; no fault where nothing holds it any more."""
        ...

    def erase(self, addresses: Sequence[str], now: datetime) -> Erasing:
        """Have everything about these addresses deleted."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...
