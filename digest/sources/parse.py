"""From a fetched document to stories: RSS, RDF, Atom, JSON Feed and sitemaps of news."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from digest.domain.language import Language
from digest.ports import Fetched
from digest.sources.charset import decode
from digest.sources.inflate import gunzipped
from digest.sources.items import Item, ParsedFeed, Reading, known_language
from digest.sources.json_feed import is_json, read_json_feed
from digest.sources.sitemap import is_sitemap, read_sitemap
from digest.sources.text import clean_line
from digest.sources.web_address import web_address
from digest.sources.xml_feed import read_xml_feed

LARGEST_UNPACKED_BYTES = 20_000_000


def parse_feed(
    document: Fetched, *, source: str, language: Language | None, topics: Sequence[str], seen_at: datetime
) -> ParsedFeed:
    """The stories of a feed. One item that can't be used is a note and never stops the others.

    Args:
        document: as fetched; a gzip file is unpacked.
        source: the source's name as shown to readers.
        language: the operator's word for the language of the items; None leaves it to the feed and the writing.
        topics: given to every story.
        seen_at: when it was fetched; bounds the dates.

    Raises:
        BadInputError: it is no feed (a web page, nothing at all), or XML made to do harm.
        PermanentError: a gzip file that unpacks to more than :data:`LARGEST_UNPACKED_BYTES`.
    """
    decoded = decode(gunzipped(document.body, LARGEST_UNPACKED_BYTES), document.content_type)
    feed, items, notes, whole = _read(decoded.text, document.url)
    reading = Reading(
        source=source,
        home_url=web_address(_word(feed, "home_page_url"), document.url),
        given_language=language,
        feed_language=known_language(_word(feed, "language")),
        topics=topics,
        seen_at=seen_at,
    )
    stories, left_out = reading.stories(items)
    return ParsedFeed(
        title=clean_line(_word(feed, "title")),
        home_url=reading.home_url,
        language=reading.feed_language,
        stories=stories,
        notes=[*decoded.notes, *notes, *left_out],
        whole=whole,
    )


def _read(text: str, address: str) -> tuple[Mapping[str, Any], list[Item], list[str], bool]:
    if is_json(text):
        return *read_json_feed(text, address), True
    return read_sitemap(text, address) if is_sitemap(text) else read_xml_feed(text, address)


def _word(feed: Mapping[str, Any], name: str) -> str:
    value = feed.get(name)
    return value if isinstance(value, str) else ""
