"""Lists of stories that readers may see, newest first and page by page."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import ColumnElement, and_, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from digest.domain.language import Language
from digest.domain.topics import is_under, topic_tree
from digest.store.dialects import holds_any
from digest.store.tables import Correction, Source, Story, StoryTextRow


def visible(now: datetime) -> ColumnElement[bool]:
    """Stories that readers may see: their date has come, no editor hid them, and no other one leads their event."""
    return and_(Story.enters_at <= now, Story.hidden.is_(False), Story.lead_id.is_(None))


def has_text(language: Language) -> ColumnElement[bool]:
    """Stories with a text in a language, their own or one that another report of their event lends."""
    member = aliased(Story)
    own = exists().where(StoryTextRow.story_id == Story.id, StoryTextRow.language == language)
    joined = select(member.id).join(StoryTextRow, StoryTextRow.story_id == member.id)
    lent = joined.where(member.lead_id == Story.id, member.hidden.is_(False), StoryTextRow.language == language)
    return or_(own, lent.exists())


def under_topic(session: Session, topic: str) -> ColumnElement[bool]:
    """Stories of a topic or of one below it."""
    return holds_any(session, Story.topics, [each.name for each in topic_tree() if is_under(each.name, topic)])


def ids_of(session: Session, now: datetime, *where: ColumnElement[bool], limit: int, offset: int = 0) -> Sequence[int]:
    """The ids of the stories that readers may see and that these conditions hold for, the newest first."""
    wanted = select(Story.id).where(visible(now), *where).order_by(Story.enters_at.desc(), Story.id.desc())
    return session.scalars(wanted.limit(limit).offset(offset)).all()


def source_with_id(session: Session, source_id: int) -> Source | None:
    """The source with that id."""
    return session.get(Source, source_id)


def source_of(session: Session, story_id: int) -> int:
    """The id of a story's source."""
    return session.scalars(select(Story.source_id).where(Story.id == story_id)).one()


def corrected_at(session: Session, ids: Collection[int]) -> dict[int, datetime]:
    """When each of these stories was last corrected; those that never were are left out."""
    wanted = select(Correction.story_id, func.max(Correction.created_at)).where(Correction.story_id.in_(ids))
    return dict(session.execute(wanted.group_by(Correction.story_id)).all())


@dataclass(frozen=True, slots=True)
class Place:
    """Where a story is read, for a list of addresses."""

    id: int
    slug: str
    entered_at: datetime
    languages: Sequence[Language]


def count_visible(session: Session, now: datetime) -> int:
    """How many stories readers may see."""
    return session.scalars(select(func.count()).select_from(Story).where(visible(now))).one()


def first_entry(session: Session, now: datetime) -> datetime | None:
    """When the oldest story that readers may see entered."""
    return session.scalar(select(func.min(Story.enters_at)).where(visible(now)))


def places(session: Session, start: datetime, end: datetime, now: datetime, limit: int) -> list[Place]:
    """The stories that entered in ``start <= enters_at < end``, the newest first, each with its languages."""
    member = aliased(Story)
    wanted = (
        select(Story.id, Story.slug, Story.enters_at, StoryTextRow.language)
        .join(member, func.coalesce(member.lead_id, member.id) == Story.id)
        .join(StoryTextRow, StoryTextRow.story_id == member.id)
        .where(visible(now), member.hidden.is_(False), Story.enters_at >= start, Story.enters_at < end)
        .distinct()
        .order_by(Story.enters_at.desc(), Story.id.desc(), StoryTextRow.language)
    )
    by_story = groupby(session.execute(wanted.limit(limit * len(Language))), key=lambda row: row[:3])
    found = [Place(id_, slug, at, [language for *_, language in rows]) for (id_, slug, at), rows in by_story]
    return found[:limit]
