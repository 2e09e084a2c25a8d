"""Stories are found by their words, in both languages, on both databases."""

from datetime import UTC, datetime, timedelta

import pytest

from digest.domain.language import Language
from digest.domain.story import Story, StoryText
from digest.store.collecting import save_story
from digest.store.database import Sessions
from digest.store.search import find_stories, index_missing
from digest.store.sources import source_named
from digest.store.tables import Story as Row
from digest.store.tables import StorySearch

NOW = datetime(2026, 12, 2, 3, tzinfo=UTC)
EN, ZH = Language.ENGLISH, Language.CHINESE


@pytest.fixture
def filled(database: Sessions) -> Sessions:
    titles = (("A world record on GB300", "GB300 创下世界纪录"), ("Cheaper chips", "芯片更便宜"))
    with database.begin() as session:
        source = source_named(session, "Example News", NOW)
        for number, (english, chinese) in enumerate(titles):
            texts = {EN: StoryText(english, quick_take="A take."), ZH: StoryText(chinese, quick_take="看点在成本。")}
            save_story(session, source, Story(f"https://a.example.com/{number}", "Example News", EN, NOW, texts), NOW)
    return database


def found(sessions: Sessions, question: str, now: datetime = NOW) -> list[int]:
    with sessions() as session:
        return find_stories(session, question, now, 10)


def test_words_and_beginnings_of_words_and_han_passages_find_a_story(filled: Sessions) -> None:
    assert found(filled, "records") == []
    assert found(filled, "record world") == found(filled, "rec") == [1]
    assert found(filled, "世界纪录") == found(filled, "gb300 纪") == found(filled, "GB300") == [1]
    assert found(filled, "成本") == [2, 1]
    assert found(filled, "纪录世界") == found(filled, "record 纪录") == []
    assert found(filled, "record", NOW - timedelta(seconds=1)) == []


def test_what_an_editor_hid_is_not_found_and_a_page_starts_where_the_last_one_ended(filled: Sessions) -> None:
    with filled() as session:
        pages = [find_stories(session, "成本", NOW, 1, offset) for offset in range(3)]
    assert pages == [[2], [1], []]
    with filled.begin() as session:
        session.get_one(Row, 1).hidden = True
    assert found(filled, "record") == []


@pytest.mark.parametrize("question", ["", "' OR 1=1 --", '"', "a:* & !b", "NEAR(", "\\", "%_"])
def test_no_question_is_an_error(filled: Sessions, question: str) -> None:
    assert found(filled, question) == []


def test_a_text_that_changes_is_found_by_its_new_words_only(filled: Sessions) -> None:
    with filled.begin() as session:
        source = source_named(session, "Example News", NOW)
        new = Story("https://a.example.com/1", "Example News", EN, NOW, {EN: StoryText("Dearer memory")})
        save_story(session, source, new, NOW)
    assert found(filled, "cheaper") == []
    assert found(filled, "memory") == [2]


def test_stories_from_before_there_was_a_search_are_taken_in(filled: Sessions) -> None:
    with filled.begin() as session:
        session.query(StorySearch).delete()
    assert found(filled, "record") == []
    with filled.begin() as session:
        assert index_missing(session, 3) == 3
        assert index_missing(session, 3) == 1
        assert index_missing(session, 3) == 0
    assert found(filled, "record") == [1]
