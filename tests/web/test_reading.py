"""Reading on the web: stories in full, briefs, the archive."""

import re
from datetime import UTC, datetime

import pytest

from digest.domain.language import Language
from digest.domain.story import Story, StoryText
from digest.domain.subscriber import SubscriberState
from digest.providers.outbox import list_messages, read_message
from digest.store.collecting import save_story
from digest.store.sources import source_named
from tests.web.conftest import NOW, Site, links_in

RECORD = "/stories/gb300-nvl72-moe-training-record"
HEADINGS = {
    "en": (
        "Quick answer",
        "Quick take",
        "Key points",
        "Analysis",
        "What happened",
        "Key evidence",
        "Why it matters",
        "What to watch",
        "Source excerpt",
        "Source",
    ),
    "zh": (
        "一句话说清",
        "速览",
        "要点",
        "解读",
        "发生了什么",
        "关键依据",
        "为什么重要",
        "接下来看什么",
        "原文摘录",
        "来源",
    ),
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_story_page_has_every_part_in_its_order_and_the_sign_up_box(stocked: Site, language: str) -> None:
    page = stocked.client().get(f"{RECORD}?lang={language}").text
    body = page[page.index("<main") :]
    places = [body.index(f">{heading}<") for heading in HEADINGS[language]]
    assert places == sorted(places)
    assert 'action="/subscribe?lang=' in body
    assert f'name="language" value="{language}"' in body
    assert "https://developer.nvidia.com/blog/" in body
    assert "NVIDIA Developer Blog" in body[body.index('id="more"') :]


def test_a_story_in_one_language_is_shown_with_its_own_language_marked(site: Site) -> None:
    text = StoryText("A title with <b>marks</b>\u202e", quick_answer="<script>alert(1)</script>")
    story = Story(
        "javascript:alert(1)", "Harbor <i>News</i>", Language.ENGLISH, NOW, {Language.ENGLISH: text}, slug="harbor"
    )
    with site.application.sessions.begin() as session:
        source = source_named(session, story.source, NOW)
        save_story(session, source, story, NOW)
    page = site.client().get("/stories/harbor?lang=zh").text
    assert "这篇目前只有英文" in page
    assert '<h1 lang="en">A title with &lt;b&gt;marks&lt;/b&gt;</h1>' in page
    assert "<script>alert" not in page
    assert 'href="javascript:' not in page
    assert "<i>News" not in page


def test_what_does_not_exist_is_not_found(stocked: Site) -> None:
    client = stocked.client()
    for path in (
        "/stories/nothing",
        "/stories/%00",
        "/briefs/2031-01-01/en",
        "/briefs/yesterday/en",
        "/briefs/2026-12-02/fr",
    ):
        assert client.get(path).status_code == 404, path
    assert client.get(f"/briefs/2031-01-01/en?brief={'9' * 400}").status_code == 404


def test_the_archive_is_there_from_the_first_day(site: Site) -> None:
    assert "No brief has gone out yet" in site.client().get("/archive").text


def test_every_local_link_of_the_front_and_story_pages_leads_somewhere(stocked: Site) -> None:
    client = stocked.client()
    for start in ("/?lang=en", "/?lang=zh", f"{RECORD}?lang=zh"):
        for link in {link for link in links_in(client.get(start).text) if link.startswith("/")}:
            status = client.get(link.replace("&amp;", "&")).status_code
            assert status == (405 if link.startswith("/subscribe") else 200), link


@pytest.mark.parametrize("language", list(Language))
def test_a_brief_that_was_sent_is_on_the_web_and_in_the_archive(stocked: Site, language: Language) -> None:
    stocked.active(language=language)
    client, address = stocked.client(), f"/briefs/2026-12-03/{language}"
    stocked.now = datetime(2026, 12, 2, 23, 55, tzinfo=UTC)
    stocked.turn()
    assert client.get(address).status_code == 404
    stocked.later(minutes=5)
    stocked.turn()
    page = client.get(address)
    assert page.status_code == 200
    assert f'<html lang="{language.tag}">' in page.text
    assert page.text.count('<section class="story"') >= 5
    assert f'href="{address}"' in client.get("/archive").text
    for link in {link for link in links_in(page.text) if link.startswith("/stories/")}:
        assert client.get(link.replace("&amp;", "&")).status_code == 200


def test_uns_01_every_link_of_a_sent_brief_may_be_opened_and_none_unsubscribes(stocked: Site) -> None:
    subscriber_id = stocked.active()
    stocked.now = datetime(2026, 12, 3, 0, 0, tzinfo=UTC)
    stocked.turn()
    folder = stocked.application.settings.outbox_dir
    brief = next(mail for mail in list_messages(folder) if mail.name.startswith("brief"))
    opened = read_message(folder, brief.name)
    assert opened is not None
    links = set(re.findall(r"http://testserver(/[^\s\"<>&)]*)", opened.html + opened.text + opened.source))
    assert any("/unsubscribe/" in link for link in links)
    assert any("/preferences/" in link for link in links)
    client = stocked.client()
    for link in links:
        assert client.head(link).status_code == 200, link
        assert client.get(link).status_code == 200, link
    assert stocked.state(subscriber_id) is SubscriberState.ACTIVE
