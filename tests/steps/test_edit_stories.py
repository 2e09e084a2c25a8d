"""An editor rewrites, places, hides, schedules and corrects; readers of the wrong words are told once."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from digest.domain.errors import BadInputError, PermanentError
from digest.domain.language import Language
from digest.editors.extractive import ExtractiveEditor
from digest.steps.edit_stories import (
    correct_story,
    edit_story,
    order_stories,
    place_story,
    schedule_story,
)
from digest.steps.read_briefs import web_brief, web_story
from digest.steps.write_texts import write_texts
from digest.store.tables import Story
from tests.steps.world import World, utc

EN, ZH = Language.ENGLISH, Language.CHINESE
DAY = timedelta(days=1)
FIRST = utc("2027-06-10T00:00")
NOTES = {EN: "We wrote 9 berths; there are 14.", ZH: "我们误写为 9 个泊位，应为 14 个。"}


def ids(world: World) -> dict[str, int]:
    with world.sessions() as session:
        rows = session.scalars(select(Story).order_by(Story.id)).all()
        titles = {row.id: row.url for row in rows}
    return {f"Story {url.rpartition('/')[2]}": story_id for story_id, url in titles.items()}


def texts_sent(world: World, address: str) -> list[str]:
    return [taken.message.text for taken in world.provider.briefs(address)]


def morning(world: World, at: str) -> None:
    """The turns around a send instant."""
    world.turn(utc(at) - timedelta(minutes=10))
    world.turn(utc(at))


def test_who_got_the_wrong_one_is_told_once_in_their_own_language_and_nobody_else(shared_world: World) -> None:
    world = shared_world
    for address, language in (("en@example.com", EN), ("zh@example.com", ZH)):
        world.reader(address, "UTC", language, at=utc("2027-06-10T08:00").time())
    world.reader("west@example.com", "America/Los_Angeles", EN)
    world.reader("rail@example.com", "UTC", EN, topics="chips")
    world.story(utc("2027-06-10T05:00"), "Berths")
    morning(world, "2027-06-10T08:00")
    (berths,) = ids(world).values()
    done = correct_story(world.sessions, berths, {EN: {"quick_answer": "14 berths."}}, NOTES, utc("2027-06-10T09:00"))
    assert done.briefs == 2
    world.story(utc("2027-06-10T09:30"), "Chips", topics=("chips",))
    morning(world, "2027-06-10T15:00")
    for day in (11, 12):
        world.story(utc(f"2027-06-{day}T05:00"), topics=("chips",))
        morning(world, f"2027-06-{day}T08:00")
    english = texts_sent(world, "en@example.com")
    assert [NOTES[EN] in text for text in english] == [False, True, False]
    chinese = texts_sent(world, "zh@example.com")
    assert [NOTES[ZH] in text for text in chinese] == [False, True, False]
    # In Los Angeles the brief came after the correction, with the right words, and needs no notice.
    (west, *_) = texts_sent(world, "west@example.com")
    assert "14 berths." in west
    for address in ("west@example.com", "rail@example.com"):
        assert not any(NOTES[EN] in text for text in texts_sent(world, address))


def test_a_morning_without_stories_keeps_the_notice_for_the_next_brief(world: World) -> None:
    world.reader()
    world.story(FIRST - timedelta(hours=3))
    morning(world, "2027-06-10T00:00")
    (story_id,) = ids(world).values()
    correct_story(world.sessions, story_id, {}, NOTES, FIRST + timedelta(hours=1))
    morning(world, "2027-06-11T00:00")
    world.story(FIRST + 2 * DAY - timedelta(hours=3))
    morning(world, "2027-06-12T00:00")
    assert [NOTES[EN] in text for text in texts_sent(world, "reader@example.com")] == [False, True]


def test_the_notice_is_on_the_pages_of_the_brief_and_of_the_story(world: World) -> None:
    world.reader()
    world.story(FIRST - timedelta(hours=3))
    morning(world, "2027-06-10T00:00")
    (story_id,) = ids(world).values()
    correct_story(world.sessions, story_id, {EN: {"title": "Right"}}, NOTES, FIRST + timedelta(hours=1))
    world.story(FIRST + timedelta(hours=2))
    morning(world, "2027-06-11T00:00")
    page = web_brief(world.sessions, (FIRST + DAY).date(), EN, None, FIRST + 2 * DAY)
    assert page is not None
    assert [(n.title_in(EN), n.note_in(EN)) for n in page.notices] == [("Right", NOTES[EN])]
    story = web_story(world.sessions, page.notices[0].slug, ZH, FIRST + 2 * DAY)
    assert story is not None
    assert [n.note_in(ZH) for n in story.corrections] == [NOTES[ZH]]


def test_a_correction_that_nobody_read_is_an_edit(world: World) -> None:
    world.story(FIRST)
    (story_id,) = ids(world).values()
    done = correct_story(world.sessions, story_id, {EN: {"title": "Right"}}, {}, FIRST)
    assert (done.correction_id, done.briefs) == (None, 0)


def test_a_correction_says_something_in_every_language_that_got_it(world: World) -> None:
    world.reader(language=ZH)
    world.story(FIRST - timedelta(hours=3))
    morning(world, "2027-06-10T00:00")
    (story_id,) = ids(world).values()
    with pytest.raises(BadInputError, match="missing in zh"):
        correct_story(world.sessions, story_id, {ZH: {"title": "对"}}, {EN: "x", ZH: " "}, FIRST)
    with world.sessions() as session:
        assert not session.get_one(Story, story_id).edited


def test_a_story_is_scheduled_as_long_as_no_brief_has_it(world: World) -> None:
    world.reader()
    world.story(FIRST - timedelta(hours=3))
    world.story(FIRST - timedelta(hours=2))
    (first, second) = ids(world).values()
    schedule_story(world.sessions, first, FIRST + timedelta(hours=5), FIRST - timedelta(hours=1))
    world.plan(FIRST - timedelta(minutes=10))
    with pytest.raises(PermanentError, match="in a brief already"):
        schedule_story(world.sessions, second, FIRST + DAY, FIRST - timedelta(minutes=10))
    morning(world, "2027-06-10T00:00")
    with pytest.raises(PermanentError, match="in a brief already"):
        schedule_story(world.sessions, second, FIRST + DAY, FIRST)
    with pytest.raises(BadInputError, match="has passed"):
        schedule_story(world.sessions, first, FIRST, FIRST)
    morning(world, "2027-06-11T00:00")
    told = texts_sent(world, "reader@example.com")
    assert [("Story 1" in text, "Story 2" in text) for text in told] == [(False, True), (True, False)]


def test_pinned_comes_first_then_the_placed_and_hidden_nowhere(world: World) -> None:
    world.reader()
    for hour in range(5):
        world.story(FIRST - timedelta(hours=hour + 1))
    one, two, three, four, five = ids(world).values()
    place_story(world.sessions, five, pinned=True)
    place_story(world.sessions, one, hidden=True)
    order_stories(world.sessions, [four, three], FIRST)
    with pytest.raises(BadInputError, match="named twice"):
        order_stories(world.sessions, [four, four], FIRST)
    with pytest.raises(PermanentError, match="no story 999"):
        place_story(world.sessions, 999, pinned=True)
    morning(world, "2027-06-10T00:00")
    assert world.briefs()[-1].story_ids == [five, four, three, two]
    order_stories(world.sessions, [], FIRST)
    with world.sessions() as session:
        assert set(session.scalars(select(Story.position))) == {None}


def test_what_an_editor_wrote_is_changed_by_nobody(world: World) -> None:
    title = world.story(FIRST)
    (story_id,) = ids(world).values()
    edit_story(world.sessions, story_id, {EN: {"key_points": ["One.", "Two."]}}, ["Policy", "policy"], FIRST)
    write_texts(world.sessions, ExtractiveEditor(), FIRST)
    with world.sessions() as session:
        row = session.get_one(Story, story_id)
        assert (row.edited, row.topics, row.flag) == (True, ["policy"], "")
        slug = row.slug
    page = web_story(world.sessions, slug, EN, FIRST)
    assert page is not None
    assert (page.text.title, page.text.key_points) == (title, ("One.", "Two."))


@pytest.mark.parametrize(
    ("texts", "words"),
    [({EN: {"title": ""}}, "en.title"), ({ZH: {"quick_take": "x"}}, "zh.title"), ({EN: {"titel": "x"}}, "titel")],
)
def test_a_text_without_a_title_or_with_a_field_that_is_none_is_refused(
    world: World, texts: dict[Language, dict[str, str]], words: str
) -> None:
    world.story(FIRST, both=False)
    (story_id,) = ids(world).values()
    with pytest.raises(BadInputError, match=words):
        edit_story(world.sessions, story_id, texts, None, FIRST)
