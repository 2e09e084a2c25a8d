"""Sitemaps of news (sitemaps.org 0.9 with the news extension of search engines): addresses with titles and dates."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lxml import etree

from digest.domain.errors import BadInputError
from digest.sources.items import Item
from digest.sources.text import clean_line
from digest.sources.web_address import web_address
from digest.sources.xml_guard import refuse_entities

_ROOT = re.compile(r"^(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*>|\s)*<(?:\w+:)?(urlset|sitemapindex)\b", re.DOTALL)
_END = re.compile(r"(?:</(?:\w+:)?urlset\s*>|<(?:\w+:)?urlset[^<>]*/>)\s*$")
_CLOSED = re.compile(r"</(?:\w+:)?url\s*>")
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]{0,400}\?>")
_MAPS = re.compile(r"<(?:\w+:)?loc>\s*([^<]{1,2000}?)\s*</")


def is_sitemap(text: str) -> bool:
    """Whether a document is a sitemap or an index of sitemaps."""
    return _ROOT.match(text.lstrip()) is not None


def read_sitemap(text: str, address: str) -> tuple[Mapping[str, Any], list[Item], list[str], bool]:
    """An empty mapping (a sitemap says nothing of its site), its items, notes, and whether the document is whole.

    An address without a title is no story and is counted in a note.

    Raises:
        BadInputError: it is an index of sitemaps, has no entry of news, or declares entities that can do harm.
    """
    content = _XML_DECLARATION.sub("", text).strip()
    refuse_entities(content, address)
    root = _ROOT.match(content)
    if root is None or root[1] == "sitemapindex":
        maps = ", ".join(_MAPS.findall(content)[:3])
        raise BadInputError("feed", address, f"is an index of sitemaps: use the one that holds the news ({maps}).")
    found = [_item(entry, address) for entry in _entries(content)]
    whole = _END.search(content) is not None
    if not whole:
        found = found[: len(_CLOSED.findall(content))]
    items = [item for item in found if item.title]
    untitled = len(found) - len(items)
    if untitled and not items:
        raise BadInputError("feed", address, "is a sitemap without titles: use the site's sitemap of news.")
    notes = [f"{untitled} addresses without a title left out"] if untitled else []
    return {}, items, notes if whole else ["the document ends early; what came before was read", *notes], whole


def _entries(content: str) -> Iterator[etree._Element]:
    """The entries; faults in the XML are mended, and nothing is fetched or expanded."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, huge_tree=False)
    root = etree.fromstring(content.encode(), parser)
    if root is not None:
        yield from root.iterchildren("{*}url")


def _item(entry: etree._Element, address: str) -> Item:
    dates = (entry.findtext("{*}news/{*}publication_date"), entry.findtext("{*}lastmod"))
    return Item(
        url=web_address(entry.findtext("{*}loc") or "", address),
        title=clean_line(entry.findtext("{*}news/{*}title") or ""),
        dates=tuple(date for date in dates if date),
        language=(entry.findtext("{*}news/{*}publication/{*}language") or "").strip(),
    )
