"""How well reports of one event are told, on headlines that people put together: the figures of decision 43."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path

import pytest

from digest.domain.language import Language
from digest.domain.story import Sighting
from digest.sources.matching import STRONG, TitleMatcher

EN, ZH = Language.ENGLISH, Language.CHINESE
LABELLED = Path(__file__).parent / "labelled"
AT = datetime(2025, 12, 3, tzinfo=UTC)
MATCHER = TitleMatcher()


@dataclass(frozen=True)
class Labelled:
    """A headline, the half of the set it is in, and the event a person says it reports."""

    event: str
    half: str
    sighting: Sighting


def lines(name: str) -> Iterator[list[str]]:
    for line in (LABELLED / name).read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


def seen(title: str, source: str, language: Language = EN, at: datetime = AT, url: str = "") -> Sighting:
    plain = Sighting(title, language, url or f"https://{source}.example/{title}", at, source)
    return replace(plain, keys=MATCHER.keys(plain))


def headlines() -> list[Labelled]:
    return [
        Labelled(event, half, seen(title, source, Language(language), datetime.fromisoformat(at), url))
        for event, half, language, source, at, title, url in lines("headlines.tsv")
    ]


def is_looked_at(one: Sighting, other: Sighting) -> bool:
    """As the store finds candidates: one strong key in common, or two of the others."""
    return sum(2 if key.startswith(STRONG) else 1 for key in one.keys & other.keys) >= 2


def measure(pairs: Sequence[tuple[Labelled, Labelled]]) -> tuple[int, int, int]:
    """Pairs rightly joined, wrongly joined, and wrongly kept apart."""
    right = wrong = missed = 0
    for one, other in pairs:
        joined = is_looked_at(one.sighting, other.sighting) and MATCHER.is_same(one.sighting, other.sighting)
        same = one.event == other.event
        right, wrong, missed = right + (joined and same), wrong + (joined and not same), missed + (same and not joined)
    return right, wrong, missed


@pytest.mark.parametrize(
    ("half", "crosses", "precision", "recall"),
    [("tune", False, 1.0, 0.85), ("tune", True, 1.0, 0.95), ("check", False, 0.94, 0.8), ("check", True, 0.94, 0.9)],
)
def test_the_rule_does_as_well_as_its_decision_says(half: str, crosses: bool, precision: float, recall: float) -> None:  # noqa: FBT001 - a parameter of the measurement
    of_half = [one for one in headlines() if one.half == half]
    pairs = [
        (one, other)
        for one, other in combinations(of_half, 2)
        if (one.sighting.language is not other.sighting.language) == crosses
    ]
    right, wrong, missed = measure(pairs)
    assert right / (right + wrong) >= precision
    assert right / (right + missed) >= recall


def test_on_a_public_set_nearly_all_that_is_joined_is_of_one_subject() -> None:
    found = [
        Labelled(cluster, "", seen(title, publisher, at=datetime.fromisoformat(at)))
        for cluster, publisher, at, title in lines("aggregator.tsv")
    ]
    pairs = [(a, b) for a, b in combinations(found, 2) if a.sighting.source != b.sighting.source]
    right, wrong, _ = measure(pairs)
    assert right > 200
    assert right / (right + wrong) >= 0.95


SAME = [
    ("Anthropic acquires Bun", "Anthropic buys Bun, the JavaScript runtime", EN),
    ("OpenAI raises $40 billion led by SoftBank", "OpenAI 完成 400 亿美元融资，软银领投", ZH),
    ("Introducing Claude Opus 4.5", "Anthropic 发布 Claude Opus 4.5：编程能力再上台阶", ZH),
    ("NVIDIA to invest $5 billion in Intel", "英伟达将向英特尔投资 50 亿美元", ZH),
]
DIFFERENT = [
    ("Mt. Gox files for US bankruptcy protection", "Sbarro files for bankruptcy protection again", EN),
    ("Introducing Claude Opus 4.5", "Introducing Claude Haiku 4.5", EN),
    ("OpenAI raises $40 billion", "OpenAI raises $6.6 billion", EN),
    ("Wall Street Journal: West tries to loosen gas grip", "Stocks open lower", EN),
    ("Apple sues Samsung over patents", "Apple partners with Samsung on displays", EN),
    ("DeepSeek-V3 发布", "DeepSeek-R1 发布", ZH),
    ("AI日报：OpenAI 发布 GPT-5.2；谷歌更新翻译；英伟达投资英特尔", "Introducing GPT-5.2", EN),
    ("OpenAI to release GPT-5.2 soon", "OpenAI releases GPT-5.2", EN),
]


@pytest.mark.parametrize(("one", "other", "language"), SAME)
def test_two_reports_of_an_event_are_the_same_both_ways(one: str, other: str, language: Language) -> None:
    a, b = seen(one, "Wire"), seen(other, "Paper", language)
    assert is_looked_at(a, b)
    assert MATCHER.is_same(a, b)
    assert MATCHER.is_same(b, a)


@pytest.mark.parametrize(("one", "other", "language"), DIFFERENT)
def test_events_that_share_words_are_told_apart(one: str, other: str, language: Language) -> None:
    a, b = (
        seen(one, "Wall Street Journal", ZH if one.startswith(("AI日报", "DeepSeek")) else EN),
        seen(other, "Paper", language),
    )
    assert not MATCHER.is_same(a, b)
    assert not MATCHER.is_same(b, a)


@pytest.mark.parametrize(
    ("later", "same"), [(timedelta(days=3), True), (timedelta(days=3, seconds=1), False)], ids=["within", "beyond"]
)
def test_reports_of_an_event_lie_close_in_time(later: timedelta, same: bool) -> None:  # noqa: FBT001 - what is expected
    one, other = seen("Anthropic acquires Bun", "Wire"), seen("Anthropic buys Bun", "Paper", at=AT + later)
    assert MATCHER.is_same(one, other) is same


def test_one_address_is_one_page_whoever_links_to_it_and_whenever() -> None:
    page = "https://news.example/1"
    one, other = seen("A title", "Wire", url=page), seen("Another", "Paper", at=AT + timedelta(days=90), url=page)
    assert is_looked_at(one, other)
    assert MATCHER.is_same(one, other)


def test_a_source_has_columns_of_one_title_a_day_apart_and_reissues_within_hours() -> None:
    first, soon, next_day = (
        seen("Morning notes", "Wire", at=AT + timedelta(hours=hours), url=f"https://wire.example/{hours}")
        for hours in (0, 2, 24)
    )
    assert MATCHER.is_same(first, soon)
    assert not MATCHER.is_same(first, next_day)
