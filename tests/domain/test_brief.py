"""What a brief chooses, how long it takes to read, and how a story is scored."""

from datetime import UTC, datetime, timedelta

import pytest

from digest.domain.brief import BriefStory, Candidate, Limits, OtherLanguage, Placing, choose, reading_minutes, shown_in
from digest.domain.language import Language
from digest.domain.ranking import Signal, Weights
from digest.domain.story import StoryText, enters_at

EN, ZH = Language.ENGLISH, Language.CHINESE
NOW = datetime(2027, 6, 9, 23, 50, tzinfo=UTC)
HOUR = timedelta(hours=1)
ONLY_TRUST = Weights(100, 0, 0, 0, 0)


def candidate(
    number: int,
    score: int = 50,
    *,
    source: str = "",
    topics: tuple[str, ...] = (),
    own: Language = EN,
    tongues: tuple[Language, ...] = (EN, ZH),
    placing: Placing | None = None,
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
        signal=Signal(score / 100, 0, 0, 0, weights=ONLY_TRUST),
        placing=placing or Placing(),
    )


def chosen(
    candidates: list[Candidate],
    language: Language = EN,
    topics: tuple[str, ...] = (),
    limits: Limits | None = None,
    other: OtherLanguage = OtherLanguage.LEAVE_OUT,
) -> list[BriefStory]:
    return choose(candidates, language, topics, limits or Limits(weights=ONLY_TRUST), other)


def ids(stories: list[BriefStory]) -> list[int]:
    return [story.id for story in stories]


def test_the_best_come_first_and_of_equals_the_newest() -> None:
    found = [candidate(3, 40), candidate(1, 60), candidate(2, 40), candidate(4, 90)]
    assert ids(chosen(found)) == [4, 1, 2, 3]


def test_the_order_they_come_in_does_not_matter() -> None:
    found = [candidate(number, number % 3) for number in range(1, 9)]
    assert ids(chosen(found)) == ids(chosen(found[::-1]))


def test_a_brief_has_its_limit() -> None:
    assert len(chosen([candidate(n) for n in range(30)], limits=Limits(weights=ONLY_TRUST, stories=7))) == 7


def test_one_source_does_not_fill_the_brief() -> None:
    found = [candidate(n, 90, source="Loud") for n in range(10)] + [candidate(20, 10)]
    assert ids(chosen(found, limits=Limits(weights=ONLY_TRUST, per_source=2))) == [0, 1, 20]


def test_topics_let_through_what_has_one_of_them() -> None:
    found = [candidate(1, topics=("chips",)), candidate(2, topics=("models", "policy")), candidate(3)]
    assert ids(chosen(found, topics=("policy", "chips"))) == [1, 2]
    assert ids(chosen(found)) == [1, 2, 3]


def test_a_followed_topic_lets_through_what_lies_below_it_and_a_muted_one_nothing_of_it() -> None:
    found = [candidate(1, topics=("data-centers",)), candidate(2, topics=("chips", "policy")), candidate(3)]
    assert ids(chosen(found, topics=("chips",))) == [1, 2]
    assert ids(chosen(found, topics=("-chips",))) == [3]
    assert ids(chosen(found, topics=("-policy", "chips"))) == [1]


def test_of_a_morning_with_many_launches_and_one_ruling_the_ruling_is_in() -> None:
    launches = [candidate(n, 80 - n, topics=("models",)) for n in range(8)]
    ruling = candidate(20, 60, topics=("policy",))
    assert 20 in ids(chosen([*launches, ruling], limits=Limits(stories=5, weights=ONLY_TRUST)))


def test_the_chosen_stand_in_the_order_of_their_scores() -> None:
    found = [candidate(1, 80, topics=("models",)), candidate(2, 79, topics=("models",)), candidate(3, 75)]
    assert ids(chosen(found)) == [1, 2, 3]


def test_what_a_person_pinned_is_first_and_in_even_beyond_its_sources_share() -> None:
    found = [candidate(n, 90, source="Loud") for n in range(3)]
    found.append(candidate(9, 1, source="Loud", placing=Placing(pinned=True)))
    assert ids(chosen(found, limits=Limits(stories=2, per_source=1, weights=ONLY_TRUST))) == [9]
    assert ids(chosen(found, limits=Limits(stories=2, per_source=2, weights=ONLY_TRUST))) == [9, 0]


def test_positions_that_a_person_gave_come_before_scores() -> None:
    found = [
        candidate(1, 90),
        candidate(2, 10, placing=Placing(position=2)),
        candidate(3, 5, placing=Placing(position=1)),
    ]
    assert ids(chosen(found)) == [3, 2, 1]
    assert ids(chosen(found, limits=Limits(stories=1, weights=ONLY_TRUST))) == [3]


def test_a_story_that_is_left_out_takes_no_room() -> None:
    loud = [candidate(n, 90, source="Loud", own=ZH, tongues=(ZH,)) for n in range(4)]
    assert ids(chosen([*loud, candidate(9, 10, source="Loud")], limits=Limits(weights=ONLY_TRUST, per_source=1))) == [9]


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
