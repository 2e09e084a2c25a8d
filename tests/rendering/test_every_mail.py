"""What is true of each mail, in each language, from its example data."""

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from html5lib.html5parser import ParseError

from digest.domain.language import Language
from digest.links import Links
from digest.ports import Message
from digest.rendering.examples import example_messages
from digest.rendering.site import Site
from digest.rendering.templates import Templates
from tests.rendering.paint import parse, texts

ReadPage = Callable[[str], Any]
GMAIL_CUTS_AT = 102_000
"""Bytes of HTML."""
TO_LEAVE = {"brief", "welcome"}
"""What comes again, or was perhaps not asked for; other letters answer something the reader did a moment ago."""


@pytest.fixture(scope="module", params=list(Language))
def mails(
    request: pytest.FixtureRequest, templates: Templates, links: Links, site: Site, full_brief: Message
) -> list[Message]:
    return [full_brief, *example_messages(templates, links, site, request.param)]


def test_a_strict_parser_finds_no_fault_in_it(mails: list[Message]) -> None:
    for mail in mails:
        parse(mail.html)
    with pytest.raises(ParseError):
        parse("<!doctype html><html><head><title>t</title></head><body><p>a</div></body></html>")


def test_its_links_are_absolute_and_secure(mails: list[Message], page: ReadPage) -> None:
    for mail in mails:
        places = page(mail.html).links()
        slots = tuple(marker for name, marker in mail.slots.items() if name.endswith("_url"))

        assert places
        assert not [url for url in places if not url.startswith(("https://", *slots))], mail.kind


def test_it_has_one_link_to_leave_by_where_it_may_come_again(mails: list[Message], page: ReadPage) -> None:
    for mail in mails:
        address = mail.slots.get("unsubscribe_url", "/unsubscribe/")
        found = [url for url in page(mail.html).links() if address in url]

        assert len(found) == (mail.kind in TO_LEAVE or mail.kind == "goodbye"), mail.kind


def test_it_has_no_image_without_words_no_script_and_no_form(mails: list[Message]) -> None:
    for mail in mails:
        tags = Counter(element.tag for element in parse(mail.html).iter() if isinstance(element.tag, str))
        pictures = list(parse(mail.html).iter("img"))

        assert all("alt" in picture.attrib for picture in pictures)
        assert not {"script", "form", "iframe", "object", "input", "link", "base"} & tags.keys(), mail.kind


def test_its_layout_is_not_read_out_as_tables(mails: list[Message]) -> None:
    for mail in mails:
        tables = list(parse(mail.html).iter("table"))

        assert tables
        assert {table.get("role") for table in tables} == {"presentation"}, mail.kind
        outlook = re.findall(r"<!--\[if mso \| IE\]>(.*?)<!\[endif\]-->", mail.html, re.DOTALL)
        assert all('role="presentation"' in part for part in outlook if "<table" in part), mail.kind


def test_it_names_its_language_and_has_a_title(mails: list[Message]) -> None:
    for mail in mails:
        root = parse(mail.html)

        assert [root.get("lang"), root.find("body").get("lang")] == [mail.language.tag] * 2
        assert [title.text for title in root.iter("title")] == [mail.subject]


def test_its_headings_come_in_order(mails: list[Message]) -> None:
    for mail in mails:
        levels = [int(element.tag[1]) for element in parse(mail.html).iter() if element.tag in {"h1", "h2", "h3"}]

        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels)), mail.kind


def test_its_text_part_says_everything_that_its_html_says(mails: list[Message]) -> None:
    """But for the labels of links, which in the text are their addresses, and for words about a button."""
    for mail in mails:
        text = "".join(mail.text.split())
        labels = {"".join(part.split()) for link in parse(mail.html).iter("a") for part in link.itertext()}
        said = {"".join(part.split()) for words in texts(mail.html) for part in words.words.split("·")}

        assert len(said - labels) > 1
        assert {part for part in said - labels if part not in text and not re.search("button|按钮", part)} == set(), (
            mail.kind
        )


def test_it_is_smaller_than_what_gmail_cuts(mails: list[Message]) -> None:
    for mail in mails:
        assert len(mail.html.encode()) < GMAIL_CUTS_AT
