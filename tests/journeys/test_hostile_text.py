"""Hostile text through the whole pipeline: imported, ranked, rendered, encoded, handed over, and read back from the
mailbox by a mail parser; and the same brief on the web.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from unicodedata import normalize

import html5lib
import pytest

from digest.domain.story import StoryText
from digest.sources.story_file import parse_stories
from digest.steps.collect_stories import import_stories
from tests.journeys.product import EN, ONE_CLICK, Product, html_of, text_of

ANN = "ann@example.com"
CASES = Path(__file__).parents[1] / "rendering" / "cases"


@dataclass(frozen=True)
class Read:
    """A brief as it was received, and as the web shows it."""

    mail: EmailMessage
    page: Any
    web: str

    @property
    def seen(self) -> str:
        """What the HTML shows, spaces squeezed."""
        return squeezed(" ".join(self.page.itertext()))

    @property
    def typed(self) -> str:
        """The plain-text part without spaces: it is wrapped, also inside long words."""
        return "".join(text_of(self.mail).split())

    @property
    def subject(self) -> str:
        return str(self.mail["Subject"])

    @property
    def lead(self) -> str:
        return squeezed("".join(self.page.find(".//h1").itertext()))


Deliver = Callable[..., Read]


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One database is enough here: what a text may hold is settled before it gets there."""
    return sqlite_url


@pytest.fixture
def deliver(product: Product) -> Deliver:
    """Gets stories to a reader by the ordinary way."""
    product.sign_up(ANN, EN, "Asia/Shanghai")
    product.confirm(ANN)
    product.at("2026-12-02T03:01")

    def run(*texts: StoryText, urls: dict[int, str] | None = None) -> Read:
        product.now = product.now.replace(hour=12)
        records = [
            {
                "url": (urls or {}).get(number, f"https://news.example/s/{number}"),
                "source": f"Example {number}",
                "language": "en",
                "published_at": product.now.isoformat(),
                "texts": {"en": {"title": text.title, "quick_take": text.quick_take}},
            }
            for number, text in enumerate(texts)
        ]
        found = parse_stories(json.dumps(records).encode(), "stories.json")
        import_stories(product.application.sessions, product.application.editor, found, product.now, enters=product.now)
        product.at("2026-12-03T00:00")
        (mail,) = product.briefs(ANN)
        product.holds()
        web = product.visitor().get("/briefs/2026-12-03/en")
        assert web.status_code == 200
        return Read(mail, page_of(html_of(mail)), web.text)

    return run


def page_of(html: str) -> Any:  # noqa: ANN401 - an ElementTree element; the parser ships no types
    """The body, by a parser that stands for no fault; without comments."""
    bare = re.sub("<!--.*?-->", "", html, flags=re.DOTALL)
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(bare).find("body")


def squeezed(text: str) -> str:
    return " ".join(text.split())


def case(name: str) -> list[StoryText]:
    facts = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))["stories"]
    return [StoryText(normalize("NFC", fact["title"]), quick_take=fact["summary"]) for fact in facts]


def is_read_as_typed(read: Read, texts: list[StoryText]) -> None:
    """Every title and summary in both parts, titles on the web too, and the first in the subject."""
    on_the_web = squeezed(" ".join(html5lib.parse(read.web, namespaceHTMLElements=False).itertext()))
    for text in texts:
        assert squeezed(text.title) in read.seen
        assert squeezed(text.quick_take) in read.seen
        assert "".join(text.title.split()) in read.typed
        assert "".join(text.quick_take.split()) in read.typed
        assert squeezed(text.title) in on_the_web
    assert read.lead in {squeezed(text.title) for text in texts}
    assert read.subject == f"{read.lead} · 3 Dec"
    assert list(read.page.iter("script")) == []


def test_rnd_01_marks_of_html_and_xml_are_shown_as_they_were_typed(deliver: Deliver) -> None:
    texts = case("RND-01")
    read = deliver(*texts)

    is_read_as_typed(read, texts)
    for part in (html_of(read.mail), text_of(read.mail), read.web, read.subject):
        assert "&amp;amp;" not in part


