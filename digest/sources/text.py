"""Plain clean text from what feeds and files hold: markup dropped, entities decoded once, controls removed."""

import html
import re
import unicodedata
from functools import lru_cache

import nh3

_KEPT_FORMATS = frozenset("\u200c\u200d")
"""Joiners that emoji and several scripts need; every other format character, bidi controls above all, goes."""

_SPACES = re.compile(r"\s+")
_GLUE = re.compile(r"(?<=[A-Za-z])\u2060+(?=[A-Za-z])")
_BLOCKS = (
    "address article aside blockquote br dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main "
    "nav ol p pre section table td th tr ul"
)
_UNSPOKEN = "script style template noscript iframe object svg math form textarea select button title"
_TAG = re.compile(r"<[^>]*>")
_TITLE_TAGS = "a|abbr|b|bdi|big|br|cite|code|em|font|h[1-6]|i|img|mark|p|q|s|small|span|strike|strong|sub|sup|tt|u|wbr"
_NO_TITLE_TAG = re.compile(rf"<(?!/?(?:{_TITLE_TAGS})(?:\s[^<>]*)?/?>)", re.IGNORECASE)
_CLOSED_SCRIPT = re.compile(r"<(script|style)\b[^>]*>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_PLAYERS = re.compile(
    r"Your browser does not support the (?:audio|video) (?:element|tag)\.?\s*"
    r"(?:Listen to article\b.{0,200}?(?:\d(?:\.\d+)?X\s+){2,6})?"
)
_WINDOWS = re.compile(r"\s*\(opens in (?:a )?new (?:window|tab)\)", re.IGNORECASE)
_GAPS = re.compile(r"(?<=\w) (?=[,.](?:\s|$))")
_TAILS = re.compile(
    r"\s*(?:The post .{1,300} (?:appeared first on|first appeared on) .{1,120}"
    r"|\[\s*(?:…|\.\.\.|&hellip;)\s*\]|(?:Continue reading|Read more|Read the full (?:story|article))\b.{0,120}"
    r"|(?:阅读全文|查看全文|阅读原文|查看原文|继续阅读|閱讀全文)[^。！？]{0,40})\s*$"
)


def clean_line(text: str) -> str:
    """The text on one line: NFC, runs of white space as one space, no control, bidi or other format characters."""
    return _SPACES.sub(" ", _printable(text)).strip()


def clean_text(text: str) -> str:
    """The text with one line per paragraph, each as :func:`clean_line` leaves it; empty ones dropped."""
    lines = (clean_line(line) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def text_of_html(markup: str) -> str:
    """What a reader sees of an HTML fragment, one line per block; scripts, forms and the like have no text.

    nh3 parses as browsers do (HTML Standard §13), so broken or hostile markup ends up as a well-formed tree.
    """
    spaced = _SPACES.sub(" ", markup)
    flat = nh3.clean(
        spaced, tags=set(_BLOCKS.split()), attributes={}, clean_content_tags=set(_UNSPOKEN.split()), link_rel=None
    )
    return clean_text(html.unescape(_TAG.sub("\n", flat)))


def title_of_html(markup: str) -> str:
    """A title given as HTML, as text: formatting tags dropped, entities decoded once.

    A tag that formats nothing in a title is part of what the title says (“A guide to <head> elements”), so it stays
    visible. Where nothing would be left the markup itself is the title.
    """
    spoken = _CLOSED_SCRIPT.sub(" ", markup)
    flat = nh3.clean(_NO_TITLE_TAG.sub("&lt;", spoken), tags=set(), attributes={}, clean_content_tags=set())
    return clean_line(html.unescape(flat)) or clean_line(markup)


def without_furniture(text: str) -> str:
    """The text without what publishing software puts into it: a player's labels, 阅读全文, a gap before a comma."""
    spoken = _TAILS.sub("", _WINDOWS.sub("", _PLAYERS.sub("", text)))
    return _GAPS.sub("", spoken).strip()


def _printable(text: str) -> str:
    # Some sites glue links to their neighbours with word joiners, where a reader sees a gap.
    spaced = _GLUE.sub(" ", text)
    changed = {ord(c): _kept(c) for c in set(spaced) if _kept(c) != c}
    return unicodedata.normalize("NFC", spaced.translate(changed))


@lru_cache(maxsize=8192)
def _kept(character: str) -> str:
    if character.isspace():
        return " "
    if character in _KEPT_FORMATS:
        return character
    category = unicodedata.category(character)
    return "" if category in {"Cc", "Cf", "Cs"} or ord(character) & 0xFFFE == 0xFFFE else character  # noqa: PLR2004 - the two non-characters that end each plane
