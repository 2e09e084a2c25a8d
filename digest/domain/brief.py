"""A brief: the stories of one edition in one language for one set of topics."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from digest.domain.language import Language
from digest.domain.ranking import DEFAULT_WEIGHTS, Signal, Weights, topic_match
from digest.domain.story import Report, StoryText, typeset
from digest.domain.topics import main_branch, taste_of

HAN_CHARACTERS_PER_MINUTE = 400
LATIN_WORDS_PER_MINUTE = 220
SAME_TOPIC_COSTS = 6
SAME_SOURCE_COSTS = 4
"""Points that a story loses against the others for each story of its topic, or its source, chosen already."""
LAST_PLACE = 10_000


class BriefState(StrEnum):
    """Where a brief stands."""

    PLANNED = "planned"
    READY = "ready"
    EMPTY = "empty"
    FAILED = "failed"
    MISSED = "missed"
    """Its morning passed before the scheduler ran; nothing was compiled."""


class OtherLanguage(StrEnum):
    """What happens to a story that has no text in the reader's language."""

    LEAVE_OUT = "leave_out"
    LABEL = "label"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a brief holds."""

    stories: int = 12
    per_source: int = 4
    html_bytes: int = 90_000
    weights: Weights = DEFAULT_WEIGHTS
    """Of the parts of the score."""


@dataclass(frozen=True, slots=True)
class Placing:
    """Where a person wants a story.

    Attributes:
        pinned: in every brief of its window that may show it, before the others.
        position: among the pinned, or among the others, lower first and all before those without one.
    """

    pinned: bool = False
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored story as a brief may choose it."""

    id: int
    slug: str
    url: str
    source: str
    language: Language
    enters_at: datetime
    published_at: datetime | None
    texts: dict[Language, StoryText]
    topics: tuple[str, ...]
    signal: Signal
    placing: Placing = field(default_factory=Placing)
    is_quoted: bool = False
    """Its texts are sentences of the source, chosen by rule; nobody wrote them."""
    reports: tuple[Report, ...] = ()
    """How others report its event."""
    told_by: Mapping[Language, Report] = field(default_factory=dict)
    """Whose the texts are that it has from another report, because its own source does not write that language."""
    translates: bool = False
    """Its event was told before, in another language; who reads that one too has had it."""


@dataclass(frozen=True, slots=True)
class BriefStory:
    """A story as one brief shows it: in the reader's language where there is a text in it.

    Attributes:
        url: of the report that is shown, which is ``source``'s.
        also_by: the other sources that report it.
    """

    id: int
    slug: str
    url: str
    source: str
    text: StoryText
    language: Language
    published_at: datetime | None
    topics: tuple[str, ...]
    score: int
    other_title: str = ""
    is_quoted: bool = False
    also_by: tuple[str, ...] = ()


def choose(
    candidates: Iterable[Candidate], language: Language, topics: Sequence[str], limits: Limits, other: OtherLanguage
) -> list[BriefStory]:
    """The stories of a brief, best first: at most ``limits.per_source`` of one source, ``limits.stories`` in all.

    Stories are taken one by one, the best first, where each story of a topic or a source makes the next one of it cost
    some points: of a morning with ten launches and one ruling, the ruling is in. A pinned story is always taken.

    Args:
        candidates: the stories of the window, in any order.
        topics: the reader's; empty means all, ``-policy`` mutes.
    """
    taste = taste_of(topics)
    showable = (
        scored(candidate, limits.weights, taste.followed)
        for candidate in candidates
        if taste.takes(candidate.topics) and _tongue(candidate, language, other)
    )
    taken = _balanced(sorted(showable, key=_rank), limits)
    return [shown_in(one, _tongue(one, language, other) or language) for one in sorted(taken, key=_rank)]


def scored(candidate: Candidate, weights: Weights, followed: Sequence[str] = ()) -> Candidate:
    """The story with its score under these weights, for a reader who follows these topics."""
    match = topic_match(candidate.topics, followed)
    return replace(candidate, signal=replace(candidate.signal, weights=weights, match=match))


def _tongue(candidate: Candidate, language: Language, other: OtherLanguage) -> Language | None:
    """The language to show it in; None where it must not be shown."""
    tongue = language if language in candidate.texts else candidate.language
    if candidate.translates and other is OtherLanguage.LABEL:
        return None
    may_be = tongue is language or other is OtherLanguage.LABEL
    return tongue if may_be and tongue in candidate.texts else None


def _rank(candidate: Candidate) -> tuple[bool, int, int, float, int]:
    place = LAST_PLACE if candidate.placing.position is None else candidate.placing.position
    return (
        not candidate.placing.pinned,
        place,
        -candidate.signal.score,
        -candidate.enters_at.timestamp(),
        candidate.id,
    )


def _balanced(ranked: Sequence[Candidate], limits: Limits) -> list[Candidate]:
    left, taken = list(ranked), list[Candidate]()
    sources, branches = Counter[str](), Counter[str]()
    while left and len(taken) < limits.stories:
        # The first of equals wins, and they come ranked.
        best = max(left, key=lambda one: _worth(one, sources, branches))
        left.remove(best)
        if sources[best.source] >= limits.per_source and not best.placing.pinned:
            continue
        taken.append(best)
        sources[best.source] += 1
        branches[main_branch(best.topics)] += 1
    return taken


def _worth(one: Candidate, sources: Mapping[str, int], branches: Mapping[str, int]) -> tuple[bool, int, int]:
    """How much a story is wanted next to those chosen already; a person's placing outweighs the score."""
    branch = main_branch(one.topics)
    cost = SAME_SOURCE_COSTS * sources[one.source] + (SAME_TOPIC_COSTS * branches[branch] if branch else 0)
    placed = 0 if one.placing.position is None else LAST_PLACE - one.placing.position
    return (one.placing.pinned, placed, one.signal.score - cost)


def shown_in(candidate: Candidate, language: Language) -> BriefStory:
    """The story as a brief shows it in one of the languages it has a text in."""
    other = next(
        (typeset(text, tongue).title for tongue, text in candidate.texts.items() if tongue is not language), ""
    )
    teller = candidate.told_by.get(language)
    source = teller.source if teller else candidate.source
    reporting = dict.fromkeys([candidate.source, *(report.source for report in candidate.reports)])
    return BriefStory(
        id=candidate.id,
        slug=candidate.slug,
        url=teller.url if teller else candidate.url,
        source=source,
        text=typeset(candidate.texts[language], language),
        language=language,
        published_at=teller.published_at if teller else candidate.published_at,
        topics=candidate.topics,
        score=candidate.signal.score,
        other_title=other,
        is_quoted=candidate.is_quoted,
        also_by=tuple(name for name in reporting if name != source),
    )


def reading_minutes(stories: Iterable[BriefStory]) -> int:
    """How long the brief takes to read, in whole minutes, at least 1."""
    minutes = 0.0
    for story in stories:
        words = " ".join(
            (
                story.text.title,
                story.text.quick_answer,
                story.text.quick_take,
                *story.text.key_points,
                story.text.why_it_matters,
            )
        )
        han = sum("\u4e00" <= c <= "\u9fff" for c in words)
        latin = len("".join(" " if "\u4e00" <= c <= "\u9fff" else c for c in words).split())
        minutes += han / HAN_CHARACTERS_PER_MINUTE + latin / LATIN_WORDS_PER_MINUTE
    return max(1, round(minutes))
