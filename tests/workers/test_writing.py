"""Texts by a model have a queue of their own: a model that hangs holds one hand, and no morning waits for it."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import select

from digest.editors.extractive import ExtractiveEditor
from digest.steps.write_texts import write_texts
from digest.store.tables import Assignment, Story
from tests.doubles.chat import KEY, MODEL, Answer, ChatService, chat_service, says
from tests.steps.world import World
from tests.workers.conftest import SEND_AT, hired
from tests.workers.staff import Staff
from workers.queues import TICK, WRITE

EMPTY = dict.fromkeys(("quick_take", "what_happened", "why_it_matters", "what_to_watch", "source_excerpt"), "")
TEXT = {"quick_answer": "", "key_points": [], "key_evidence": [], **EMPTY}
GOOD = {"en": TEXT | {"title": "Ports reopen"}, "zh": TEXT | {"title": "港口重新开放"}, "topics": []}


@pytest.fixture
def service() -> Iterator[ChatService]:
    with chat_service(says(GOOD)) as running:
        yield running


@pytest.fixture
def writing(
    postgres_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch, service: ChatService
) -> Iterator[Staff]:
    chat = {"chat_base_url": service.base_url, "chat_api_key": KEY, "chat_model": MODEL, "chat_seconds": 5}
    with hired(postgres_url, redis_url, monkeypatch, editor="chat", **chat) as staff:
        yield staff


def collected(world: World, count: int) -> None:
    for _ in range(count):
        world.story(SEND_AT - timedelta(hours=1), both=False)
    write_texts(world.sessions, ExtractiveEditor(), SEND_AT - timedelta(hours=1))


def written(staff: Staff) -> list[str]:
    with staff.application.sessions() as session:
        return list(session.scalars(select(Story.written_by).where(Story.written_by != "")))


def test_stories_are_written_one_after_the_other_and_no_tick_is_needed_between(
    writing: Staff, service: ChatService
) -> None:
    collected(writing.world, 3)
    with writing.at_work():
        writing.publish(TICK)
        writing.until(lambda: len(written(writing)) == 3)
    assert set(written(writing)) == {f"chat {MODEL} story-1"}
    assert len(service.asked) == 3


def test_a_model_that_hangs_holds_one_hand_and_the_morning_goes_on(writing: Staff, service: ChatService) -> None:
    service.will(Answer(hangs=True))
    collected(writing.world, 5)
    writing.world.reader()
    with writing.at_work():
        writing.publish(TICK)
        writing.until(lambda: len(service.asked) == 1)
        writing.publish(TICK, [])
        writing.until(lambda: len(writing.provider.briefs()) == 1)
        assert writing.done[f"digest.{WRITE}"] == 0
        assert len(service.asked) == 1
        service.released.set()
        writing.finish(WRITE, 1)
    assert written(writing) == []
    with writing.application.sessions() as session:
        assert max(session.scalars(select(Assignment.due_at))) > writing.now
