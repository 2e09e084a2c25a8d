"""What search engines are told: the sitemap, robots.txt, and what pages say of themselves."""

import json
import re

import pytest
from lxml import etree
from sqlalchemy import select

from digest.domain.language import Language
from digest.domain.story import Story, StoryText
from digest.store.collecting import save_story
from digest.store.sources import source_named
from digest.store.tables import Story as Row
from digest.web import sitemap
from tests.web.conftest import NOW, Site

SPACE = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "x": "http://www.w3.org/1999/xhtml"}
RECORD = "/stories/gb300-nvl72-moe-training-record"
LAST_CHANGE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def urls(xml: bytes) -> dict[str, dict[str, str]]:
    """Address -> language -> the address of the same page in it."""
    root = etree.fromstring(xml)
    assert root.tag == f"{{{SPACE['s']}}}urlset"
    found = {}
    for url in root.findall("s:url", SPACE):
        # The schema's order: loc first, then lastmod; what is of other namespaces last.
        tags = [child.tag.rpartition("}")[2] for child in url]
        assert re.fullmatch(r"loc (lastmod )?(link ?)+", " ".join(tags)), tags
        changed = url.findtext("s:lastmod", None, SPACE)
        assert changed is None or LAST_CHANGE.fullmatch(changed)
        links = {link.attrib["hreflang"]: link.attrib["href"] for link in url.findall("x:link", SPACE)}
        found[url.findtext("s:loc", "", SPACE)] = links
    return found


def test_every_address_of_the_sitemap_answers_and_its_languages_name_each_other(library: Site) -> None:
    client = library.client()
    answer = client.get("/sitemap.xml")
    assert answer.headers["content-type"] == "application/xml"
    found = urls(answer.content)
    assert len(found) > 60
    for address, links in found.items():
        assert address in links.values()
        for tongue, other in links.items():
            assert tongue == "x-default" or found[other] == links
    expected = (f"{RECORD}?lang=zh", "/briefs/2026-12-02/en", "/topics/chips?lang=en", "/archive/2026-11?lang=zh")
    assert {f"http://testserver{path}" for path in expected} <= found.keys()
    for address in found:
        if not re.search("/topics/|lang=en", address):
            assert client.head(address).status_code == 200, address


def test_a_site_with_more_than_a_sitemap_holds_is_told_of_month_by_month(
    library: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = library.client()
    whole = urls(client.get("/sitemap.xml").content)
    monkeypatch.setattr(sitemap, "MOST_ADDRESSES", 100)
    index = etree.fromstring(client.get("/sitemap.xml").content)
    assert index.tag == f"{{{SPACE['s']}}}sitemapindex"
    parts = [loc.text or "" for loc in index.findall("s:sitemap/s:loc", SPACE)]
    assert parts == [f"http://testserver/sitemap/{part}.xml" for part in ("pages", "2026-12", "2026-11")]
    together: dict[str, dict[str, str]] = {}
    for part in parts:
        together |= urls(client.get(part).content)
    assert together == whole
    assert client.get("/sitemap/1999-01.xml").status_code == 404


def test_robots_txt_names_the_sitemap_and_closes_what_is_no_page(library: Site) -> None:
    text = library.client().get("/robots.txt").text
    assert "Sitemap: http://testserver/sitemap.xml\n" in text
    assert "Disallow: /admin\n" in text


@pytest.mark.parametrize("language", list(Language))
def test_a_story_says_what_it_is_to_search_engines_and_to_those_who_share_it(library: Site, language: Language) -> None:
    page = library.client().get(f"{RECORD}?lang={language}").text
    block = re.search(r'<script type="application/ld\+json">(.*?)</script>', page)
    assert block
    article = json.loads(block[1])
    address = f"http://testserver{RECORD}?lang={language}"
    assert (article["@context"], article["@type"]) == ("https://schema.org", "NewsArticle")
    assert article["url"] == article["mainEntityOfPage"] == address
    assert article["inLanguage"] == language.tag
    assert 0 < len(article["headline"]) <= 110
    assert article["isBasedOn"]["url"].startswith("https://developer.nvidia.com/blog/")
    assert article["datePublished"] <= article["dateModified"]
    assert article["publisher"]["name"] == "The Daily Brief"
    told = dict(re.findall(r'<meta property="(og:[a-z_:]+)" content="([^"]*)">', page))
    assert told["og:type"] == "article"
    assert told["og:url"] == address
    assert told["og:locale"] == {"en": "en_US", "zh": "zh_CN"}[language]
    assert told["og:title"]
    assert told["og:description"]
    picture = library.client().get(told["og:image"])
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/png")
    tongues = dict(re.findall(r'hreflang="([^"]+)" href="(http[^"]+)"', page))
    assert tongues == {
        "en": f"http://testserver{RECORD}?lang=en",
        "zh-Hans": f"http://testserver{RECORD}?lang=zh",
        "x-default": f"http://testserver{RECORD}",
    }


def test_a_story_s_words_do_not_end_the_block_they_stand_in(site: Site) -> None:
    title = "</script><b>A & B's"
    story = Story("https://news.example.com/1", "News", Language.ENGLISH, NOW, {Language.ENGLISH: StoryText(title)})
    with site.application.sessions.begin() as session:
        assert save_story(session, source_named(session, story.source, NOW), story, NOW)
        slug = session.scalars(select(Row.slug)).one()
    page = site.client().get(f"/stories/{slug}?lang=en").text
    block = re.search(r'<script type="application/ld\+json">(.*?)</script>', page)
    assert block
    assert json.loads(block[1])["headline"] == title
    assert "<b>" not in page
