"""The writer over a chat-completions service: what it asks, what it believes, when it gives up."""

import json
import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from digest.domain.language import Language
from digest.domain.story import Story, StoryText
from digest.editors.chat import ChatWriter
from digest.editors.chat_service import ChatService
from digest.editors.terms import read_glossary
from digest.ports import NotWrittenError
from tests.doubles.chat import KEY, MODEL, Answer, chat_service, says
from tests.doubles.chat import ChatService as Double

EN, ZH = Language.ENGLISH, Language.CHINESE
GLOSSARY = read_glossary(Path(__file__).parents[2] / "emails" / "terms.toml")
BODY = (
    "Nvidia will supply 1.2 million chips to the port of Westhaven, it said on Monday. The order is worth "
    "$3.4 billion, 12% more than last year. Deliveries begin on December 2."
)
STORY = Story(
    "https://news.example.com/1",
    "City News",
    EN,
    datetime(2026, 11, 30, tzinfo=UTC),
    {EN: StoryText("Nvidia to supply Westhaven", source_excerpt="Deliveries begin on December 2.")},
    body=BODY,
)
Build = Callable[..., ChatWriter]


def good(**changed: object) -> dict[str, Any]:
    document: dict[str, Any] = {
        "en": {
            "title": "Nvidia to supply Westhaven",
            "quick_answer": "Nvidia will supply 1.2 million chips to Westhaven for $3.4 billion.",
            "quick_take": "The order is 12% larger than last year’s.",
            "key_points": ["Deliveries begin on December 2.", ""],
            "what_happened": "The company said so on Monday.",
            "key_evidence": ["$3.4 billion, according to the company."],
            "why_it_matters": "",
            "what_to_watch": "Deliveries from December 2.",
            "source_excerpt": "Deliveries begin on December 2.",
        },
        "zh": {
            "title": "辉达将为 Westhaven 港供应芯片",
            "quick_answer": "英伟达将向 Westhaven 港供应 120 万颗芯片，订单金额 34 亿美元。",
            "quick_take": "订单比去年多 12%。",
            "key_points": ["12 月 2 日开始交付。"],
            "what_happened": "公司于周一公布了这一消息。",
            "key_evidence": [],
            "why_it_matters": "",
            "what_to_watch": "12 月 2 日起交付。",
            "source_excerpt": "将于 12 月 2 日开始交付。",
        },
        "topics": ["chips", "weather"],
    }
    for path, value in changed.items():
        language, _, field = path.partition("_")
        document[language][field] = value
    return document


INVENTED = good(en_quick_answer="Nvidia will supply 1.9 million chips to Westhaven and Rotterdam.")


@pytest.fixture
def service() -> Iterator[Double]:
    with chat_service() as running:
        yield running


@pytest.fixture
def build(service: Double) -> Iterator[Build]:
    made: list[ChatWriter] = []

    def writer(*, key: str = KEY, model: str = MODEL, seconds: float = 5, takes_schema: bool = True) -> ChatWriter:
        made.append(ChatWriter(ChatService(service.base_url, key, model, seconds), GLOSSARY, takes_schema=takes_schema))
        return made[-1]

    yield writer
    for one in made:
        one.close()


@pytest.mark.parametrize("takes_schema", [True, False])
def test_a_good_answer_gives_every_field_in_both_languages(service: Double, build: Build, takes_schema: bool) -> None:  # noqa: FBT001 - a parameter
    service.will(says(good(), tokens=700))
    draft = build(takes_schema=takes_schema).write(STORY)
    assert (draft.fault, draft.tokens, draft.topics) == ("", 700, ("chips",))
    assert draft.texts[ZH].quick_answer == "英伟达将向 Westhaven 港供应 120 万颗芯片，订单金额 34 亿美元。"
    assert draft.texts[EN].key_points == ("Deliveries begin on December 2.",)


def test_names_are_brought_into_the_brief_s_own_spelling(service: Double, build: Build) -> None:
    service.will(says(good()))
    texts = build().write(STORY).texts
    assert texts[ZH].title == "英伟达将为 Westhaven 港供应芯片"
    assert texts[EN].quick_answer.startswith("NVIDIA will")


def test_the_question_holds_prompt_story_glossary_and_topics(service: Double, build: Build) -> None:
    service.will(says(good()))
    build().write(STORY)
    system, user = service.asked[0]["messages"]
    told = json.loads(user["content"])
    assert "Every figure" in system["content"]
    assert told["story"]["text"] == BODY
    assert {"en": "NVIDIA", "zh": "英伟达"} in told["glossary"]
    assert "data-centers" in told["topics"]


