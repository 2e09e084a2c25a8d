"""The signal score, 0 to 100: how much a story deserves the morning, from parts that anyone can check."""

from dataclasses import dataclass
from datetime import datetime

from digest.domain.story import StoryText

SOURCE_POINTS = 30
CORROBORATION_POINTS = 20
FRESHNESS_POINTS = 25
SUBSTANCE_POINTS = 25
FRESH_FOR_HOURS = 48.0
FULL_SUBSTANCE_CHARACTERS = 900
"""A text this long (Han counts double) with points and evidence has full substance."""


@dataclass(frozen=True, slots=True)
class Signal:
    """The score and its parts, each in points; the parts add up to the score."""

    source: int
    corroboration: int
    freshness: int
    substance: int

    @property
    def score(self) -> int:
        """0 to 100."""
        return self.source + self.corroboration + self.freshness + self.substance


def signal(
    text: StoryText, *, source_weight: float, also_reported_by: int, enters_at: datetime, now: datetime
) -> Signal:
    """Score one story.

    Args:
        text: the text in the story's own language.
        source_weight: the operator's trust in the source, 0 to 1.
        also_reported_by: how many other sources carry the same event.
        enters_at: when the story counted as new.
        now: the cut-off of the edition.
    """
    age_hours = max(0.0, (now - enters_at).total_seconds() / 3600)
    return Signal(
        source=round(SOURCE_POINTS * min(1.0, max(0.0, source_weight))),
        corroboration=round(CORROBORATION_POINTS * min(also_reported_by, 4) / 4),
        freshness=round(FRESHNESS_POINTS * max(0.0, 1 - age_hours / FRESH_FOR_HOURS)),
        substance=round(SUBSTANCE_POINTS * _substance(text)),
    )


def _substance(text: StoryText) -> float:
    parts = (text.quick_answer, text.quick_take, text.what_happened, text.why_it_matters, text.source_excerpt)
    prose = " ".join(parts)
    weight = sum(2 if "\u2e80" <= c <= "\u9fff" else 1 for c in prose)
    length = min(1.0, weight / FULL_SUBSTANCE_CHARACTERS)
    lists = (min(len(text.key_points), 3) + min(len(text.key_evidence), 3)) / 6
    return 0.6 * length + 0.4 * lists
