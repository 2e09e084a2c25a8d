"""What every kind of feed comes down to: an item of plain values, and the story it makes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from digest.domain.errors import BadInputError, shown
from digest.domain.language import Language, parse_language
from digest.domain.sentences import cut, excerpt, han_share, width
from digest.domain.story import Story, StoryText
from digest.sources.dates import read_date
from digest.sources.text import clean_line, clean_text

TITLE_WIDTH = 300
MOST_ITEMS = 1000
"""As many as a news sitemap may hold; a longer feed is an archive."""
_TITLE_FROM_TEXT_WIDTH = 100
_LONGEST_BODY = 60_000
_LONGEST_IDENTIFIER = 500
_MOSTLY_HAN = 0.3
_ENOUGH_TO_TELL = 2000
_LOWER_CASE_WORD = re.compile(r"(?<![A-Za-z])[a-z]{2,}(?![A-Za-z])")
_NOTHING_NEW_WIDTH = 24


@dataclass(frozen=True, slots=True)
class Item:
    """One item as a feed gives it, whatever its format.

    Attributes:
        url: absolute http(s) address; empty where the feed gives none.
        identifier: the feed's own id; empty where it gives none.
        title: plain text, may be empty.
        summary: plain text, one line per paragraph.
        content: the full text where the feed has one.
        dates: as written, the most telling first.
        language: as tagged.
        links: absolute addresses that its text links to.
    """

    url: str
    identifier: str = ""
    title: str = ""
    summary: str = ""
    content: str = ""
    dates: tuple[str, ...] = ()
    language: str = ""
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedFeed:
    """A feed as read.

    Attributes:
        title: the feed's own name; empty where it gives none.
        home_url: its web page; empty where it gives none.
        language: the one it says it is in, where that is one of ours.
        stories: one per item that could be saved, in the feed's order.
        notes: what was odd or left out, one line each.
        whole: the document did not end early. Where it did, its ETag must not be kept (the rest would never come).
    """

    title: str
    home_url: str
    language: Language | None
    stories: list[Story]
    notes: list[str] = field(default_factory=list)
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Reading:
    """What is known of the source while its document is read.

    Attributes:
        source: the source's name as shown to readers.
        home_url: its web page.
        given_language: the operator's word, above all others.
        feed_language: the feed's own word.
        topics: for every story.
        seen_at: when the document was fetched.
    """

    source: str
    home_url: str
    given_language: Language | None
    feed_language: Language | None
    topics: Sequence[str]
    seen_at: datetime

    def stories(self, items: Sequence[Item]) -> tuple[list[Story], list[str]]:
        """The stories of the items, each identifier once, and a note for every item left out."""
        stories: dict[str, Story] = {}
        notes: list[str] = []
        for number, item in enumerate(items[:MOST_ITEMS], start=1):
            story, note = self._story(item)
            if story is None:
                notes.append(f"item {number} left out: {note}")
            elif story.identifier in stories:
                notes.append(f"item {number} left out: it repeats {shown(story.identifier)}")
            else:
                stories[story.identifier] = story
        if len(items) > MOST_ITEMS:
            notes.append(f"{len(items) - MOST_ITEMS} items left out: {MOST_ITEMS} are read")
        return list(stories.values()), notes

    def _story(self, item: Item) -> tuple[Story | None, str]:
        body = clean_text(max(item.content, item.summary, key=len))[:_LONGEST_BODY]
        title = cut(clean_line(item.title), TITLE_WIDTH) or excerpt(body, _TITLE_FROM_TEXT_WIDTH)
        if not item.url:
            return None, f"{shown(title)} has no address"
        if not title:
            return None, f"{shown(item.url)} has neither title nor text"
        language = self._language(item, title, body)
        text = StoryText(title=title, source_excerpt=_excerpt(title, clean_text(item.summary) or body))
        story = Story(
            url=item.url,
            source=self.source,
            language=language,
            published_at=self._published_at(item, language),
            texts={language: text},
            topics=tuple(topic.strip().lower() for topic in self.topics if topic.strip()),
            identifier=clean_line(item.identifier)[:_LONGEST_IDENTIFIER] or item.url,
            source_url=self.home_url,
            body=body,
            links=item.links,
        )
        return story, ""

    def _language(self, item: Item, title: str, body: str) -> Language:
        tagged = known_language(item.language) or self.feed_language
        seen = Language.CHINESE if _looks_chinese(title, body) else Language.ENGLISH
        # Publishing software tags everything en-US unless told otherwise, so that tag bends to the writing.
        return self.given_language or (seen if tagged is not Language.CHINESE else tagged)

    def _published_at(self, item: Item, language: Language) -> datetime | None:
        chinese = language is Language.CHINESE
        found = (read_date(date, seen_at=self.seen_at, chinese=chinese) for date in item.dates)
        return next((instant for instant in found if instant), None)


def known_language(tag: str) -> Language | None:
    """The language of the brief that a tag names; None for another one or none."""
    try:
        return parse_language(tag) if tag else None
    except BadInputError:
        return None


def _looks_chinese(title: str, body: str) -> bool:
    """Mostly Han, or a title of Han in which everything else is a name (“DeepSeek-R1 发布”)."""
    only_names = han_share(title) > 0 and not _LOWER_CASE_WORD.search(title)
    return only_names or han_share(f"{title} {body[:_ENOUGH_TO_TELL]}") >= _MOSTLY_HAN


def _excerpt(title: str, summary: str) -> str:
    """The first sentences of the summary; empty where they say no more than the title."""
    beyond = summary.replace(title, "", 1)
    return excerpt(summary) if beyond == summary or width(beyond.strip()) >= _NOTHING_NEW_WIDTH else ""