@pytest.mark.parametrize(
    ("first", "named"),
    [
        (says(INVENTED), "1.9 million"),
        (says(INVENTED), "Rotterdam"),
        (Answer(content="Here you are: {"), "not the JSON"),
        (says({"en": {}}), "not the JSON"),
        (says(good(), finish="length"), "was cut"),
        (
            says(
                good(
                    zh_quick_answer="It is in English.",
                    zh_title="Still in English",
                    zh_quick_take="Here too, all of it in English words and none other, long enough to count",
                    zh_what_happened="English",
                    zh_source_excerpt="More English than Han by far, so that the share falls",
                    zh_what_to_watch="And yet more English",
                )
            ),
            "not in that language",
        ),
    ],
)
def test_an_answer_with_a_fault_is_asked_for_once_more_with_the_fault_named(
    service: Double, build: Build, first: Answer, named: str
) -> None:
    service.will(first, says(good()))
    draft = build().write(STORY)
    assert (draft.fault, draft.tokens, len(service.asked)) == ("", 1000, 2)
    assert named in service.words[1]


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (says(INVENTED), "not in the source: en: 1.9 million; en: Rotterdam"),
        (Answer(content="no JSON"), "not the JSON asked for"),
        (Answer(refusal="I can't help with that."), "the model refused"),
        (Answer(content="", finish="content_filter"), "content_filter"),
    ],
)
def test_after_a_second_fault_there_are_no_texts_and_the_reason_is_told(
    service: Double, build: Build, answer: Answer, fault: str
) -> None:
    service.will(answer)
    draft = build().write(STORY)
    assert fault in draft.fault
    assert (draft.texts, draft.tokens, len(service.asked)) == ({}, 1000, 2)


def test_a_fenced_answer_is_read(service: Double, build: Build) -> None:
    service.will(Answer(content=f"```json\n{json.dumps(good())}\n```"))
    assert build().write(STORY).fault == ""


@pytest.mark.parametrize(
    ("answer", "wait"),
    [
        (Answer(429, b"{}", headers={"Retry-After": "7"}), 7),
        (Answer(429, b"{}"), None),
        (Answer(503, b"down"), None),
        (Answer(400, b"{}"), 3600),
        (Answer(body=b"<html>"), None),
        (Answer(body=b'{"choices": []}'), None),
    ],
)
def test_no_answer_is_no_draft_and_says_how_long_to_wait(
    service: Double, build: Build, answer: Answer, wait: float | None
) -> None:
    service.will(answer)
    with pytest.raises(NotWrittenError) as failed:
        build().write(STORY)
    assert failed.value.after_seconds == wait
    assert len(service.asked) == 1


def test_what_a_first_answer_cost_is_told_when_the_second_never_comes(service: Double, build: Build) -> None:
    service.will(says(INVENTED, tokens=640), Answer(503, b""))
    with pytest.raises(NotWrittenError) as failed:
        build().write(STORY)
    assert failed.value.tokens == 640


@pytest.mark.parametrize("answer", [Answer(hangs=True), Answer(content="x", drips=True)])
def test_a_service_that_hangs_or_drips_is_given_up_at_the_deadline(
    service: Double, build: Build, answer: Answer
) -> None:
    service.will(answer)
    with pytest.raises(NotWrittenError):
        build(seconds=0.2).write(STORY)


@pytest.mark.parametrize("wrong", [{"key": "sk-wrong"}, {"model": "other"}])
def test_a_wrong_key_or_model_waits_long_and_the_key_is_shown_nowhere(
    service: Double, build: Build, wrong: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(NotWrittenError) as failed:
        build(**wrong).write(STORY)
    assert failed.value.after_seconds == 3600
    assert "sk-" not in caplog.text + str(failed.value)
    assert service.asked == []


def test_the_key_changes_with_the_text_the_model_and_nothing_else(build: Build) -> None:
    same, other = build().key(STORY), build(model="next").key(STORY)
    changed = Story(STORY.url, STORY.source, EN, STORY.published_at, STORY.texts, body=BODY + " More.")
    moved = Story("https://elsewhere.example/", STORY.source, EN, STORY.published_at, STORY.texts, body=BODY)
    assert same == build().key(moved)
    assert len({same, other, build().key(changed)}) == 3


def test_it_reserves_more_than_it_can_cost(build: Build) -> None:
    assert build().most_tokens(STORY) > 2 * 4000
