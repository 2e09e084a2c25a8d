"""What there is to find on the site, for its sitemap."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from digest.domain.language import Language
from digest.store.archive import DatedBrief, briefs_between, months
from digest.store.database import Sessions
from digest.store.shelves import corrected_at, count_visible, first_entry, places

MOST_OF_A_MONTH = 20_000
"""Stories; a sitemap takes 50,000 addresses, and each story has one in each language."""


@dataclass(frozen=True, slots=True)
class FoundStory:
    """A story with the languages it can be read in, and when what it says last changed."""

    slug: str
    languages: Sequence[Language]
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Found:
    """What a stretch of days brought."""

    stories: Sequence[FoundStory]
    briefs: Sequence[DatedBrief]


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is in all, and the first days of the months it lies in, newest first."""

    stories: int
    months: Sequence[date]


def extent(sessions: Sessions, now: datetime) -> Extent:
    """How much there is to find."""
    with sessions() as session:
        first = first_entry(session, now)
        begun = {*months(session, now), *(_months(first.date(), now.date()) if first else ())}
        return Extent(count_visible(session, now), sorted(begun, reverse=True))


def found_between(sessions: Sessions, first: date, last: date, now: datetime) -> Found:
    """The briefs of these dates, and the stories that entered on them (UTC), the last one included."""
    start, end = _midnight(first), _midnight(last + timedelta(days=1))
    with sessions() as session:
        found = places(session, start, end, now, MOST_OF_A_MONTH)
        corrected = corrected_at(session, [place.id for place in found])
        stories = [
            FoundStory(place.slug, place.languages, max(place.entered_at, corrected.get(place.id, place.entered_at)))
            for place in found
        ]
        return Found(stories, briefs_between(session, first, last, now))


def _midnight(on: date) -> datetime:
    return datetime.combine(on, time(), UTC)


def _months(first: date, last: date) -> list[date]:
    return [
        date(year, month, 1)
        for year in range(first.year, last.year + 1)
        for month in range(1, 13)
        if (first.year, first.month) <= (year, month) <= (last.year, last.month)
    ]
