"""Feeds that broke other readers, each under the number of its case."""

import resource
import time
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest

from digest.domain.canonical import canonical_url
from digest.domain.errors import BadInputError
from digest.domain.language import Language
from digest.domain.story import Story, enters_at
from digest.ports import Fetched
from digest.sources.items import ParsedFeed
from digest.sources.parse import parse_feed
from tests.sources.conftest import CASES, SEEN_AT


def parsed(
    body: bytes, content_type: str = "text/xml", url: str = "https://site.example/feed", seen_at: datetime = SEEN_AT
) -> ParsedFeed:
    document = Fetched(url, body, content_type=content_type)
    return parse_feed(document, source="Test", language=None, topics=["City"], seen_at=seen_at)


def case(name: str, **how: str | datetime) -> ParsedFeed:
    return parsed((CASES / f"FED-{name}").read_bytes(), **how)  # type: ignore[arg-type] - keyword values as declared


def title(story: Story) -> str:
    return story.texts[story.language].title


def titles(feed: ParsedFeed) -> list[str]:
    return [title(story) for story in feed.stories]


@pytest.mark.parametrize("charset", ["", "; charset=gbk", "; charset=GB2312"])
def test_fed_01_a_gbk_feed_reads_as_written(charset: str) -> None:
    feed = case("01-gbk.xml", content_type=f"text/xml{charset}")
    assert titles(feed) == ["【早报】央行：稳健的货币政策", "地铁十二号线试运行 首班车五点半"]
    first = feed.stories[0]
    assert (first.url, first.published_at) == ("https://gbk.example/a/1", datetime(2027, 6, 9, 22, 10, tzinfo=UTC))
    assert first.texts[Language.CHINESE].source_excerpt == "市场早间要点：利率、汇率与债券。“引号”—破折号……"


@pytest.mark.parametrize("charset", ["", "; charset=big5"])
def test_fed_01_a_big5_feed_reads_as_written(charset: str) -> None:
    feed = case("01-big5.xml", content_type=f"text/xml{charset}")
    assert titles(feed) == ["臺北今日天氣：陣雨後轉晴", "圖書館延長開放時間"]
    assert [story.url for story in feed.stories] == ["https://big5.example/a/1", "https://big5.example/a/2"]
    assert {story.language for story in feed.stories} == {Language.CHINESE}
    assert "許功蓋" in feed.stories[0].body


@pytest.mark.parametrize("name", ["text-xml", "latin1-header"])
def test_fed_03_a_header_that_contradicts_the_document_is_a_note_at_most(name: str) -> None:
    head, _, body = (CASES / f"FED-03-{name}.http").read_bytes().partition(b"\r\n\r\n")
    content_type = next(line for line in head.decode().split("\r\n") if line.startswith("Content-Type")).partition(
        ": "
    )[2]
    feed = parsed(body, content_type)
    assert titles(feed) == ["咖啡价格上涨 – café prices", "Größe und Maß"]
    assert feed.notes == (["the HTTP header says cp1252, the text is utf-8"] if "8859" in content_type else [])
    assert feed.whole


def test_fed_05_a_date_is_the_true_one_or_none() -> None:
    feed = case("05-dates.xml", seen_at=datetime(2027, 6, 29, 16, tzinfo=UTC))
    assert [story.published_at for story in feed.stories] == [
        datetime(2027, 6, 29, 15, 7, 41, tzinfo=UTC),
        datetime(2027, 6, 10, 0, 15, tzinfo=UTC),
        datetime(2027, 6, 29, 11, 41, 36, tzinfo=UTC),
        datetime(2027, 6, 10, 0, 15, tzinfo=UTC),
        None,
        datetime(2027, 6, 29, 8, 15, tzinfo=UTC),
    ]


def test_fed_07_zero_dates_leave_a_story_undated() -> None:
    feed = case("07-zero.xml")
    assert [story.published_at for story in feed.stories] == [*[None] * 6, datetime(2027, 6, 9, 22, tzinfo=UTC)]


