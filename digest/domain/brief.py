"""A brief: the stories of one edition in one language for one set of topics."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from digest.domain.language import Language
from digest.domain.ranking import Signal
from digest.domain.story import StoryText

HAN_CHARACTERS_PER_MINUTE = 400
LATIN_WORDS_PER_MINUTE = 220


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


@dataclass(frozen=True, slots=True)
class BriefStory:
    """A story as one brief shows it: in the reader's language where there is a text in it."""

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


def choose(
    candidates: Iterable[Candidate], language: Language, topics: Sequence[str], limits: Limits, other: OtherLanguage
) -> list[BriefStory]:
    """The stories of a brief, best first: at most ``limits.per_source`` of one source, ``limits.stories`` in all.

    Args:
        candidates: the stories of the window, in any order.
        topics: the reader's; empty means all.
    """
    wanted = set(topics)
    ranked = sorted(candidates, key=lambda c: (-c.signal.score, -c.enters_at.timestamp(), c.id))
    chosen: list[BriefStory] = []
    per_source: Counter[str] = Counter()
    for candidate in ranked:
        if wanted and not wanted & set(candidate.topics):
            continue
        tongue = language if language in candidate.texts else candidate.language
        if tongue != language and other is OtherLanguage.LEAVE_OUT:
            continue
        if tongue not in candidate.texts or per_source[candidate.source] >= limits.per_source:
            continue
        per_source[candidate.source] += 1
        chosen.append(shown_in(candidate, tongue))
        if len(chosen) == limits.stories:
            break
    return chosen


def shown_in(candidate: Candidate, language: Language) -> BriefStory:
    """The story as a brief shows it in one of the languages it has a text in."""
    other = next((text.title for tongue, text in candidate.texts.items() if tongue is not language), "")
    return BriefStory(
        id=candidate.id,
        slug=candidate.slug,
        url=candidate.url,
        source=candidate.source,
        text=candidate.texts[language],
        language=language,
        published_at=candidate.published_at,
        topics=candidate.topics,
        score=candidate.signal.score,
        other_title=other,
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