def test_rnd_03_braces_are_no_program(deliver: Deliver) -> None:
    texts = case("RND-03")
    read = deliver(*texts)

    is_read_as_typed(read, texts)
    assert "49" not in read.seen + text_of(read.mail) + read.subject


def test_rnd_05_comments_and_stray_tags_break_no_story(deliver: Deliver) -> None:
    texts = case("RND-05")
    read = deliver(*texts)
    html = html_of(read.mail)

    is_read_as_typed(read, texts)
    assert html.count("<!--[if") == html.count("<![endif]-->") > 0


def test_rnd_07_what_a_compiler_would_mangle_arrives_unchanged(deliver: Deliver) -> None:
    texts = case("RND-07")
    read = deliver(*texts)

    is_read_as_typed(read, texts)
    assert "\\u{" not in html_of(read.mail)
    assert "\\\\" not in html_of(read.mail)


@pytest.mark.parametrize("cluster", ["👨‍👩‍👧‍👦", "🇨🇳", "e\u0301"])
def test_rnd_13_endless_text_is_cut_between_characters_as_people_see_them(cluster: str, deliver: Deliver) -> None:
    read = deliver(StoryText(cluster * 300, quick_take=cluster * 300))
    subject, whole = read.subject.removesuffix(" · 3 Dec"), normalize("NFC", cluster)

    for shown in (subject, read.lead):
        assert shown.endswith("…")
        assert set(shown.removesuffix("…").split(whole)) == {""}
    for part in (html_of(read.mail), text_of(read.mail), read.subject):
        assert "\ufffd" not in part
        part.encode()


def test_rnd_15_a_long_address_is_shown_short_and_followed_whole(deliver: Deliver) -> None:
    address, base64 = "https://news.example/" + "x" * 279, "QUJD" * 100
    read = deliver(
        StoryText(address, quick_take=base64),
        StoryText("W" * 200, quick_take=base64),
        urls={0: address, 1: address + "y"},
    )

    assert {address, address + "y"} <= {link.get("href") for link in read.page.iter("a")}
    assert address not in read.seen
    assert address[:59] + "…" in read.seen
    assert base64 in read.seen
    cells = [rule for rule in html_of(read.mail).split("}") if rule.strip().startswith("td, a")]
    assert all("word-break" in cell and "overflow-wrap" in cell for cell in cells)
    assert cells


def test_every_script_arrives_and_what_is_no_character_does_not(deliver: Deliver) -> None:
    titles = ["港珠澳大橋通車，臺灣「繁體」", "נמל חיפה נפתח שוב", "ميناء الإسكندرية، ١٢", "नमस्ते दुनिया", "👩🏽‍🚀 up 🇫🇷"]
    broken = "one\ud800two\x00three\u202efour\x1b[31m\ufefffive\r\nBcc: x@example.com"
    read = deliver(*(StoryText(title, quick_take=title) for title in titles), StoryText(broken, quick_take=broken))

    for title in titles:
        assert read.seen.count(title) >= 2
        assert "".join(title.split()) in read.typed
        assert title in read.web
    mended = "onetwothreefour[31mfive Bcc: x@example.com"
    assert mended in read.seen
    assert "".join(mended.split()) in read.typed
    assert read.mail["Bcc"] is None
    assert not re.search(
        "[\ud800-\udfff\x00\x1b\u202e\ufeff\ufffd]", html_of(read.mail) + text_of(read.mail) + read.subject
    )
    assert {found.get("dir") for found in read.page.iter() if found.tag in {"h1", "h3"}} == {"auto"}


def test_the_one_link_to_leave_by_is_that_of_the_header_and_works(product: Product, deliver: Deliver) -> None:
    read = deliver(StoryText("A story", quick_take="What it says."))
    header = str(read.mail["List-Unsubscribe"]).strip("<>")
    leaving = [link.get("href") for link in read.page.iter("a") if "/unsubscribe/" in link.get("href")]

    assert leaving == [header]
    assert text_of(read.mail).count("/unsubscribe/") == 1
    assert header in text_of(read.mail)
    assert product.visitor().post(leaving[0], data=ONE_CLICK).status_code == 200
    product.at("2026-12-04T00:00")
    assert len(product.briefs(ANN)) == 1