def test_fed_09_a_date_far_ahead_is_none_and_a_near_one_holds_the_story_back() -> None:
    far, tomorrow, past = case("09-future.xml").stories
    assert far.published_at is None
    assert enters_at(tomorrow.published_at, SEEN_AT) == SEEN_AT + timedelta(days=1)
    assert past.published_at == SEEN_AT - timedelta(hours=1)
    assert enters_at(past.published_at, SEEN_AT) == enters_at(far.published_at, SEEN_AT) == SEEN_AT


def test_fed_11_new_headlines_ids_and_hosts_are_still_the_same_stories() -> None:
    before, after = case("11-v1.xml").stories, case("11-v2.xml").stories
    for old, new in zip(before, after, strict=True):
        assert canonical_url(old.url) == canonical_url(new.url) or old.identifier == new.identifier
    assert len({canonical_url(story.url) for story in before}) == len({story.identifier for story in before}) == 4


def test_fed_11_an_id_does_not_depend_on_where_the_feed_was_fetched() -> None:
    one = case("11-v1.xml", url="http://n11.example/feed.xml")
    other = case("11-v1.xml", url="https://www.n11.example/rss/all.xml")
    assert [story.identifier for story in one.stories] == [story.identifier for story in other.stories]
    assert one.stories[0].identifier == "id-1001"


def test_fed_13_relative_links_follow_every_xml_base() -> None:
    feed = case("13-base.xml", url="https://site.example/blog/atom.xml")
    assert [story.url for story in feed.stories] == [
        "https://cdn.example/news/2027/06/10/ports",
        "https://cdn.example/news/2027/06/rail",
        "https://other.example/x",
    ]
    assert feed.stories[0].body == "text storm"


def test_a_relative_link_without_a_base_starts_at_the_feed() -> None:
    body = b"""<rss version="2.0"><channel><title>t</title><link>/</link>
        <item><title>One</title><link>news/1?a=1&amp;b=2</link><guid>g1</guid></item></channel></rss>"""
    feed = parsed(body, url="https://site.example/blog/feed.xml")
    assert (feed.home_url, feed.stories[0].url) == ("https://site.example/", "https://site.example/blog/news/1?a=1&b=2")
    assert feed.stories[0].identifier == "g1"


def test_fed_15_titles_are_text_decoded_once() -> None:
    assert titles(case("15-rss.xml")) == ["A guide to <head> elements", "Don't panic", "Bold claim", "1 < 2 and 3 > 2"]
    assert titles(case("15-atom.xml")) == ["<3 tea", "<3 coffee", "<3 cocoa", "Bold news", "Plain xhtml"]


def test_fed_17_a_json_feed_is_taken_as_people_write_it() -> None:
    feed = case("17.json", content_type="application/feed+json")
    assert [(story.identifier, story.url, title(story)) for story in feed.stories] == [
        ("42", "https://j.example/42", "Number as id"),
        ("https://j.example/noid", "https://j.example/noid", "No id"),
        ("nodate", "https://j.example/nodate", "No date"),
        ("notitle", "https://j.example/notitle", "晨间短讯：港口恢复作业，预计中午前清空积压。"),
        ("ext", "https://elsewhere.example/z?a=1&b=2", "External link"),
        ("nozone", "https://j.example/nozone", "Date without zone"),
    ]
    assert feed.stories[1].body == "a & b"
    assert feed.stories[2].published_at is None
    assert feed.stories[3].language is Language.CHINESE
    assert len(feed.notes) == 3


def test_fed_19_a_feed_that_ends_early_gives_its_whole_items_and_says_so() -> None:
    body = (CASES / "FED-11-v1.xml").read_bytes()
    cut = parsed(body[: body.index(b"River") + 3])
    assert titles(cut) == ["Bridge closed for repairs", "Market fair opens"]
    assert not cut.whole
    assert cut.notes == ["the document ends early; what came before was read"]
    assert parsed(body).whole


