"""The archive as the web shows it: briefs by month, stories by topic, by source and by their words."""

from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby

from sqlalchemy.orm import Session

from digest.domain.brief import BriefStory
from digest.domain.language import Language
from digest.steps.read_briefs import in_language
from digest.store.archive import DatedBrief, briefs_between, months
from digest.store.database import Sessions
from digest.store.search import find_stories
from digest.store.shelves import corrected_at, has_text, ids_of, source_with_id, under_topic
from digest.store.stories import stories_with_ids
from digest.store.tables import Story

PER_PAGE = 20


@dataclass(frozen=True, slots=True)
class Day:
    """A date of the archive with its brief in each language that has one."""

    on: date
    briefs: Mapping[Language, DatedBrief]


@dataclass(frozen=True, slots=True)
class Month:
    """A month of the archive, its days newest first; and all months that have a brief, by their first day."""

    first: date
    days: Sequence[Day]
    all_months: Sequence[date]


@dataclass(frozen=True, slots=True)
class Shelf:
    """One page of a list of stories; ``has_more``: older ones follow on the next page."""

    stories: Sequence[BriefStory]
    page: int = 1
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class SourceShelf:
    """A source's stories."""

    name: str
    home_url: str
    shelf: Shelf


@dataclass(frozen=True, slots=True)
class FeedStory:
    """A story for a feed: when it came, and when what it says last changed in a way that matters."""

    story: BriefStory
    entered_at: datetime
    updated_at: datetime


def month_of_briefs(sessions: Sessions, wanted: date | None, now: datetime) -> Month | None:
    """The month that begins on ``wanted``, else the newest one; None where it has no brief."""
    with sessions() as session:
        all_months = months(session, now)
        first = wanted or next(iter(all_months), None)
        if first is None or first not in all_months:
            return None
        last = first.replace(day=monthrange(first.year, first.month)[1])
        found = briefs_between(session, first, last, now)
        by_day = groupby(found, key=lambda brief: brief.on)
        return Month(first, [Day(on, {one.language: one for one in briefs}) for on, briefs in by_day], all_months)


def front_stories(sessions: Sessions, language: Language, now: datetime, limit: int) -> list[BriefStory]:
    """The newest stories that have a text in ``language``."""
    with sessions() as session:
        return _shown(session, ids_of(session, now, has_text(language), limit=limit), language, now)


def topic_shelf(sessions: Sessions, topic: str, language: Language, page: int, now: datetime) -> Shelf:
    """A page of the stories of a topic, and of those below it, that have a text in ``language``."""
    with sessions() as session:
        wanted = (under_topic(session, topic), has_text(language))
        return _shelf(session, ids_of(session, now, *wanted, **_reach(page)), language, page, now)


def source_shelf(
    sessions: Sessions, source_id: int, language: Language, page: int, now: datetime
) -> SourceShelf | None:
    """A page of the stories of a source; None where there is no such source."""
    with sessions() as session:
        source = source_with_id(session, source_id)
        if source is None:
            return None
        ids = ids_of(session, now, Story.source_id == source_id, **_reach(page))
        return SourceShelf(source.name, source.home_url, _shelf(session, ids, language, page, now))


def search_shelf(sessions: Sessions, question: str, language: Language, page: int, now: datetime) -> Shelf:
    """A page of the stories that have every word of the question in their title, answer, take or key points, in either
    language; each is shown in ``language`` where it has a text in it.
    """
    with sessions() as session:
        return _shelf(session, find_stories(session, question, now, **_reach(page)), language, page, now)


def feed_stories(sessions: Sessions, language: Language, topic: str, now: datetime, limit: int) -> list[FeedStory]:
    """The newest stories with a text in ``language``, of a topic where one is named."""
    with sessions() as session:
        about = [under_topic(session, topic)] if topic else []
        ids = ids_of(session, now, has_text(language), *about, limit=limit)
        corrected = corrected_at(session, ids)
        found = stories_with_ids(session, ids, now)
        shown = in_language(found, language)
        return [
            FeedStory(story, one.enters_at, max(one.enters_at, corrected.get(one.id, one.enters_at)))
            for one, story in zip(found, shown, strict=True)
        ]


def _reach(page: int) -> dict[str, int]:
    """One more than a page holds tells whether there is another one."""
    return {"limit": PER_PAGE + 1, "offset": (page - 1) * PER_PAGE}


def _shelf(session: Session, ids: Sequence[int], language: Language, page: int, now: datetime) -> Shelf:
    return Shelf(_shown(session, ids[:PER_PAGE], language, now), page, len(ids) > PER_PAGE)


def _shown(session: Session, ids: Sequence[int], language: Language, now: datetime) -> list[BriefStory]:
    return in_language(stories_with_ids(session, ids, now), language)
