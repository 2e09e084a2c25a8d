"""What the archive lists: the one brief that stands for a date in a language."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from digest.domain.brief import BriefState
from digest.domain.language import Language, choices_of
from digest.domain.story import StoryText, typeset
from digest.domain.subscriber import ALL_TOPICS
from digest.store.dialects import hours_between
from digest.store.tables import Brief, Edition, Story, StoryTextRow

USUAL_HOURS = 24
CLOCK_CHANGE_HOURS = 1


@dataclass(frozen=True, slots=True)
class DatedBrief:
    """The brief that stands for a date in a language."""

    brief_id: int
    on: date
    language: Language
    title: str
    """Of its first story that readers may still see; empty where there is none."""


def briefs_between(session: Session, first: date, last: date, now: datetime) -> list[DatedBrief]:
    """The brief of each date and language in ``first <= date <= last``, newest first, English before Chinese.

    A date has as many editions as there are time zones, and some of a window of their own, for readers who just came
    or who get no brief at weekends. The newest one of a day's window stands for all of them.
    """
    tongue = func.substr(Brief.languages, 1, 2)
    hours = hours_between(session, Edition.window_start_at, Edition.window_end_at)
    is_odd = func.abs(hours - USUAL_HOURS) > CLOCK_CHANGE_HOURS
    order = (is_odd, Edition.send_at.desc(), Brief.languages, Brief.id.desc())
    place = func.row_number().over(partition_by=(Edition.on, tongue), order_by=order).label("place")
    ranked = _ready(select(Brief.id, Edition.on, Brief.languages, Brief.story_ids, place), now)
    found = ranked.where(Edition.on >= first, Edition.on <= last).subquery()
    wanted = select(found).where(found.c.place == 1).order_by(found.c.on.desc(), found.c.languages)
    rows = session.execute(wanted).all()
    titles = _titles(session, {story_id for row in rows for story_id in row.story_ids})
    return [
        DatedBrief(row.id, row.on, row.languages.language, _first_title(row.story_ids, row.languages.language, titles))
        for row in rows
    ]


def _titles(session: Session, ids: Collection[int]) -> dict[int, dict[Language, str]]:
    found: dict[int, dict[Language, str]] = {}
    wanted = select(StoryTextRow.story_id, StoryTextRow.language, StoryTextRow.title).join(
        Story, Story.id == StoryTextRow.story_id
    )
    rows = session.execute(wanted.where(StoryTextRow.story_id.in_(ids), Story.hidden.is_(False)))
    for story_id, language, title in rows:
        found.setdefault(story_id, {})[language] = typeset(StoryText(title), language).title
    return found


def _first_title(ids: Sequence[int], language: Language, titles: Mapping[int, Mapping[Language, str]]) -> str:
    first = next((titles[story_id] for story_id in ids if story_id in titles), {})
    return first.get(language) or next(iter(first.values()), "")


def months(session: Session, now: datetime) -> list[date]:
    """The first day of every month that has a brief, the newest first."""
    found: list[date] = []
    # Month by month by the index on dates: there are hundreds of briefs to a date, and few months.
    newest = _ready(select(func.max(Edition.on)), now)
    latest = session.scalar(newest)
    while latest is not None:
        found.append(latest.replace(day=1))
        latest = session.scalar(newest.where(Edition.on < found[-1]))
    return found


def neighbours(session: Session, on: date, language: Language, now: datetime) -> tuple[date | None, date | None]:
    """The dates before and after ``on`` that have a brief in that language."""
    in_language = Brief.languages.in_(choices_of(language))
    before = _ready(select(func.max(Edition.on)), now).where(in_language, Edition.on < on)
    after = _ready(select(func.min(Edition.on)), now).where(in_language, Edition.on > on)
    return session.scalar(before), session.scalar(after)


def _ready(wanted: Select[Any], now: datetime) -> Select[Any]:
    joined = wanted.join_from(Brief, Edition, Brief.edition_id == Edition.id)
    return joined.where(Brief.state == BriefState.READY, Brief.topics == ALL_TOPICS, Edition.send_at <= now)
