"""A story: one item of a source, with a text per language."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any

from digest.domain.language import Language
from digest.domain.typography import typeset_chinese

LATE_ARRIVAL = timedelta(days=3)
"""An item that reaches us this long after its publication is archive, not news."""


@dataclass(frozen=True, slots=True)
class StoryText:
    """What a reader reads of a story in one language. Plain text throughout; only the title is never empty."""

    title: str
    quick_answer: str = ""
    quick_take: str = ""
    key_points: tuple[str, ...] = ()
    what_happened: str = ""
    key_evidence: tuple[str, ...] = ()
    why_it_matters: str = ""
    what_to_watch: str = ""
    source_excerpt: str = ""


def typeset(text: StoryText, language: Language) -> StoryText:
    """The text as it is shown: Chinese with its gaps and full-width marks, English as it is."""
    if language is not Language.CHINESE:
        return text
    values: dict[str, Any] = {each.name: getattr(text, each.name) for each in fields(text)}
    for name, value in values.items():
        values[name] = typeset_chinese(value) if isinstance(value, str) else tuple(map(typeset_chinese, value))
    return StoryText(**values)


@dataclass(frozen=True, slots=True)
class Story:
    """A story as collected or imported, before it has a row.

    Attributes:
        url: absolute http(s) address at the source.
        source: the source's name as shown to readers.
        language: the language of the original.
        published_at: aware UTC; None where the source gives no date that can be trusted.
        texts: at least one language.
        topics: lower-case words such as ``models``, ``chips``.
        identifier: the source's own id for the item (guid), else the url.
        source_url: the source's home page.
        body: the source's own text, cleaned; paragraphs are separated by line feeds.
        slug: the last part of the story's address on the site, where an editor chose one; empty otherwise.
        links: the addresses its text links to, in their order.
    """

    url: str
    source: str
    language: Language
    published_at: datetime | None
    texts: Mapping[Language, StoryText]
    topics: tuple[str, ...] = ()
    identifier: str = ""
    source_url: str = ""
    body: str = field(default="", repr=False)
    slug: str = ""
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """How another source, or another item of the same one, reports the event of a story: “also reported by”."""

    id: int
    source: str
    url: str
    title: str
    language: Language
    published_at: datetime | None


@dataclass(frozen=True, slots=True)
class Sighting:
    """An item as it is compared with others, to tell whether both report one event.

    Attributes:
        title: in its own language.
        url: canonical.
        at: when it was published, else first seen.
        source: two items of one source are rarely one event.
        links: canonical addresses of pages on other sites that its text links to.
        keys: by which others find it, as a matcher gave them.
    """

    title: str
    language: Language
    url: str
    at: datetime
    source: str
    links: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()


def enters_at(published_at: datetime | None, seen_at: datetime) -> datetime:
    """The instant from which a story counts as new, which decides the brief it belongs to.

    Feeds deliver late: an item published before a cut-off but first seen after it would otherwise fall between two
    briefs. So a fresh item enters when it was seen, an embargoed one when its date comes, and an item that was already
    old when first seen (the archive of a source just added) stays where it belongs in the past.
    """
    if published_at is None:
        return seen_at
    if seen_at - published_at > LATE_ARRIVAL:
        return published_at
    return max(published_at, seen_at)
