"""The signal score: parts that add up, weights that an operator sets, sentences that say why."""

import itertools
from dataclasses import astuple
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.domain.errors import BadInputError
from digest.domain.language import Language
from digest.domain.ranking import Signal, Weights, parse_weights, signal, substance, topic_match
from digest.domain.story import StoryText

NOW = datetime(2027, 6, 9, 23, 50, tzinfo=UTC)
HOUR = timedelta(hours=1)
RICH = StoryText(
    "City launches a tram", quick_take="word " * 300, key_points=("a", "b", "c"), key_evidence=("d", "e", "f")
)


@given(
    trust=st.floats(0, 1),
    others=st.integers(0, 50),
    hours=st.floats(0, 1000),
    substance=st.floats(0, 1),
    match=st.floats(0, 1),
    cuts=st.lists(st.integers(0, 100), min_size=4, max_size=4).map(sorted),
)
def test_the_parts_add_up_and_stay_within_what_they_can_give(
    trust: float, others: int, hours: float, substance: float, match: float, cuts: list[int]
) -> None:
    edges = [0, *cuts, 100]
    weights = Weights(*(high - low for low, high in itertools.pairwise(edges)))
    found = Signal(trust, others, hours, substance, match, weights)
    assert found.score == sum(part.points for part in found.parts)
    assert all(0 <= part.points <= part.most for part in found.parts)
    assert tuple(part.most for part in found.parts) == astuple(weights)
    assert 0 <= found.score <= 100


def test_more_trust_more_sources_more_news_and_more_substance_score_higher() -> None:
    low = signal(StoryText("t"), source_weight=0.1, also_reported_by=0, enters_at=NOW - 47 * HOUR, now=NOW)
    high = signal(RICH, source_weight=1, also_reported_by=9, enters_at=NOW, now=NOW, topics=("models",))
    assert [part.points for part in low.parts] == [2, 0, 1, 3, 0]
    assert [part.points for part in high.parts] == [25, 20, 25, 20, 10]


@pytest.mark.parametrize(
    ("title", "share"),
    [
        ("NVIDIA acquires SchedMD", 0.3),
        ("阿里Qwen3.6-27B正式开源", 0.3),
        ("Ports open again", 0.3),
        ("The state of ports", 0.15),
        ("40 of our most helpful AI tips from 2025", 0),
        ("Watch a podcast about ports", 0),
        ("年度盘点：港口", 0),
    ],
)
def test_an_event_in_the_title_counts_and_a_list_of_tips_does_not(title: str, share: float) -> None:
    assert substance(StoryText(title)) == pytest.approx(share)


def test_each_further_source_adds_less_than_the_one_before() -> None:
    points = [Signal(0, others, 99, 0, 0).score for others in range(5)]
    assert points == [0, 10, 15, 18, 19]


def test_trust_outside_of_nought_to_one_counts_as_the_nearest() -> None:
    scores = [signal(RICH, source_weight=w, also_reported_by=0, enters_at=NOW, now=NOW).trust for w in (-2, 3)]
    assert scores == [0, 1]


@pytest.mark.parametrize(
    ("topics", "followed", "match"),
    [
        (("models",), (), 1.0),
        (("gardening", "models"), (), 0.5),
        (("gardening",), (), 0.0),
        ((), (), 0.0),
        (("data-centers",), ("chips",), 1.0),
        (("models", "chips"), ("chips",), 0.5),
        (("chips",), ("data-centers",), 0.0),
        (("gardening",), ("gardening",), 1.0),
    ],
)
def test_the_main_topic_counts_whole_and_a_lesser_one_half(
    topics: tuple[str, ...], followed: tuple[str, ...], match: float
) -> None:
    assert topic_match(topics, followed) == match


@pytest.mark.parametrize("others", [0, 1, 3])
@pytest.mark.parametrize("hours", [0.2, 1, 5, 60])
@pytest.mark.parametrize("match", [0, 0.5, 1])
def test_every_part_says_why_in_both_languages(others: int, hours: float, match: float) -> None:
    for part in Signal(0.6, others, hours, 0.4, match).parts:
        assert set(part.sentences) == set(Language)
        assert part.sentences[Language.ENGLISH].endswith(".")
        assert part.sentences[Language.CHINESE].endswith("。")


def test_weights_are_read_as_written() -> None:
    weights = "topics=0, source=40,corroboration=30,freshness=20,substance=10"
    assert parse_weights(weights) == Weights(40, 30, 20, 10, 0)


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("", "must name each of"),
        ("source=100", "must name each of"),
        ("source=25,source=0,corroboration=20,freshness=25,substance=20,topics=10", "must name each of"),
        ("source=25,corroboration=20,freshness=25,substance=20,topics=10,luck=0", "must name each of"),
        ("source=2.5,corroboration=20,freshness=25,substance=20,topics=10", "whole numbers"),
        ("source=-5,corroboration=50,freshness=25,substance=20,topics=10", "whole numbers"),
        ("source=26,corroboration=20,freshness=25,substance=20,topics=10", "add up to 101"),
    ],
)
def test_weights_that_can_not_be_used_are_refused_with_the_mend(text: str, mend: str) -> None:
    with pytest.raises(BadInputError, match=mend):
        parse_weights(text)
