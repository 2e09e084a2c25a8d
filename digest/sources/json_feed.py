"""JSON Feed 1.0 and 1.1 (jsonfeed.org), taken as people write it: ids as numbers, fields left out or null."""

import json
from collections.abc import Mapping
from typing import Any

from digest.domain.errors import BadInputError
from digest.sources.anchors import links_of_html
from digest.sources.items import Item
from digest.sources.text import clean_line, text_of_html, title_of_html, without_furniture
from digest.sources.web_address import web_address

_MARKUP = ("</", "&amp;", "&#", "&quot;", "&lt;", "&gt;", "&nbsp;")


def is_json(text: str) -> bool:
    """Whether a document can only be meant as JSON."""
    return text.lstrip()[:1] in {"{", "["}


def read_json_feed(text: str, address: str) -> tuple[Mapping[str, Any], list[Item], list[str]]:
    """The feed's own fields, its items, and a note per item that is none.

    Raises:
        BadInputError: the document is not JSON or not a JSON Feed.
    """
    feed = _document(text, address)
    items = feed.get("items")
    if "jsonfeed.org" not in _word(feed, "version") or not isinstance(items, list):
        raise BadInputError("feed", address, "is JSON but not a JSON Feed: “version” and “items” are missing.")
    notes = [
        f"entry {n} left out: it is not an object" for n, item in enumerate(items, 1) if not isinstance(item, dict)
    ]
    return feed, [_item(item, address) for item in items if isinstance(item, dict)], notes


def _document(text: str, address: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInputError("feed", address, f"is not well-formed JSON: {clean_line(str(error))}.") from None
    if not isinstance(document, dict):
        raise BadInputError("feed", address, "is JSON but not a JSON Feed, which is one object.")
    return document


def _item(item: Mapping[str, Any], address: str) -> Item:
    html = _word(item, "content_html")
    content = without_furniture(text_of_html(html)) if html else _word(item, "content_text")
    return Item(
        # A link post points elsewhere; like an RSS link, that is where its readers want to go.
        url=web_address(_word(item, "external_url"), address) or web_address(_word(item, "url"), address),
        identifier=_word(item, "id"),
        title=_title(_word(item, "title")),
        summary=_word(item, "summary"),
        content=content,
        dates=tuple(date for date in (_word(item, "date_published"), _word(item, "date_modified")) if date),
        language=_word(item, "language"),
        links=links_of_html(html, address),
    )


def _word(item: Mapping[str, Any], name: str) -> str:
    """A field as text: a number as its digits, anything else that is no text as if it were not there."""
    value = item.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value)


def _title(title: str) -> str:
    return title_of_html(title) if any(sign in title for sign in _MARKUP) else title
