"""What collecting needs from the world outside: documents, pages, readers of feeds, a sense for twins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from digest.domain.language import Language
from digest.domain.story import Sighting, Story

Result = TypeVar("Result")


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


class Runner(Protocol):
    """Does work that keeps a processor busy, here or in another process."""

    def __call__(self, work: Callable[[], Result]) -> Result:
        """What the work gives, or the error it raises; function, arguments and result can be pickled."""
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
