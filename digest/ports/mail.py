"""What sending needs from the world outside: who carries the mail, who remembers, who tells others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from digest.domain.delivery import DeliveryReason
from digest.domain.event import EventKind
from digest.domain.language import Language


@dataclass(frozen=True, slots=True)
class Sender:
    """Who the mail is from.

    Attributes:
        name: display name; any characters but controls.
        address: bare address, ASCII.
        list_id: RFC 2919 identifier without brackets, e.g. ``brief.example.com``.
        list_name: the phrase before it.
    """

    name: str
    address: str
    list_id: str
    list_name: str


@dataclass(frozen=True, slots=True)
class Message:
    """What one hand-over has in common for all its recipients.

    Attributes:
        key: stable name of the message, ``brief-12`` or ``letter-7``; ASCII letters, digits, ``-``.
        kind: ``brief``, ``confirm``, ``welcome``, …: which e-mail it is.
        slots: name -> marker. A marker stands in ``html`` and ``text`` wherever that value of a recipient belongs; it
            is unguessable ASCII without characters special to HTML, so a feed can't contain one.
    """

    key: str
    kind: str
    language: Language
    subject: str
    html: str
    text: str
    slots: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Recipient:
    """One reader of a message; not frozen, which takes four times as long to make, and every brief needs one.

    Attributes:
        key: names the delivery towards the provider, ASCII, without the address; comes back in events.
        address: as typed at sign-up, domain in ASCII.
        values: slot name -> value, safe in HTML and text alike.
        unsubscribe_url: for List-Unsubscribe (RFC 8058); None leaves both headers out (mail outside the list).
    """

    key: str
    address: str = field(repr=False)
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    unsubscribe_url: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a provider refused one recipient for good.

    Attributes:
        bounce: what the answer says of the mailbox, ``BOUNCED`` or ``SOFT_BOUNCED``; None where it says nothing of
            it, or the refusal is our own.
    """

    reason: DeliveryReason
    detail: str = ""
    bounce: EventKind | None = None


@dataclass(frozen=True, slots=True)
class HandOver:
    """What became of each recipient; every key given is in exactly one of the four.

    Attributes:
        accepted: the provider took it.
        refused: never will, for this recipient.
        unknown: given, but the answer was lost; must not be given again on a guess.
        again: not taken; may be given again later.
        receipt: the provider's id of the hand-over, where it gives one.
        after_seconds: how long the provider asks to wait before *again*.
        alarm: set when the operator has to act (credentials refused, say): sending stops.
        delayed: why those to be given *again* were not even tried: a ceiling, or a wait that was asked for earlier. It
            is no try, so it is not counted as one.
        answers: what was answered on the way, in the provider's own codes -> how often; ``none`` where nothing was.
    """

    accepted: frozenset[str] = frozenset()
    refused: Mapping[str, Refusal] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    again: frozenset[str] = frozenset()
    receipt: str = ""
    after_seconds: float | None = None
    alarm: str = ""
    delayed: str = ""
    answers: Mapping[str, int] = field(default_factory=dict, compare=False)


Count = Callable[[Mapping[str, Mapping[str, int]]], None]
"""Gets name of a counter -> label -> how many more; does not raise."""


class Provider(Protocol):
    """Takes messages for delivery."""

    name: str
    batch_size: int
    """How many recipients one hand-over should hold."""

    def hand_over(self, message: Message, recipients: Sequence[Recipient], now: datetime) -> HandOver:
        """Give the message to the provider, once per recipient; never raises for what the provider or the wire does."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


@dataclass(frozen=True, slots=True)
class TurnMark:
    """One turn of the scheduler.

    Attributes:
        ledger: the name of the ledger it worked on.
        turn: its number in that ledger, counted up.
        at: when it was taken.
    """

    ledger: str
    turn: int
    at: datetime


class Witness(Protocol):
    """Remembers the last turn outside the database, so that a database which came back from a backup is noticed."""

    def recall(self, ledger: str) -> TurnMark | None:
        """The newest turn of this ledger that was seen; None where none was or the memory can't be reached."""
        ...

    def remember(self, mark: TurnMark) -> None:
        """Keep this turn as the newest; never raises where the memory can't be reached."""
        ...


class Teller(Protocol):
    """Tells another program a piece of news."""

    def tell(self, url: str, identifier: str, body: bytes, now: datetime) -> str:
        """Post ``body``, signed, under the same ``identifier`` at every try.

        Returns:
            why it failed; empty when it was taken.
        """
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...
