"""What a brief chooses, how long it takes to read, and how a story is scored."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.domain.brief import BriefStory, Candidate, Limits, OtherLanguage, choose, reading_minutes, shown_in
from digest.domain.language import Language
from digest.domain.ranking import Signal, signal
from digest.domain.story import StoryText, enters_at

EN, ZH = Language.ENGLISH, Language.CHINESE
NOW = datetime(2027, 6, 9, 23, 50, tzinfo=UTC)
HOUR = timedelta(hours=1)


def candidate(
    number: int,
    score: int = 50,
    *,
    source: str = "",
    topics: tuple[str, ...] = (),
    own: Language = EN,
    tongues: tuple[Language, ...] = (EN, ZH),
) -> Candidate:
    return Candidate(
        id=number,
        slug=f"story-{number}",
        url=f"https://news.example.com/{number}",
        source=source or f"Source {number}",
        language=own,
        enters_at=NOW - number * HOUR,
        published_at=None,
        texts={tongue: StoryText(f"{tongue} {number}") for tongue in tongues},
        topics=topics,
        signal=Signal(score, 0, 0, 0),
    )


def chosen(
    candidates: list[Candidate],
    language: Language = EN,
    topics: tuple[str, ...] = (),
    limits: Limits | None = None,
    other: OtherLanguage = OtherLanguage.LEAVE_OUT,
) -> list[BriefStory]:
    return choose(candidates, language, topics, limits or Limits(), other)


def ids(stories: list[BriefStory]) -> list[int]:
    return [story.id for story in stories]


def test_the_best_come_first_and_of_equals_the_newest() -> None:
    found = [candidate(3, 40), candidate(1, 60), candidate(2, 40), candidate(4, 90)]
    assert ids(chosen(found)) == [4, 1, 2, 3]


def test_the_order_they_come_in_does_not_matter() -> None:
    found = [candidate(number, number % 3) for number in range(1, 9)]
    assert ids(chosen(found)) == ids(chosen(found[::-1]))


def test_a_brief_has_its_limit() -> None:
    assert len(chosen([candidate(n) for n in range(30)], limits=Limits(stories=7))) == 7


def test_one_source_does_not_fill_the_brief() -> None:
    found = [candidate(n, 90, source="Loud") for n in range(10)] + [candidate(20, 10)]
    assert ids(chosen(found, limits=Limits(per_source=2))) == [0, 1, 20]


def test_topics_let_through_what_has_one_of_them() -> None:
    found = [candidate(1, topics=("chips",)), candidate(2, topics=("models", "policy")), candidate(3)]
    assert ids(chosen(found, topics=("policy", "chips"))) == [1, 2]
    assert ids(chosen(found)) == [1, 2, 3]


def test_a_story_that_is_left_out_takes_no_room() -> None:
    loud = [candidate(n, 90, source="Loud", own=ZH, tongues=(ZH,)) for n in range(4)]
    assert ids(chosen([*loud, candidate(9, 10, source="Loud")], limits=Limits(per_source=1))) == [9]


def test_without_a_text_in_the_readers_language_a_story_is_left_out_or_labelled() -> None:
    found = [candidate(1, own=ZH, tongues=(ZH,))]
    assert chosen(found) == []
    (labelled,) = chosen(found, other=OtherLanguage.LABEL)
    assert (labelled.language, labelled.text.title) == (ZH, "zh 1")


def test_the_readers_language_wins_over_the_storys_own() -> None:
    (story,) = chosen([candidate(1, own=ZH)], EN)
    assert (story.language, story.text.title, story.other_title) == (EN, "en 1", "zh 1")


def test_a_story_without_any_text_it_could_show_is_passed_over() -> None:
    assert chosen([candidate(1, own=ZH, tongues=())], other=OtherLanguage.LABEL) == []


def test_a_story_in_one_language_has_no_other_title() -> None:
    assert shown_in(candidate(1, tongues=(EN,)), EN).other_title == ""


@pytest.mark.parametrize(("words", "minutes"), [("", 1), ("word " * 219, 1), ("word " * 660, 3), ("字" * 1200, 3)])
def test_reading_time_counts_words_in_english_and_characters_in_chinese(words: str, minutes: int) -> None:
    story = shown_in(candidate(1), EN)
    text = StoryText("", quick_take=words)
    assert reading_minutes([BriefStory(**{**as_dict(story), "text": text})]) == minutes  # type: ignore[arg-type] # the same fields


def as_dict(story: BriefStory) -> dict[str, object]:
    return {name: getattr(story, name) for name in BriefStory.__dataclass_fields__}


@given(
    text=st.builds(
        StoryText,
        title=st.text(max_size=20),
        quick_take=st.text(max_size=1500),
        key_points=st.lists(st.text(max_size=5), max_size=6).map(tuple),
        key_evidence=st.lists(st.text(max_size=5), max_size=6).map(tuple),
    ),
    weight=st.floats(-2, 3),
    others=st.integers(0, 50),
    hours=st.floats(-100, 1000),
)
def test_the_parts_add_up_and_stay_between_nought_and_a_hundred(
    text: StoryText, weight: float, others: int, hours: float
) -> None:
    entered = NOW - timedelta(hours=hours)
    found = signal(text, source_weight=weight, also_reported_by=others, enters_at=entered, now=NOW)
    parts = (found.source, found.corroboration, found.freshness, found.substance)
    assert found.score == sum(parts)
    assert 0 <= found.score <= 100
    assert all(0 <= part <= most for part, most in zip(parts, (30, 20, 25, 25), strict=True))


def test_more_trust_more_sources_more_news_and_more_substance_score_higher() -> None:
    rich = StoryText("t", quick_take="word " * 300, key_points=("a", "b", "c"), key_evidence=("d", "e", "f"))
    low = signal(StoryText("t"), source_weight=0.1, also_reported_by=0, enters_at=NOW - 47 * HOUR, now=NOW)
    high = signal(rich, source_weight=1, also_reported_by=4, enters_at=NOW, now=NOW)
    assert (low.source, low.corroboration, low.freshness, low.substance) == (3, 0, 1, 0)
    assert high == Signal(30, 20, 25, 25)


@pytest.mark.parametrize(
    ("published", "entered"),
    [
        (None, NOW),
        (NOW - HOUR, NOW),
        (NOW - 72 * HOUR, NOW),
        (NOW - 73 * HOUR, NOW - 73 * HOUR),
        (NOW + HOUR, NOW + HOUR),
    ],
)
def test_a_story_enters_when_it_was_seen_unless_it_is_archive_or_embargoed(
    published: datetime | None, entered: datetime
) -> None:
    assert enters_at(published, NOW) == entered