@pytest.mark.parametrize("name", ["21-bomb.xml", "21-bomb.xml.gz", "21-xxe.xml"])
def test_fed_21_entities_that_multiply_or_read_files_are_refused(name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    with pytest.raises(BadInputError, match="XML entity"):
        case(name)
    assert time.monotonic() - started < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_fed_21_a_bomb_behind_a_fault_in_its_prolog_is_refused() -> None:
    bomb = (CASES / "FED-21-bomb.xml").read_bytes().replace(b"[\n<!ENTITY e0", b"[\n<!FAULT>\n<!ENTITY e0")
    with pytest.raises(BadInputError, match="entities"):
        parsed(bomb)


def test_harmless_entities_are_read() -> None:
    body = b"""<!DOCTYPE rss [<!ENTITY euro "&#8364;">]><rss version="2.0"><channel><title>t</title>
        <item><title>Now 5 &euro;</title><link>https://site.example/1</link></item></channel></rss>"""
    assert titles(parsed(body)) == ["Now 5 €"]


def test_fed_23_a_web_page_instead_of_the_feed_is_named_as_such() -> None:
    with pytest.raises(BadInputError, match="web page titled “Please sign in”"):
        case("23-login.html", content_type="text/html")


@pytest.mark.parametrize(
    ("body", "what"),
    [(b"", "empty"), (b" \n", "empty"), (b"<note/>", "begins with “<note/>”"), (b"maintenance", "“maintenance”")],
)
def test_fed_23_what_came_instead_of_a_feed_is_named(body: bytes, what: str) -> None:
    with pytest.raises(BadInputError, match=what):
        parsed(body)


@pytest.mark.parametrize("body", [b"[1]", b"{", b"{}", b"[" * 100_000, b'{"version": 1, "items": {}}'])
def test_json_that_is_no_feed_is_refused(body: bytes) -> None:
    with pytest.raises(BadInputError, match="JSON"):
        parsed(body)


def test_every_rss_there_has_been_is_read() -> None:
    item = "<item><title>One</title><link>https://site.example/1</link></item>"
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    dtd = "http://my.netscape.com/publish/formats/rss-0.91.dtd"
    netscape = "http://my.netscape.com/rdf/simple/0.9/"
    documents = [
        f'<rdf:RDF xmlns:rdf="{rdf}" xmlns="{netscape}"><channel><title>t</title></channel>{item}</rdf:RDF>',
        f'<rdf:RDF xmlns:rdf="{rdf}" xmlns="http://purl.org/rss/1.0/"><channel><title>t</title></channel>{item}</rdf:RDF>',
        *(f'<rss version="{v}"><channel><title>t</title>{item}</channel></rss>' for v in ("0.91", "0.92", "2.0")),
        f"<rss><channel><title>t</title>{item}</channel></rss>",
        f'<!DOCTYPE rss SYSTEM "{dtd}"><rss version="0.91"><channel><title>t</title>{item}</channel></rss>',
    ]
    for document in documents:
        feed = parsed(document.encode())
        assert (feed.title, titles(feed), feed.whole) == ("t", ["One"], True)


def test_one_bad_item_stops_no_other() -> None:
    body = b"""<rss version="2.0"><channel><title>t</title>
        <item><title>Script</title><link>javascript:alert(1)</link></item>
        <item><link>https://site.example/2</link></item>
        <item><title>A & B <unclosed</title><link>https://site.example/3</link><pubDate>soon</pubDate></item>
        <item><title>Good</title><link>https://site.example/4</link></item></channel></rss>"""
    feed = parsed(body)
    assert [urlsplit(story.url).path for story in feed.stories][-1] == "/4"
    assert [note for note in feed.notes if "left out" in note] == [
        "item 1 left out: “Script” has no address",
        "item 2 left out: “https://site.example/2” has neither title nor text",
    ]
    assert any("well-formed" in note for note in feed.notes)


def test_an_item_without_a_title_begins_with_its_text() -> None:
    body = """<rss version="2.0"><channel><title>t</title><item><link>https://site.example/1</link>
        <description>&lt;p&gt;The bridge is open. Traffic flows.&lt;/p&gt;</description></item></channel></rss>"""
    assert titles(parsed(body.encode())) == ["The bridge is open. Traffic flows."]
