"""Feeds as the readers of feeds take them: Atom through feedparser, JSON Feed by the rules of its version 1.1."""

import re
from datetime import datetime

import feedparser
import pytest
from lxml import etree

from digest.domain.language import Language
from digest.domain.story import Story, StoryText
from digest.store.collecting import save_story
from digest.store.corrections import add_correction
from digest.store.sources import source_named
from digest.store.tables import Story as Row
from tests.web.conftest import NOW, Site

ATOM = {"en": "/feed.xml", "zh": "/feed.zh.xml"}
JSON_FEED = {"en": "/feed.json", "zh": "/feed.zh.json"}


@pytest.mark.parametrize("language", list(Language))
def test_atom_is_well_formed_and_each_entry_leads_to_its_story(library: Site, language: Language) -> None:
    client = library.client()
    answer = client.get(ATOM[language])
    assert answer.headers["content-type"] == "application/atom+xml"
    feed = feedparser.parse(answer.content)
    assert (feed.bozo, feed.version, feed.feed.language) == (False, "atom10", language.tag)
    assert {link.rel: link.href for link in feed.feed.links}["self"] == f"http://testserver{ATOM[language]}"
    assert len(feed.entries) >= 10
    assert len({entry.id for entry in feed.entries}) == len(feed.entries)
    assert [entry.published_parsed for entry in feed.entries] == sorted(
        (entry.published_parsed for entry in feed.entries), reverse=True
    )
    assert feed.feed.updated_parsed == max(entry.updated_parsed for entry in feed.entries)
    for entry in feed.entries:
        assert entry.title
        assert entry.author
        assert "<p>" in entry.content[0].value
    page = client.get(feed.entries[0].link.removeprefix("http://testserver"))
    assert page.status_code == 200
    assert f'<html lang="{language.tag}">' in page.text


@pytest.mark.parametrize("language", list(Language))
def test_json_feed_keeps_the_rules_of_version_1_1(library: Site, language: Language) -> None:
    answer = library.client().get(JSON_FEED[language])
    assert answer.headers["content-type"] == "application/feed+json"
    feed = answer.json()
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert feed["feed_url"] == f"http://testserver{JSON_FEED[language]}"
    assert feed["language"] == language.tag
    assert len({item["id"] for item in feed["items"]}) == len(feed["items"]) >= 10
    for item in feed["items"]:
        assert isinstance(item["id"], str)
        assert item["content_html"]
        assert item["url"].startswith("http://testserver/stories/")
        assert item["external_url"].startswith("https://")
        assert datetime.fromisoformat(item["date_published"]) <= datetime.fromisoformat(item["date_modified"])
        assert all(author["name"] for author in item["authors"])
        assert all(isinstance(tag, str) for tag in item["tags"])


def test_a_topic_has_a_feed_of_its_own_and_an_unknown_one_has_none(library: Site) -> None:
    client = library.client()
    feed = client.get("/feed.zh.json?topic=chips").json()
    assert feed["title"].startswith("芯片")
    assert 0 < len(feed["items"]) < len(client.get("/feed.zh.json").json()["items"])
    assert all({"芯片", "数据中心"} & set(item["tags"]) for item in feed["items"])
    assert feedparser.parse(client.get("/feed.xml?topic=chips").content).feed.links[0].href.endswith("?topic=chips")
    assert client.get("/feed.xml?topic=nothing").status_code == 404


def test_who_holds_a_feed_or_a_page_gets_no_bytes_until_it_changes(stocked: Site) -> None:
    client = stocked.client()
    for path in ("/feed.xml", "/feed.zh.json", "/archive?lang=en", "/sitemap.xml", "/?lang=zh"):
        first = client.get(path, headers={"Accept-Encoding": "gzip"})
        tag = first.headers["etag"]
        assert first.headers["cache-control"].startswith("public, max-age=")
        for held in (tag, f'"other", {tag}', tag.removeprefix("W/"), "*"):
            again = client.get(path, headers={"If-None-Match": held})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
            assert "content-type" not in again.headers
        assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
        assert client.head(path).headers["etag"] == tag
    tag = client.get("/feed.xml").headers["etag"]
    stocked.later(minutes=1)
    with stocked.application.sessions.begin() as session:
        add_correction(session, session.get_one(Row, 1), {Language.ENGLISH: "A wrong number."}, [], stocked.now)
    changed = client.get("/feed.xml", headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert f"<updated>{stocked.now:%Y-%m-%dT%H:%M:%SZ}</updated>" in changed.text


def test_nothing_of_a_feed_s_words_becomes_markup_of_ours(site: Site) -> None:
    text = StoryText("A & B <script>x</script>\x0b\ufffe", quick_answer='"]]><evil/>', key_points=("<b>",))
    story = Story("javascript:alert(1)", "Har<b>or & Co", Language.ENGLISH, NOW, {Language.ENGLISH: text})
    with site.application.sessions.begin() as session:
        save_story(session, source_named(session, story.source, NOW), story, NOW)
    answer = site.client().get("/feed.xml")
    etree.fromstring(answer.content)
    assert not re.search(r"<script|<evil|<b>|javascript:", answer.text)
    item = site.client().get("/feed.json").json()["items"][0]
    assert item["title"] == "A & B <script>x</script>"
    assert "external_url" not in item
    assert "&lt;b&gt;" in item["content_html"]
