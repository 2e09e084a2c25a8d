"""RSS 0.9 to 2.0, RSS as RDF and Atom, by feedparser; what it guesses (dates, ids, markup) is decided here instead."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import feedparser

from digest.domain.errors import BadInputError, shown
from digest.sources.anchors import links_of_html
from digest.sources.items import Item
from digest.sources.text import clean_line, clean_text, text_of_html, title_of_html, without_furniture
from digest.sources.web_address import web_address
from digest.sources.xml_guard import refuse_entities

_BASE = "https://feed-base.invalid"
"""Stands for the feed's own host while it is parsed. feedparser resolves ids as if they were links; from this host they
can be told apart and put back, so that they do not depend on where the feed was fetched."""

_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]{0,400}\?>")
_ROOT_END = re.compile(r"</(?:\w+:)?(?:rss|RDF|feed)\s*>", re.IGNORECASE)
_DATES = ("published", "updated", "created")
_TEXT_TYPES = frozenset({"text/plain", "text"})


def read_xml_feed(text: str, address: str) -> tuple[Mapping[str, Any], list[Item], list[str], bool]:
    """The feed's own fields, its items, notes, and whether the document is whole.

    Raises:
        BadInputError: it is no feed, or declares entities that can do harm.
    """
    content = _ILLEGAL.sub("", _XML_DECLARATION.sub("", text).strip())
    if not content:
        raise BadInputError("feed", address, "is empty: the server sent no document.")
    refuse_entities(content, address)
    parsed = _parsed(content, address)
    if not parsed["version"]:
        raise BadInputError("feed", address, _what_came(content))
    whole = bool(_ROOT_END.search(content[-400:]))
    entries = parsed["entries"] if whole else _finished(parsed["entries"], content)
    is_atom = parsed["version"].startswith("atom")
    # As plain dictionaries: feedparser's answer for a key that is missing with another one's value.
    items = [_item(dict(entry), address, is_atom=is_atom) for entry in entries]
    return _feed(parsed["feed"], address), items, _notes(parsed, whole=whole), whole


def _parsed(content: str, address: str) -> Mapping[str, Any]:
    path = urlsplit(address).path
    headers = {"content-location": _BASE + path, "content-type": "application/xml; charset=utf-8"}
    parsed: Mapping[str, Any] = feedparser.parse(
        content.encode(), response_headers=headers, sanitize_html=False, resolve_relative_uris=False
    )
    return parsed


def _what_came(content: str) -> str:
    if re.match(
        r"(?:<!--.*?-->|<\?.*?\?>|\s)*<(?:!doctype\s+html|html|head|body)\b", content, re.IGNORECASE | re.DOTALL
    ):
        page = re.search(r"<title[^>]*>(.*?)</title>", content, re.IGNORECASE | re.DOTALL)
        title = f" titled {shown(title_of_html(page[1]))}" if page else ""
        return f"is a web page{title}, not a feed: use the address of its RSS, Atom or JSON Feed."
    return f"is not RSS, Atom or JSON Feed; it begins with {shown(clean_line(content[:200]), 40)}."


def _finished(entries: list[Mapping[str, Any]], content: str) -> list[Mapping[str, Any]]:
    """The entries that were complete when the document broke off."""
    closed = len(re.findall(r"</(?:\w+:)?(?:item|entry)\s*>", content))
    return entries[:closed]


def _notes(parsed: Mapping[str, Any], *, whole: bool) -> list[str]:
    notes = [] if whole else ["the document ends early; what came before was read"]
    if whole and parsed["bozo"]:
        notes.append(f"not well-formed XML: {clean_line(str(parsed.get('bozo_exception', '')))}")
    return notes


def _feed(feed: Mapping[str, Any], address: str) -> Mapping[str, Any]:
    alternates = [link.get("href", "") for link in feed.get("links", []) if link.get("rel") == "alternate"]
    homes = [_home(link, address) for link in alternates]
    return {
        "title": _title(feed),
        "home_page_url": next((home for home in homes if home), ""),
        "language": str(feed.get("language") or _detail(feed, "title").get("language") or ""),
    }


def _item(entry: Mapping[str, Any], address: str, *, is_atom: bool) -> Item:
    contents = [_text(detail, is_atom=is_atom) for detail in entry.get("content", [])]
    return Item(
        url=_home(str(entry.get("link", "")), address),
        identifier=_identifier(str(entry.get("id", "")), address),
        title=_title(entry),
        summary=_text(_detail(entry, "summary"), is_atom=is_atom),
        content=max(contents, key=len, default=""),
        dates=tuple(str(entry[name]) for name in _DATES if entry.get(name)),
        language=str(_detail(entry, "title").get("language") or ""),
        links=_links(entry, address),
    )


def _links(entry: Mapping[str, Any], address: str) -> tuple[str, ...]:
    """What the longest of its texts links to, from the base (xml:base) of that text."""
    details = [*entry.get("content", []), _detail(entry, "summary")]
    longest = max(details, key=lambda detail: len(str(detail.get("value") or "")))
    base = _home(str(longest.get("base") or ""), address) or address
    return links_of_html(str(longest.get("value") or ""), base)


def _detail(entry: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    detail: Mapping[str, Any] = entry.get(f"{name}_detail") or {}
    return detail


def _title(entry: Mapping[str, Any]) -> str:
    value = str(entry.get("title") or "")
    return clean_line(value) if _detail(entry, "title").get("type") in _TEXT_TYPES else title_of_html(value)


def _text(detail: Mapping[str, Any], *, is_atom: bool) -> str:
    """RSS descriptions are HTML whatever they look like; Atom says what they are (RFC 4287 §3.1)."""
    value = str(detail.get("value") or "")
    is_literal = is_atom and detail.get("type") in _TEXT_TYPES
    return without_furniture(clean_text(value) if is_literal else text_of_html(value))


def _home(link: str, address: str) -> str:
    parts = urlsplit(address)
    return web_address(link.replace(_BASE, f"{parts.scheme}://{parts.netloc}", 1) if link.startswith(_BASE) else link)


def _identifier(identifier: str, address: str) -> str:
    """The id as the feed writes it: without the base it was resolved against."""
    folder = _BASE + urlsplit(address).path.rpartition("/")[0] + "/"
    return identifier.removeprefix(folder).removeprefix(_BASE)
