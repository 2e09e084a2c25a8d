"""Stories and their texts."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session, joinedload, selectinload

from digest.domain.brief import Candidate, Placing
from digest.domain.language import Language
from digest.domain.ranking import signal
from digest.domain.story import Story as CollectedStory
from digest.domain.story import StoryText
from digest.store.groups import NOBODY, Group, count_sources, groups_of, leads_or_translates
from digest.store.search import index_texts
from digest.store.tables import Story, StoryTextRow


def unwritten(session: Session, limit: int) -> Sequence[int]:
    """The ids of stories whose texts the editor has not gone over."""
    return session.scalars(select(Story.id).where(Story.written_at.is_(None)).order_by(Story.id).limit(limit)).all()


def as_collected(session: Session, story_id: int) -> CollectedStory | None:
    """A stored story as an editor takes it."""
    wanted = select(Story).where(Story.id == story_id).options(selectinload(Story.texts), joinedload(Story.source))
    row = session.scalars(wanted).one_or_none()
    if row is None:
        return None
    return CollectedStory(
        url=row.url,
        source=row.source.name,
        language=row.language,
        published_at=row.published_at,
        texts={text.language: text_of(text) for text in row.texts},
        topics=tuple(row.topics),
        identifier=row.identifier,
        source_url=row.source.home_url,
        body=row.body,
        slug=row.slug,
    )


def save_texts(session: Session, story_id: int, texts: Mapping[Language, StoryText]) -> None:
    """Store the texts of a story; a language that has one gets the new one."""
    for language, words in texts.items():
        row = session.get(StoryTextRow, (story_id, language)) or StoryTextRow(story_id=story_id, language=language)
        for name, value in text_columns(words).items():
            setattr(row, name, value)
        session.add(row)
    index_texts(session, story_id, texts)


def text_columns(words: StoryText) -> dict[str, Any]:
    """The columns of a text row."""
    return {
        name: list(value) if isinstance(value := getattr(words, name), tuple) else value
        for name in StoryText.__dataclass_fields__
    }


def text_of(row: StoryTextRow) -> StoryText:
    """The value of a text row."""
    return StoryText(
        title=row.title,
        quick_answer=row.quick_answer,
        quick_take=row.quick_take,
        key_points=tuple(row.key_points),
        what_happened=row.what_happened,
        key_evidence=tuple(row.key_evidence),
        why_it_matters=row.why_it_matters,
        what_to_watch=row.what_to_watch,
        source_excerpt=row.source_excerpt,
    )


def candidates(session: Session, start: datetime, end: datetime) -> list[Candidate]:
    """The stories that entered in ``start <= enters_at < end``, scored as of ``end``; one for each event."""
    return _candidates(session, end, Story.enters_at >= start, Story.enters_at < end, leads_or_translates(start))


def newest(session: Session, now: datetime, within: timedelta, limit: int) -> list[Candidate]:
    """The newest stories up to ``now``, for a welcome and the front page; one for each event."""
    reach = now - within
    found = _candidates(session, now, Story.enters_at <= now, Story.enters_at > reach, leads_or_translates(reach))
    return sorted(found, key=lambda story: story.enters_at, reverse=True)[:limit]


def _candidates(
    session: Session, as_of: datetime, *where: ColumnElement[bool], hidden_too: bool = False
) -> list[Candidate]:
    wanted = select(Story).where(*where, *([] if hidden_too else [Story.hidden.is_(False)]))
    wanted = wanted.options(selectinload(Story.texts), joinedload(Story.source))
    stories = [story for story in session.scalars(wanted) if story.texts]
    groups = groups_of(session, stories, as_of)
    return [_candidate(story, groups.get(story.id, NOBODY), as_of) for story in stories]


def _candidate(story: Story, group: Group, as_of: datetime) -> Candidate:
    texts = {row.language: text_of(row) for row in story.texts}
    own = texts.get(story.language) or next(iter(texts.values()))
    texts |= {language: text_of(row) for language, (row, _) in group.lent.items()}
    return Candidate(
        id=story.id,
        slug=story.slug,
        url=story.url,
        source=story.source.name,
        language=story.language,
        enters_at=story.enters_at,
        published_at=story.published_at,
        texts=texts,
        topics=tuple(story.topics),
        signal=signal(
            own,
            source_weight=story.source.weight,
            also_reported_by=count_sources(story.source.name, group.reports),
            enters_at=story.enters_at,
            now=as_of,
            topics=story.topics,
        ),
        placing=Placing(story.pinned, story.position),
        is_quoted=not story.edited and not story.written_by,
        reports=group.reports,
        told_by={language: report for language, (_, report) in group.lent.items()},
        translates=story.lead_id is not None,
    )


def story_with_slug(session: Session, slug: str, as_of: datetime) -> Candidate | None:
    """One story by its slug."""
    return next(iter(_candidates(session, as_of, Story.slug == slug)), None)


def story_with_id(session: Session, story_id: int, as_of: datetime) -> Candidate | None:
    """One story by its id, hidden or not."""
    return next(iter(_candidates(session, as_of, Story.id == story_id, hidden_too=True)), None)


def stories_with_ids(
    session: Session, ids: Sequence[int], as_of: datetime, *, hidden_too: bool = False
) -> list[Candidate]:
    """These stories, in the order of ``ids``; those deleted or hidden meanwhile are left out."""
    found = {story.id: story for story in _candidates(session, as_of, Story.id.in_(ids), hidden_too=hidden_too)}
    return [found[i] for i in ids if i in found]


def more_from(session: Session, story: Candidate, as_of: datetime, limit: int) -> list[Candidate]:
    """Other recent stories of the same source, newest first."""
    source = select(Story.source_id).where(Story.id == story.id).scalar_subquery()
    ids = session.scalars(
        select(Story.id)
        .where(Story.source_id == source, Story.id != story.id, Story.lead_id.is_(None))
        .order_by(Story.enters_at.desc())
        .limit(limit)
    ).all()
    return stories_with_ids(session, ids, as_of)


def listed(session: Session, as_of: datetime, limit: int, *, entered: bool = False) -> list[Candidate]:
    """Stories newest first, one for each event, scored as of that instant.

    Args:
        entered: only those that readers may see: their date has come, and no editor hid them.
    """
    leading = select(Story.id).where(Story.lead_id.is_(None))
    wanted = leading.order_by(Story.enters_at.desc(), Story.id.desc()).limit(limit)
    if entered:
        wanted = wanted.where(Story.enters_at <= as_of, Story.hidden.is_(False))
    return stories_with_ids(session, session.scalars(wanted).all(), as_of, hidden_too=not entered)


def is_empty(session: Session) -> bool:
    """Whether there is no story at all."""
    return session.scalar(select(Story.id).limit(1)) is None
