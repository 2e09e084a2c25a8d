"""Finding one's way back: months, words, topics, sources."""

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import select

from digest.domain.brief import BriefState
from digest.domain.language import Language, LanguageChoice
from digest.steps import read_archive
from digest.store.tables import Brief, Edition, Story
from tests.web.conftest import Site, links_in

RECORD = "gb300-nvl72-moe-training-record"


def slugs(html: str) -> list[str]:
    """The stories of a list, in its order."""
    return re.findall(r'<h2 lang="[^"]*"><a href="/stories/([^?"]+)', html)


@pytest.mark.parametrize("language", list(Language))
def test_the_archive_goes_month_by_month_with_a_brief_s_first_title(library: Site, language: Language) -> None:
    client = library.client()
    newest = client.get(f"/archive?lang={language}").text
    assert ">December 2026<" in newest or ">2026年12月<" in newest
    assert '<time datetime="2026-12-02">' in newest
    assert '<time datetime="2026-11-30">' not in newest
    assert f'href="/archive/2026-11?lang={language}"' in newest
    earlier = client.get(f"/archive/2026-11?lang={language}").text
    row = re.search(rf'<a hreflang="{language.tag}" href="/briefs/2026-11-30/{language}">([^<]+)</a>', earlier)
    assert row
    brief = client.get(f"/briefs/2026-11-30/{language}").text
    assert f">{row[1]}</a></h2>" in brief
    assert f'rel="next" href="/briefs/2026-12-02/{language}"' in brief
    for month in ("2026-10", "2026-13", "2026-1", "x", "0000-01"):
        assert client.get(f"/archive/{month}").status_code == 404


@pytest.mark.parametrize(
    ("question", "language"), [("gb300 record", "en"), ("世界纪录", "en"), ("ＧＢ３００ 英伟达", "zh"), ("nvl72", "zh")]
)
def test_a_story_is_found_by_its_words_in_either_language_on_pages_of_both(
    library: Site, question: str, language: str
) -> None:
    answer = library.client().get("/archive", params={"q": question, "lang": language})
    assert RECORD in slugs(answer.text)
    assert '<meta name="robots" content="noindex, follow">' in answer.text
    other = "en" if language == "zh" else "zh"
    assert any(link.startswith(f"/archive?lang={other}&amp;q=") for link in links_in(answer.text))


def test_what_was_asked_is_shown_again_and_finds_nothing_more_than_it_says(library: Site) -> None:
    client = library.client()
    nothing = client.get("/archive", params={"q": '"><script>alert(1)</script>', "lang": "en"}).text
    assert "No story has all of these words" in nothing
    assert "<script>alert" not in nothing
    assert client.get("/archive?q=%00%ff&lang=en").status_code == 200
    assert client.get("/archive", params={"q": "w" * 5000}).status_code == 200


def test_a_topic_holds_the_stories_below_it_too(library: Site) -> None:
    with library.application.sessions() as session:
        rows = session.execute(select(Story.slug, Story.topics)).all()
    under = {row.slug for row in rows if {"chips", "data-centers"} & set(row.topics)}
    page = library.client().get("/topics/chips?lang=zh").text
    assert set(slugs(page)) == under
    assert 'href="/topics/data-centers?lang=zh"' in page
    for name in ("nothing", "Chips", "%00"):
        assert library.client().get(f"/topics/{name}").status_code == 404


def test_more_from_a_source_goes_on_page_by_page(library: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    client = library.client()
    story = client.get(f"/stories/{RECORD}?lang=en").text
    link = re.search(r'href="(/sources/\d+)\?lang=en">See more from NVIDIA Developer Blog', story)
    assert link
    whole = slugs(client.get(f"{link[1]}?lang=en").text)
    assert RECORD in whole
    assert len(whole) > 1
    monkeypatch.setattr(read_archive, "PER_PAGE", 1)
    seen: list[str] = []
    path: str | None = f"{link[1]}?lang=en"
    while path:
        html = client.get(path).text
        seen += slugs(html)
        following = re.search(r'rel="next" href="([^"]+)"', html)
        path = following[1].replace("&amp;", "&") if following else None
    assert seen == whole
    for wrong in ("/sources/999", "/sources/0x1", f"/sources/{10**30}", f"{link[1]}?page=99", f"{link[1]}?page=0"):
        assert client.get(wrong).status_code == 404, wrong


def test_a_story_that_an_editor_hid_is_in_no_list_and_its_title_in_no_brief(stocked: Site) -> None:
    stocked.active()
    stocked.later(hours=21)
    stocked.turn()
    client = stocked.client()
    before = client.get("/briefs/2026-12-03/en").text
    slug, title = re.findall(r'<h2><a href="/stories/([^?]+)[^>]*>([^<]+)', before)[0]
    with stocked.application.sessions.begin() as session:
        story = session.scalars(select(Story).where(Story.slug == slug)).one()
        story.hidden = True
        paths = [f"/topics/{topic}" for topic in story.topics] + [f"/sources/{story.source_id}"]
    pages = ["/", "/archive", "/briefs/2026-12-03/en", "/feed.xml", "/sitemap.xml", "/api/v1/briefs", *paths]
    for path in pages:
        text = client.get(path).text
        assert slug not in text, path
        assert title not in text, path
    assert slug not in slugs(client.get("/archive", params={"q": title, "lang": "en"}).text)


def test_the_brief_of_a_date_is_the_newest_of_a_day_s_window_and_not_a_newcomer_s_or_a_monday_s(stocked: Site) -> None:
    on, morning = date(2026, 12, 2), datetime(2026, 12, 2, tzinfo=UTC)
    with stocked.application.sessions.begin() as session:
        for story, (send_after, hours) in enumerate(((0, 24), (1, 24), (2, 72), (3, 2)), 1):
            send_at = morning + timedelta(hours=send_after)
            start = send_at - timedelta(hours=hours)
            edition = Edition(send_at=send_at, on=on, window_start_at=start, window_end_at=send_at)
            session.add(edition)
            session.flush()
            chosen = LanguageChoice.ENGLISH_FIRST if story == 1 else LanguageChoice.ENGLISH
            session.add(Brief(edition_id=edition.id, languages=chosen, state=BriefState.READY, story_ids=[story]))
        wanted = session.get_one(Story, 2).slug
    page = stocked.client().get(f"/briefs/{on}/en").text
    assert re.findall(r'<h2><a href="/stories/([^?]+)', page) == [wanted]
