"""Sources become stories, each once; a bad feed stops no other."""

from datetime import date, timedelta

import pytest
from sqlalchemy import select

from digest.domain.errors import BadInputError, PermanentError, TryAgainError
from digest.domain.story import StoryText
from digest.steps.collect_stories import import_stories, take_sources
from digest.steps.keep_sources import add_source, find_source, list_sources, remove_source
from digest.steps.read_archive import front_stories, month_of_briefs
from digest.steps.read_briefs import web_brief, web_story
from digest.steps.send_now import send_now
from digest.store.database import Sessions
from digest.store.tables import Story as Row
from tests.steps.newsroom import EVERY, HOUR, NOW, SEND, Newsroom, Quoting, story
from tests.steps.world import EN, ZH, World


def test_new_stories_are_stored_once(newsroom: Newsroom) -> None:
    newsroom.web.stories = [story(1), story(2)]
    first, unchanged = newsroom.collect(), newsroom.collect(NOW + HOUR)
    newsroom.web.stories = [story(3), story(1), story(2)]
    third = newsroom.collect(NOW + 2 * HOUR)
    assert [(found.new, found.known) for found in (first, unchanged, third)] == [(2, 0), (0, 0), (1, 2)]


@pytest.mark.parametrize(
    "again",
    [
        {"url": "http://www.news.example.com/1/?utm_source=x"},
        {"url": "https://news.example.com/moved"},
        {"identifier": "another"},
        {"texts": {EN: StoryText("Another title")}},
    ],
    ids=["other spelling of the address", "moved", "other id", "other title"],
)
def test_a_story_that_changed_is_the_same_story_and_enters_no_second_time(
    newsroom: Newsroom, again: dict[str, object]
) -> None:
    newsroom.web.stories = [story(1)]
    newsroom.collect()
    newsroom.web.stories = [story(1, **again)]
    assert newsroom.collect(NOW + HOUR).known == 1
    (row,) = newsroom.stories()
    assert row.enters_at == NOW


def test_two_stories_of_one_title_get_pages_of_their_own(newsroom: Newsroom) -> None:
    texts = {EN: StoryText("The very same headline twice")}
    newsroom.web.stories = [story(1, texts=texts), story(2, texts=texts)]
    newsroom.collect()
    assert len({row.slug for row in newsroom.stories()}) == 2


def test_the_servers_tags_are_kept_and_shown_again(newsroom: Newsroom) -> None:
    newsroom.collect()
    newsroom.collect(NOW + HOUR)
    assert [asked[1:] for asked in newsroom.web.asked] == [("", ""), ('"v1"', "Wed")]


def test_the_tags_of_a_cut_document_are_not_kept(newsroom: Newsroom) -> None:
    newsroom.web.whole = False
    newsroom.collect()
    newsroom.collect(NOW + HOUR)
    assert newsroom.web.asked[1][1:] == ("", "")


def test_not_modified_keeps_the_tags(newsroom: Newsroom) -> None:
    newsroom.collect()
    newsroom.web.not_modified = True
    newsroom.web.stories = [story(1)]
    assert newsroom.collect(NOW + HOUR).new == 0
    assert newsroom.row().etag == '"v1"'


@pytest.mark.parametrize("error", [PermanentError("410 gone"), TryAgainError("timed out")])
def test_a_source_that_fails_says_why_and_rests_longer_each_time(
    newsroom: Newsroom, error: PermanentError | TryAgainError
) -> None:
    newsroom.web.error = error
    rests = []
    for _ in range(9):
        assert newsroom.collect().error == str(error)
        rests.append(newsroom.row().fetch_after_at)
    assert rests[0] == NOW + 2 * EVERY
    assert rests[1] == NOW + 4 * EVERY
    assert rests[-1] == NOW + timedelta(days=1)
    newsroom.web.error = None
    newsroom.collect()
    assert (newsroom.row().error, newsroom.row().failures) == ("", 0)


def test_sources_rest_between_two_fetches(newsroom: Newsroom) -> None:
    assert take_sources(newsroom.sessions, NOW) == [newsroom.source]
    assert take_sources(newsroom.sessions, NOW + timedelta(seconds=5)) == []
    newsroom.collect()
    assert take_sources(newsroom.sessions, NOW + EVERY - timedelta(seconds=1)) == []
    assert take_sources(newsroom.sessions, NOW + EVERY) == [newsroom.source]


def test_a_source_is_added_once_found_and_removed_with_its_stories(newsroom: Newsroom) -> None:
    newsroom.web.stories = [story(1)]
    newsroom.collect()
    for url, name in (
        ("https://news.example.com/feed", "Other"),
        ("https://other.example.com", "News"),
        ("ftp://x", ""),
    ):
        with pytest.raises(BadInputError):
            add_source(newsroom.sessions, url, name, None, [], NOW)
    found = find_source(newsroom.sessions, "News")
    assert found.topics == ["chips"]
    remove_source(newsroom.sessions, found.id)
    assert (list_sources(newsroom.sessions), newsroom.stories()) == ([], [])
    with pytest.raises(BadInputError):
        find_source(newsroom.sessions, "News")


def test_imported_stories_are_all_or_none(database: Sessions) -> None:
    good, bad = story(1), story(2, source="\ud800")
    with pytest.raises(Exception, match=r"surrogate|codec"):
        import_stories(database, Quoting(), [good, bad], NOW)
    with database() as session:
        assert session.scalars(select(Row)).all() == []
    assert import_stories(database, Quoting(), [good], NOW) == (1, 0)


def test_a_brief_on_the_web_appears_at_its_instant_and_not_before(world: World) -> None:
    world.reader()
    title = world.story(SEND - HOUR)
    world.turn(SEND - timedelta(minutes=5))
    tenth = date(2027, 6, 10)
    assert web_brief(world.sessions, tenth, EN, None, SEND - timedelta(minutes=5)) is None
    assert month_of_briefs(world.sessions, None, SEND - timedelta(minutes=5)) is None
    found = web_brief(world.sessions, tenth, EN, None, SEND)
    assert found is not None
    assert [shown.text.title for shown in found.stories] == [title]
    assert web_brief(world.sessions, tenth, ZH, None, SEND) is None
    month = month_of_briefs(world.sessions, None, SEND)
    assert month is not None
    assert [(day.on, [brief.title for brief in day.briefs.values()]) for day in month.days] == [(tenth, [title])]


def test_a_story_under_embargo_is_on_no_page(world: World) -> None:
    world.story(NOW)
    with world.sessions.begin() as session:
        row = session.scalars(select(Row)).one()
        row.enters_at = NOW + HOUR
        slug = row.slug
    assert web_story(world.sessions, slug, EN, NOW) is None
    assert front_stories(world.sessions, EN, NOW, 10) == []
    assert web_story(world.sessions, slug, EN, NOW + HOUR) is not None


def test_on_the_operators_word_a_reader_gets_todays_brief_once(world: World) -> None:
    world.join(NOW)
    title = world.story(NOW + HOUR)
    now = NOW + 2 * HOUR
    arguments = (world.sessions, world.provider, world.press, world.policy, "reader@example.com")
    assert send_now(*arguments, now) == "sent"
    with pytest.raises(PermanentError, match="has a delivery"):
        send_now(*arguments, now + HOUR)
    with pytest.raises(PermanentError, match="no subscriber"):
        send_now(*arguments[:4], "nobody@example.com", now)
    later = world.story(now + HOUR)
    world.turn(SEND)
    texts = [t.message.text for t in world.provider.briefs()]
    assert [(title in text, later in text) for text in texts] == [(True, False), (False, True)]
