"""Stories get their texts from a model, within a budget, and nothing waits for it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from digest.domain.language import Language
from digest.domain.story import Story as Collected
from digest.domain.story import StoryText
from digest.editors.chat import ChatWriter
from digest.editors.chat_service import ChatService
from digest.editors.extractive import ExtractiveEditor
from digest.editors.terms import read_glossary
from digest.steps.write_stories import MOST_ATTEMPTS, WritersDesk, Written, take_stories, write_story, write_waiting
from digest.steps.write_texts import write_texts
from digest.store.collecting import save_story
from digest.store.database import Sessions
from digest.store.sources import source_named
from digest.store.stories import story_with_id
from digest.store.tables import Assignment, Story
from digest.store.writing import spent
from tests.doubles.chat import KEY, MODEL, Answer, chat_service, says
from tests.doubles.chat import ChatService as Double

EN, ZH = Language.ENGLISH, Language.CHINESE
NOW = datetime(2027, 6, 9, 12, tzinfo=UTC)
GLOSSARY = read_glossary(Path(__file__).parents[2] / "emails" / "terms.toml")
BODY = "The port of Westhaven will reopen on Monday after a storm closed it for 3 days. It has 14 berths for ships."
ALL = 10_000_000


def text(title: str, answer: str) -> dict[str, Any]:
    empty = dict.fromkeys(("quick_take", "what_happened", "why_it_matters", "what_to_watch", "source_excerpt"), "")
    return {"title": title, "quick_answer": answer, "key_points": [], "key_evidence": [], **empty}


GOOD = {
    "en": text("Westhaven reopens", "The port reopens after 3 days."),
    "zh": text("Westhaven 港重开", "Westhaven 港关闭 3 天后重新开放，14 个泊位可用。"),
    "topics": ["business"],
}
BAD = GOOD | {"en": text("Westhaven reopens", "The port reopens after 9 days.")}


@pytest.fixture
def service() -> Iterator[Double]:
    with chat_service(says(GOOD, tokens=900)) as running:
        yield running


@pytest.fixture
def desk(service: Double) -> Iterator[WritersDesk]:
    writer = ChatWriter(ChatService(service.base_url, KEY, MODEL, seconds=5), GLOSSARY)
    yield WritersDesk(writer, ALL, 1)
    writer.close()


@pytest.fixture
def sessions(database: Sessions) -> Sessions:
    collect(database, 1)
    return database


def collect(sessions: Sessions, number: int, body: str = BODY, at: datetime = NOW) -> None:
    story = Collected(
        f"https://city.example/{number}", "City News", EN, at, {EN: StoryText(f"Port news {number}")}, body=body
    )
    with sessions.begin() as session:
        save_story(session, source_named(session, "City News", at), story, at)
    write_texts(sessions, ExtractiveEditor(), at)


def row(sessions: Sessions) -> Story:
    with sessions() as session:
        return session.scalars(select(Story).order_by(Story.id)).all()[0]


def texts(sessions: Sessions) -> dict[Language, StoryText]:
    with sessions() as session:
        found = story_with_id(session, row(sessions).id, NOW)
        assert found is not None
        return found.texts


def run(sessions: Sessions, desk: WritersDesk, now: datetime = NOW) -> list[Written]:
    return [write_story(sessions, desk, story_id, now) for story_id in take_stories(sessions, desk, now)]


def test_a_story_is_written_once_in_both_languages(sessions: Sessions, desk: WritersDesk, service: Double) -> None:
    assert run(sessions, desk) == [Written.WRITTEN]
    written = texts(sessions)
    assert written[ZH].quick_answer == "Westhaven 港关闭 3 天后重新开放，14 个泊位可用。"
    assert written[EN].quick_answer == "The port reopens after 3 days."
    # The source's title and quotation stay its own, and what the model left empty keeps the source's words.
    assert written[EN].title == "Port news 1"
    assert written[EN].source_excerpt.startswith("The port of Westhaven will reopen")
    assert row(sessions).written_by == desk.writer.name
    assert row(sessions).topics[0] == "business"
    assert run(sessions, desk, NOW + timedelta(days=1)) == []
    assert len(service.asked) == 1


def test_before_and_without_the_model_the_sources_words_are_there(
    sessions: Sessions, desk: WritersDesk, service: Double
) -> None:
    service.will(says(BAD))
    before = texts(sessions)
    assert before[EN].quick_answer.startswith("The port of Westhaven")
    assert run(sessions, desk) == [Written.FAULTY]
    assert texts(sessions) == before
    assert row(sessions).flag == "not in the source: en: 9 days"
    assert run(sessions, desk, NOW + timedelta(hours=1)) == []


def test_the_same_text_is_never_paid_for_twice(sessions: Sessions, desk: WritersDesk, service: Double) -> None:
    run(sessions, desk)
    collect(sessions, 1, BODY + " Trucks wait outside of the gates of the port since Friday.")
    assert row(sessions).written_by == ""
    collect(sessions, 1, BODY)
    assert run(sessions, desk) == [Written.KEPT]
    assert len(service.asked) == 1
    assert texts(sessions)[ZH].title == "Westhaven 港重开"


def test_the_days_budget_stops_the_writing_and_the_next_day_goes_on(
    sessions: Sessions, desk: WritersDesk, service: Double
) -> None:
    small = WritersDesk(desk.writer, 30_000, 1)
    for number in range(2, 40):
        collect(sessions, number, f"{BODY} This is number {number}.")
    outcomes = write_waiting(sessions, small, NOW, 100)
    with sessions() as session:
        used = spent(session, NOW.date())
    assert used == 900 * outcomes[Written.WRITTEN] <= 30_000
    assert outcomes[Written.NO_BUDGET] > 0
    asked = len(service.asked)
    assert run(sessions, small, NOW + timedelta(hours=11)) == []
    assert len(service.asked) == asked
    assert run(sessions, small, NOW + timedelta(hours=12)) == [Written.WRITTEN]


def test_failures_wait_longer_each_time_and_are_given_up_with_a_flag(
    sessions: Sessions, desk: WritersDesk, service: Double
) -> None:
    service.will(Answer(503, b""))
    now, waits = NOW, []
    for _ in range(MOST_ATTEMPTS - 1):
        assert run(sessions, desk, now) == [Written.AGAIN]
        with sessions() as session:
            due = session.scalars(select(Assignment.due_at)).one()
        waits.append(due - now)
        assert run(sessions, desk, due - timedelta(seconds=1)) == []
        now = due
    assert run(sessions, desk, now) == [Written.GIVEN_UP]
    assert waits == sorted(set(waits))
    assert row(sessions).flag == "not written: the writer's service answered 503"
    assert run(sessions, desk, now + timedelta(hours=1)) == []


def test_a_wait_that_the_service_asks_for_is_kept(sessions: Sessions, desk: WritersDesk, service: Double) -> None:
    service.will(Answer(429, b"{}", headers={"Retry-After": "600"}))
    assert run(sessions, desk) == [Written.AGAIN]
    assert take_stories(sessions, desk, NOW + timedelta(seconds=599)) == []
    assert len(take_stories(sessions, desk, NOW + timedelta(seconds=600))) == 1


def test_no_more_are_written_at_once_than_may_be_and_a_dead_worker_lets_go(
    sessions: Sessions, desk: WritersDesk
) -> None:
    collect(sessions, 2)
    first = take_stories(sessions, desk, NOW)
    assert len(first) == 1
    assert take_stories(sessions, desk, NOW + timedelta(minutes=14)) == []
    assert len(take_stories(sessions, desk, NOW + timedelta(minutes=16))) == 1


def test_old_hidden_and_edited_stories_are_not_paid_for(sessions: Sessions, desk: WritersDesk) -> None:
    assert take_stories(sessions, desk, NOW + timedelta(days=2, seconds=1)) == []
    for change in ("hidden", "edited"):
        with sessions.begin() as session:
            found = session.scalars(select(Story)).one()
            found.hidden, found.edited = change == "hidden", change == "edited"
        assert take_stories(sessions, desk, NOW) == []


def test_what_a_person_wrote_meanwhile_stays(sessions: Sessions, desk: WritersDesk) -> None:
    (story_id,) = take_stories(sessions, desk, NOW)
    with sessions.begin() as session:
        session.get_one(Story, story_id).edited = True
    before = texts(sessions)
    assert write_story(sessions, desk, story_id, NOW) is Written.GONE
    assert texts(sessions) == before
