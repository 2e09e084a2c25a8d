"""The offline editor quotes; it never writes."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.domain.language import Language
from digest.domain.sentences import sentences
from digest.domain.story import Story, StoryText
from digest.editors.extractive import ExtractiveEditor

EN, ZH = Language.ENGLISH, Language.CHINESE
PORTS = (
    "The port of Westhaven will reopen on Monday after a storm closed it for 3 days. Dr. Lee of the U.S. Coast Guard "
    "said all 14 berths were checked and found safe. But some cranes still wait. About 240 ships are anchored outside, "
    "the largest queue the port has ever reported. Subscribe to our newsletter for more stories like this one today. "
    "Freight rates rose by 12% while the port was closed, according to the harbor office. Is the worst over for the "
    "shipping lines that call here each week? Trucks carried 5,000 containers to other ports in the meantime."
)
RIVER = (
    "1、市水务局宣布，受持续降雨影响的江段水位将于周三回落至警戒线以下，预计下降1.2米。2、全市36座泵站已全部投入运行，"
    "累计排水超过400万立方米。其中老城区压力最大。“我们连续工作了三天。”值班人员说。点击关注我们的公众号了解更多防汛信息。"
    "气象台显示，未来一周降雨量较上周减少约六成，防汛响应有望降至四级。"
)


def story(title: str, body: str, language: Language = EN, **fields: str | tuple[str, ...]) -> Story:
    text = StoryText(title=title, **fields)  # type: ignore[arg-type] - keyword values as declared
    published_at = datetime(2027, 6, 10, tzinfo=UTC)
    return Story("https://city.example/1", "City News", language, published_at, {language: text}, body=body)


def written(given_story: Story) -> StoryText:
    return ExtractiveEditor().write(given_story)[given_story.language]


def produced(text: StoryText) -> list[str]:
    return [line for line in (text.quick_answer, text.quick_take, *text.key_points, text.source_excerpt) if line]


def bare(text: str) -> str:
    return re.sub(r"[\s…]+", "", text)


def test_an_english_story_is_told_in_its_own_sentences() -> None:
    text = written(story("Westhaven port to reopen on Monday", PORTS))
    assert text.quick_answer == "The port of Westhaven will reopen on Monday after a storm closed it for 3 days."
    assert text.quick_take == "About 240 ships are anchored outside, the largest queue the port has ever reported."
    assert text.key_points == (
        "Dr. Lee of the U.S. Coast Guard said all 14 berths were checked and found safe.",
        "Freight rates rose by 12% while the port was closed, according to the harbor office.",
        "Trucks carried 5,000 containers to other ports in the meantime.",
    )
    assert text.source_excerpt.startswith(text.quick_answer)


def test_a_chinese_story_is_told_in_its_own_sentences() -> None:
    text = written(story("江段水位周三将回落", RIVER, ZH))
    assert text.quick_answer == "市水务局宣布，受持续降雨影响的江段水位将于周三回落至警戒线以下，预计下降1.2米。"
    assert set(text.key_points) == {
        "全市36座泵站已全部投入运行，累计排水超过400万立方米。",
        "气象台显示，未来一周降雨量较上周减少约六成，防汛响应有望降至四级。",
    }


@pytest.mark.parametrize("body", [PORTS, RIVER])
def test_calls_questions_and_halves_of_quotations_are_not_chosen(body: str) -> None:
    said = " ".join(produced(replace(written(story("Port", body)), source_excerpt="")))
    for unwanted in ("newsletter", "Is the worst", "公众号", "我们连续"):
        assert unwanted not in said


def test_judgement_is_left_to_those_who_have_it() -> None:
    text = written(story("Westhaven port to reopen", PORTS))
    assert (text.what_happened, text.key_evidence, text.why_it_matters, text.what_to_watch) == ("", (), "", "")


def test_nothing_is_said_twice() -> None:
    lines = [line for line in produced(written(story("Port", f"{PORTS}\n{PORTS}"))) if line]
    told = lines[:-1]
    assert len(told) == len(set(told)) > 2


def test_what_someone_wrote_is_left_alone_and_only_gaps_are_filled() -> None:
    begun = story("Port", PORTS, quick_answer="The port reopens.", key_points=("One point.",))
    text = written(begun)
    assert (text.quick_answer, text.key_points) == ("The port reopens.", ("One point.",))
    assert text.quick_take
    complete = story("Port", PORTS, quick_answer="a", quick_take="b", key_points=("c",), source_excerpt="d")
    assert ExtractiveEditor().write(complete) == complete.texts


def test_a_text_in_another_language_is_not_touched() -> None:
    original = story("Port", PORTS)
    both = replace(original, texts={**original.texts, ZH: StoryText(title="港口")})
    assert ExtractiveEditor().write(both)[ZH] == StoryText(title="港口")


@pytest.mark.parametrize("body", ["", "Port news: Port reopens", "Short."])
def test_a_source_that_says_nothing_beyond_its_title_gives_no_answer(body: str) -> None:
    text = written(story("Port reopens", body))
    assert (text.quick_answer, text.quick_take, text.key_points) == ("", "", ())


def test_the_same_story_gives_the_same_texts() -> None:
    assert written(story("Port", PORTS)) == written(story("Port", PORTS))


pieces = st.sampled_from(
    [
        *re.split(r"(?<=[.?。]) ?", PORTS + RIVER),
        "“Quoted,” she said.",
        "Mr. X.",
        "3.5%",
        "……",
        "他说：“好。”",
        "\n",
        " ",
        "A.B",
        "!?",
    ]
) | st.text(max_size=12)


@given(st.lists(pieces, max_size=25), st.text(max_size=20), st.sampled_from(list(Language)))
def test_every_sentence_stands_in_the_source(parts: list[str], title: str, language: Language) -> None:
    given_story = story(title or "x", "".join(parts), language)
    text = written(given_story)
    assert text.title == given_story.texts[language].title
    for line in produced(text):
        # An excerpt passes over a line that only repeats the title, so two of its sentences may not be neighbors.
        for sentence in sentences(line):
            assert bare(sentence) in bare(given_story.body)
