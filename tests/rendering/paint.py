"""What a mail looks like to a client that follows its style blocks: the colours of each text and of its ground.

HTML is read by html5lib, CSS by tinycss2, selectors by cssselect2. All rules of ours that colour anything are
``!important``, so they win over inline styles; among themselves specificity and order decide.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import html5lib
import tinycss2
from cssselect2 import ElementWrapper, Matcher, compile_selector_list

LIGHT, DARK, OUTLOOK = "light", "dark", "outlook"
SCHEMES = (LIGHT, DARK, OUTLOOK)
"""Outlook: dark without the media query; it marks what it recoloured with ``data-ogsc`` and ``data-ogsb``."""
_DARK_QUERY = "(prefers-color-scheme: dark)"
_BARE = {"skip_comments": True, "skip_whitespace": True}
_COMMENT = re.compile("<!--.*?-->", re.DOTALL)
"""What only Outlook for Windows reads; there tree and texts are the same."""
_UNSEEN = frozenset({"head", "style", "title", "noscript"})


@dataclass(frozen=True)
class Text:
    """A text and the colours it is painted in, ``#rrggbb``."""

    words: str
    colour: str
    ground: str

    @property
    def contrast(self) -> float:
        """The ratio of WCAG 2.2, 1 to 21."""
        light, dark = sorted((luminance(self.colour), luminance(self.ground)), reverse=True)
        return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it, 0 to 1."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def parse(html: str) -> Any:  # noqa: ANN401 - an ElementTree element; the parser ships no types
    """The document; a fault of its HTML is an error."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(html)


def declarations(style: str) -> dict[str, str]:
    """Properties and values of a style attribute; a ``background`` of one colour counts as its long form."""
    found = tinycss2.parse_declaration_list(style, **_BARE)
    styles = {one.lower_name: tinycss2.serialize(one.value).strip() for one in found if one.type == "declaration"}
    if styles.get("background", "").startswith("#"):
        styles.setdefault("background-color", styles["background"])
    return styles


def texts(html: str, scheme: str = LIGHT) -> list[Text]:
    """Every visible text of a mail in document order; of a picture, what is shown in its place."""
    root = parse(_COMMENT.sub("", html))
    if scheme == OUTLOOK:
        _mark(root)
    matcher = _matcher(root, scheme)
    return list(_painted(ElementWrapper.from_html_root(root), matcher, "#000000", "#ffffff"))


def _mark(root: Any) -> None:  # noqa: ANN401
    for element in root.iter():
        styles = declarations(element.get("style", ""))
        if "color" in styles:
            element.set("data-ogsc", styles["color"])
        if "background-color" in styles:
            element.set("data-ogsb", styles["background-color"])


def _matcher(root: Any, scheme: str) -> Matcher:  # noqa: ANN401
    matcher = Matcher()
    for block in root.iter("style"):
        for rule in _rules(tinycss2.parse_stylesheet(block.text or "", **_BARE), scheme):
            styles = {
                one.lower_name: tinycss2.serialize(one.value).strip()
                for one in tinycss2.parse_declaration_list(rule.content, **_BARE)
                if one.important
            }
            for selector in compile_selector_list(rule.prelude):
                matcher.add_selector(selector, styles)
    return matcher


def _rules(rules: list[Any], scheme: str) -> Iterator[Any]:
    for rule in rules:
        if rule.type == "qualified-rule":
            yield rule
        elif scheme == DARK and tinycss2.serialize(rule.prelude).strip() == _DARK_QUERY:
            yield from tinycss2.parse_rule_list(rule.content, **_BARE)


def _painted(element: ElementWrapper, matcher: Matcher, colour: str, ground: str) -> Iterator[Text]:
    if element.local_name in _UNSEEN:
        return
    styles = _styles(element, matcher)
    colour, ground = styles.get("color", colour), styles.get("background-color", ground)
    yield from _text(element.etree_element.text or element.etree_element.get("alt"), colour, ground)
    for child in element.iter_children():
        yield from _painted(child, matcher, colour, ground)
        yield from _text(child.etree_element.tail, colour, ground)


def _styles(element: ElementWrapper, matcher: Matcher) -> Mapping[str, str]:
    styles = declarations(element.etree_element.get("style", ""))
    for _, _, _, ruled in sorted(matcher.match(element), key=lambda found: found[:2]):
        styles |= ruled
    return styles


def _text(words: str | None, colour: str, ground: str) -> Iterator[Text]:
    if words and words.strip():
        yield Text(words.strip(), colour, ground)
