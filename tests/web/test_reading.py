"""Reading on the web: stories in full, briefs, the archive."""

import pytest

from digest.domain.story import Story, StoryText
from digest.store.stories import save_story, save_texts, source_named
from tests.web.conftest import NOW, Language, Site, links_in

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
    story = Story("javascript:alert(1)", "Harbor <i>News</i>", Language.ENGLISH, NOW, {Language.ENGLISH: text})
    with site.application.sessions.begin() as session:
        source = source_named(session, story.source, NOW)
        row, _ = save_story(session, source, story, "https://harbor.example/a", "harbor", NOW)
        save_texts(session, row.id, story.texts)
    page = site.client().get("/stories/harbor?lang=zh").text
    assert "这篇目前只有英文" in page
    assert '<h1 lang="en">A title with &lt;b&gt;marks&lt;/b&gt;</h1>' in page
    assert "<script>alert" not in page
    assert 'href="javascript:' not in page
    assert "<i>News" not in page


def test_what_does_not_exist_is_not_found(stocked: Site) -> None:
    client = stocked.client()
    for path in ("/stories/nothing", "/briefs/2031-01-01/en", "/briefs/yesterday/en", "/briefs/2026-12-02/fr"):
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
