"""What the steps need from the world outside, as protocols; adapters are chosen in :mod:`digest.bootstrap`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from digest.domain.delivery import DeliveryReason
from digest.domain.errors import TryAgainError
from digest.domain.event import EventKind
from digest.domain.language import Language
from digest.domain.story import Sighting, Story, StoryText


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


@dataclass(frozen=True, slots=True)
class Recipient:
    """One reader of a message.

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
        bounce: what the receiving server said of the mailbox, ``BOUNCED`` or ``SOFT_BOUNCED``; None where it said
            nothing of it, or the refusal is our own.
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
    """

    accepted: frozenset[str] = frozenset()
    refused: Mapping[str, Refusal] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    again: frozenset[str] = frozenset()
    receipt: str = ""
    after_seconds: float | None = None
    alarm: str = ""
    delayed: str = ""


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


@dataclass(frozen=True, slots=True)
class Fetched:
    """A document as fetched: decompressed bytes and what the server said of them.

    Attributes:
        moved_to: where permanent redirects (301, 308) led from the address asked for, as far as only such were met;
            empty where there was none.
    """

    url: str
    body: bytes
    content_type: str = ""
    etag: str = ""
    last_modified: str = ""
    not_modified: bool = False
    moved_to: str = ""


class Fetcher(Protocol):
    """Gets a document from the web."""

    def fetch(self, url: str, etag: str = "", last_modified: str = "") -> Fetched:
        """The document at ``url``, or ``not_modified``.

        Raises:
            PermanentError: the address can't be fetched (bad scheme, private network, too large).
            TryAgainError: the server or network failed this time.
        """
        ...


class PageReader(Protocol):
    """Reads the full text of a story from its page."""

    def read(self, url: str) -> str:
        """The page's text, one line per paragraph; empty where its site does not allow that or none is found.

        Raises:
            PermanentError: the page can't be fetched.
            TryAgainError: the network or server failed this time.
        """
        ...


class Matcher(Protocol):
    """Tells which items report the same event."""

    reach: timedelta
    """How far apart two reports of one event may be."""

    def keys(self, sighting: Sighting) -> frozenset[str]:
        """What another report of the event would share with it: names, numbers, links; a few dozen at most."""
        ...

    def is_same(self, one: Sighting, other: Sighting) -> bool:
        """Whether both report the same event; symmetric."""
        ...


class Editor(Protocol):
    """Writes a story's texts."""

    name: str

    def write(self, story: Story) -> Mapping[Language, StoryText]:
        """The texts of a collected story, at least in its own language."""
        ...


@dataclass(frozen=True, slots=True)
class Draft:
    """What a writer made of a story.

    Attributes:
        texts: one per language; empty where nothing can be used.
        topics: names of the tree, the main one first.
        fault: why the texts can't be used, for the operator; empty when they can.
        tokens: what it cost.
    """

    texts: Mapping[Language, StoryText]
    topics: tuple[str, ...] = ()
    fault: str = ""
    tokens: int = 0


class NotWrittenError(TryAgainError):
    """A writer gave no answer this time.

    Args:
        tokens: what it cost all the same.
    """

    def __init__(self, message: str, after_seconds: float | None = None, tokens: int = 0) -> None:
        super().__init__(message, after_seconds)
        self.tokens = tokens


class Writer(Protocol):
    """Writes a story's texts in every language. Works over the network, slowly, and for money."""

    name: str
    """Says which model and which prompt."""

    def key(self, story: Story) -> str:
        """A hash under which its draft of this very text may be kept; ASCII, 64 characters."""
        ...

    def most_tokens(self, story: Story) -> int:
        """What the story may cost at most."""
        ...

    def write(self, story: Story) -> Draft:
        """The draft, whose every figure and name stands in the source; or one with a fault.

        Raises:
            NotWrittenError: the service did not answer, or would not now.
        """
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


class ParsedFeed(Protocol):
    """A feed as read."""

    @property
    def title(self) -> str:
        """The feed's own name."""
        ...

    @property
    def home_url(self) -> str:
        """Its web page."""
        ...

    @property
    def stories(self) -> Sequence[Story]:
        """Its usable items."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What was wrong with the others."""
        ...

    @property
    def whole(self) -> bool:
        """Whether the document was complete; a cut one must be fetched again without its ETag."""
        ...


class FeedParser(Protocol):
    """Reads a fetched document as a feed."""

    def __call__(
        self, document: Fetched, *, source: str, language: Language | None, topics: Sequence[str], seen_at: datetime
    ) -> ParsedFeed:
        """The stories of the feed.

        Raises:
            PermanentError: it is no feed.
        """
        ...
