"""Rules for what mail clients show, after the support tables of caniemail.com: what is not shown everywhere may only be
something that a reader doesn't miss, and stands where it can't take anything else away with it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tinycss2

from digest.domain.language import Language
from digest.links import Links
from digest.ports import Message
from digest.rendering.examples import example_messages
from digest.rendering.site import Site
from digest.rendering.templates import Templates
from tests.rendering.paint import declarations, parse

BARE = {"skip_comments": True, "skip_whitespace": True}
EVERYWHERE = frozenset(
    {
        "background",
        "background-color",
        "border",
        "border-bottom",
        "border-collapse",
        "border-left",
        "border-right",
        "border-top",
        "color",
        "direction",
        "display",
        "font-family",
        "font-size",
        "font-style",
        "font-weight",
        "height",
        "line-height",
        "margin",
        "margin-left",
        "padding",
        "text-align",
        "text-decoration",
        "text-transform",
        "vertical-align",
        "width",
        "word-break",
    }
)
MISSED_BY_NOBODY = {
    "border-radius": "square corners",
    "max-width": "Outlook takes the width from a table of its own in a conditional comment",
    "white-space": "the link may break",
    "word-spacing": "the compiler's reset",
    "overflow-wrap": "word-break says the same to older clients",
    "text-wrap": "the last line may be short",
    "text-autospace": "no thin gap between Han and Latin",
    "line-break": "a line may begin with a small kana or a mark",
    "mso-line-height-rule": "for Outlook alone",
    "mso-padding-alt": "for Outlook alone",
    "mso-table-lspace": "for Outlook alone",
    "mso-table-rspace": "for Outlook alone",
    "-ms-interpolation-mode": "for Outlook.com alone",
    "-ms-text-size-adjust": "for Windows phones alone",
    "-webkit-text-size-adjust": "for iPhones alone",
    "cursor": "the arrow of the system",
    "outline": "a frame around a focused image",
    "color-scheme": "the meta element says the same",
    "supported-color-schemes": "the meta element says the same",
    "border-color": "the light line stays, in a mail that is dark",
    "padding-left": "the wide margin stays on a phone",
    "padding-right": "the wide margin stays on a phone",
}
"""Property -> what a reader gets where it is ignored."""
UNRELIABLE = re.compile(r"\b(var|calc|min|max|clamp|rgba?|hsla?|url|env)\(|\d(vh|vw|r?em|ch)\b|inherit|initial|unset")
LONGEST_BLOCK = 8192
"""Characters; Gmail drops a style block that has more."""
FRAGILE = re.compile(r"\[|:(?!root)[a-z-]+\(")
"""Selectors that Gmail does not know; it has been seen to drop the block around them."""
HAN_FONTS = ("PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC")
"""Of Apple, Windows, and Android and Linux."""


@pytest.fixture(scope="module", params=list(Language))
def mails(
    request: pytest.FixtureRequest, templates: Templates, links: Links, site: Site, full_brief: Message
) -> list[Message]:
    return [full_brief, *example_messages(templates, links, site, request.param)]


def inline(html: str) -> Iterator[tuple[str, str, str]]:
    """Every declaration in a style attribute: element, property, value."""
    for element in parse(html).iter():
        for name, value in declarations(element.get("style", "")).items():
            yield element.tag, name, value


def blocks(html: str) -> list[str]:
    return [block.text for block in parse(html).iter("style")]


def rules(css: str) -> Iterator[Any]:
    """Every rule with selectors, those in a media or supports rule too."""
    for rule in tinycss2.parse_stylesheet(css, **BARE):
        assert rule.type in {"qualified-rule", "at-rule"}, rule
        if rule.type == "qualified-rule":
            yield rule
        else:
            assert rule.at_keyword in {"media", "supports"}
            yield from tinycss2.parse_rule_list(rule.content, **BARE)


def faults(html: str) -> list[str]:
    """What in the styles of a mail some client does not show as it is meant."""
    found = [f"{tag} {name}: {value}" for tag, name, value in inline(html) if not _holds(tag, name, value)]
    for css in blocks(html):
        if len(css) > LONGEST_BLOCK:
            found.append(f"{len(css)} characters in one block")
        if FRAGILE.search(css) and "@media" in css:
            found.append("selectors that some clients don't know, in a block with media rules")
        for rule in rules(css):
            names = {one.lower_name for one in tinycss2.parse_declaration_list(rule.content, **BARE)}
            found += [f"{tinycss2.serialize(rule.prelude)} {name}" for name in names - EVERYWHERE - {*MISSED_BY_NOBODY}]
    return found


def _holds(tag: str, name: str, value: str) -> bool:
    """Whether an inline declaration does what it says, or does no harm where it is ignored."""
    if name not in EVERYWHERE and name not in MISSED_BY_NOBODY:
        return False
    if UNRELIABLE.search(value) or (name == "display" and value not in {"block", "inline-block", "table"}):
        return False
    if name in {"color", "background-color"} and not re.fullmatch(r"#[0-9a-f]{6}|transparent", value):
        return False
    # Word, which shows mail in Outlook for Windows, ignores padding but on cells; a badge is just tighter there.
    return name != "padding" or value in {"0", "0px"} or tag in {"td", "table", "span", "a", "p"}


def test_no_style_needs_what_some_client_does_not_show(mails: list[Message]) -> None:
    for mail in mails:
        assert faults(mail.html) == [], mail.kind


@pytest.mark.parametrize(
    ("css", "fault"),
    [
        ('<p style="display:flex">', "p display: flex"),
        ('<p style="font-size:inherit">', "p font-size: inherit"),
        ('<p style="color:rgba(0,0,0,.5)">', "p color: rgba(0,0,0,.5)"),
        ('<div style="padding:8px">', "div padding: 8px"),
        ('<p style="position:absolute">', "p position: absolute"),
        ("<style>p { float: left }</style>", "p  float"),
        (f"<style>{'p { color: red } ' * 600}</style>", "10200 characters in one block"),
        (
            "<style>@media print { p { color: red } } [x] { color: red }</style>",
            "selectors that some clients don't know, in a block with media rules",
        ),
    ],
)
def test_a_style_that_some_client_does_not_show_is_found(css: str, fault: str) -> None:
    head, body = (css, "") if css.startswith("<style") else ("", css)
    html = f"<!doctype html><html><head><title>t</title>{head}</head><body>{body}</body></html>"

    assert faults(re.sub(r"(<(p|div)[^>]*>)", r"\1x</\2>", html)) == [fault]


def test_every_passage_has_fonts_for_han_on_every_system(mails: list[Message]) -> None:
    stacks = {value for mail in mails for _, name, value in inline(mail.html) if name == "font-family"}

    assert stacks
    for stack in stacks:
        assert all(font in stack for font in HAN_FONTS), stack
        assert stack.rsplit(",", 1)[1].strip() in {"serif", "sans-serif"}


def test_headings_say_their_size_themselves(mails: list[Message]) -> None:
    """Outlook for Windows has sizes of its own for headings and no ``inherit``."""
    for mail in mails:
        headings = [element for element in parse(mail.html).iter() if element.tag in {"h1", "h2", "h3"}]

        assert headings
        for heading in headings:
            wanted = {"font-family", "font-size", "font-weight", "line-height", "color", "margin"}
            assert wanted <= declarations(heading.get("style")).keys(), heading.text


def test_outlook_gets_a_table_of_the_right_width(mails: list[Message]) -> None:
    for mail in mails:
        widths = re.findall(r'<!--\[if mso \| IE\]>\s*<table[^>]* width="(\d+)"', mail.html)
        assert widths
        assert set(widths) == {"600"}, mail.kind


def test_the_design_system_is_the_only_place_with_colours() -> None:
    for path in (Path(__file__).parents[2] / "emails").rglob("*.mjml"):
        assert not re.findall(r"(?<!&)#[0-9a-fA-F]{3,8}\b", path.read_text(encoding="utf-8")), path.name
