"""A source, its web and the desk that collects from it; what the web says is for the test to set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import select

from digest.domain.errors import PermanentError, TryAgainError
from digest.domain.language import Language
from digest.domain.story import Story, StoryText
from digest.ports import Fetched
from digest.sources.matching import TitleMatcher
from digest.steps.collect_stories import Collected, Desk, collect_source
from digest.store.database import Sessions
from digest.store.tables import Source
from digest.store.tables import Story as Row
from tests.steps.world import EN, utc

NOW = utc("2027-06-09T10:00")
SEND = utc("2027-06-10T00:00")
EVERY, HOUR = timedelta(minutes=15), timedelta(hours=1)


@dataclass
class Web:
    """The web of a test: what is fetched, with which tags, and what is in it."""

    stories: list[Story] = field(default_factory=list)
    error: PermanentError | TryAgainError | None = None
    whole: bool = True
    not_modified: bool = False
    moved_to: str = ""
    asked: list[tuple[str, str, str]] = field(default_factory=list)

    def body(self) -> bytes:
        return repr(self.stories).encode(errors="surrogatepass")

    def fetch(self, url: str, etag: str = "", last_modified: str = "") -> Fetched:
        self.asked.append((url, etag, last_modified))
        if self.error:
            raise self.error
        return Fetched(
            url, self.body(), etag='"v1"', last_modified="Wed", not_modified=self.not_modified, moved_to=self.moved_to
        )


@dataclass
class Feed:
    title: str
    home_url: str
    stories: Sequence[Story]
    notes: Sequence[str]
    whole: bool


@dataclass
class Parse:
    web: Web

    def __call__(
        self, document: Fetched, *, source: str, language: Language | None, topics: Sequence[str], seen_at: datetime
    ) -> Feed:
        assert seen_at.tzinfo is not None
        assert source
        assert topics is not None
        assert language is None or language in Language
        return Feed("", document.url, self.web.stories, (), self.web.whole)


class Quoting:
    """An editor that keeps the words."""

    name = "quoting"

    def write(self, story: Story) -> Mapping[Language, StoryText]:
        return story.texts


class Pages:
    """Pages of a test: address -> text, or what reading it raises."""

    def __init__(self) -> None:
        self.texts: dict[str, str | PermanentError | TryAgainError] = {}

    def read(self, url: str) -> str:
        found = self.texts[url]
        if isinstance(found, str):
            return found
        raise found


@dataclass
class Newsroom:
    sessions: Sessions
    web: Web
    source: int
    pages: Pages = field(default_factory=Pages)
    spacing: timedelta = timedelta(0)

    @property
    def desk(self) -> Desk:
        return Desk(self.web, Parse(self.web), self.pages, TitleMatcher(), Quoting(), EVERY, self.spacing)

    def collect(self, now: datetime = NOW, source: int = 0) -> Collected:
        return collect_source(self.sessions, self.desk, source or self.source, now)

    def row(self) -> Source:
        with self.sessions() as session:
            return session.get_one(Source, self.source)

    def stories(self) -> list[Row]:
        with self.sessions() as session:
            return list(session.scalars(select(Row).order_by(Row.id)))


def story(number: int, **changes: object) -> Story:
    url = f"https://news.example.com/{number}"
    facts = {
        "url": url,
        "source": "News",
        "language": EN,
        "published_at": NOW,
        "texts": {EN: StoryText(f"Title {number}")},
    }
    return Story(**(facts | {"identifier": f"id-{number}"} | changes))  # type: ignore[arg-type] # the fields by name
