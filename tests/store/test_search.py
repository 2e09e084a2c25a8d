"""Stories are found by their words, in both languages, on both databases."""

from datetime import UTC, datetime, timedelta

import pytest

from digest.domain.language import Language
from digest.domain.story import Story, StoryText
from digest.store.collecting import save_story
from digest.store.database import Sessions
from digest.store.search import find_stories, index_missing
from digest.store.sources import source_named
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


def found(sessions: Sessions, question: str, language: Language, now: datetime = NOW) -> list[int]:
    with sessions() as session:
        return find_stories(session, question, language, now, 10)


def test_words_and_beginnings_of_words_and_han_passages_find_a_story(filled: Sessions) -> None:
    assert found(filled, "records", EN) == []
    assert found(filled, "record world", EN) == found(filled, "rec", EN) == [1]
    assert found(filled, "世界纪录", ZH) == found(filled, "gb300 纪", ZH) == [1]
    assert found(filled, "成本", ZH) == [2, 1]
    assert found(filled, "纪录世界", ZH) == found(filled, "世界纪录", EN) == []
    assert found(filled, "record", EN, NOW - timedelta(seconds=1)) == []


@pytest.mark.parametrize("question", ["", "' OR 1=1 --", '"', "a:* & !b", "NEAR(", "\\", "%_"])
def test_no_question_is_an_error(filled: Sessions, question: str) -> None:
    assert found(filled, question, EN) == []


def test_a_text_that_changes_is_found_by_its_new_words_only(filled: Sessions) -> None:
    with filled.begin() as session:
        source = source_named(session, "Example News", NOW)
        new = Story("https://a.example.com/1", "Example News", EN, NOW, {EN: StoryText("Dearer memory")})
        save_story(session, source, new, NOW)
    assert found(filled, "cheaper", EN) == []
    assert found(filled, "memory", EN) == [2]


def test_stories_from_before_there_was_a_search_are_taken_in(filled: Sessions) -> None:
    with filled.begin() as session:
        session.query(StorySearch).delete()
    assert found(filled, "record", EN) == []
    with filled.begin() as session:
        assert index_missing(session, 3) == 3
        assert index_missing(session, 3) == 1
        assert index_missing(session, 3) == 0
    assert found(filled, "record", EN) == [1]
