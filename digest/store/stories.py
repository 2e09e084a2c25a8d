"""Sources, stories and their texts."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session, joinedload, selectinload

from digest.domain.brief import Candidate
from digest.domain.canonical import canonical_url, slug_for
from digest.domain.language import Language
from digest.domain.ranking import signal
from digest.domain.story import Story as CollectedStory
from digest.domain.story import StoryText, enters_at
from digest.store.dialects import insert_new
from digest.store.tables import Source, Story, StoryTextRow

NO_REST_IS_LONGER = timedelta(days=2)
"""Well above the longest rest of a source, be it usual or after failures."""


def source_named(session: Session, name: str, now: datetime, *, home_url: str = "") -> Source:
    """The source with this name, made if there is none."""
    values = {"name": name, "home_url": home_url, "topics": [], "created_at": now}
    session.execute(insert_new(session, Source).values(values))
    return session.scalars(select(Source).where(Source.name == name)).one()


def all_sources(session: Session) -> Sequence[Source]:
    """Every source by name."""
    return session.scalars(select(Source).order_by(Source.name)).all()


def source_at(session: Session, feed_url: str) -> Source | None:
    """The source with this feed address."""
    return session.scalars(select(Source).where(Source.feed_url == feed_url)).one_or_none()


def due_sources(session: Session, now: datetime) -> Sequence[int]:
    """The ids of the feeds that may be fetched now."""
    # A rest beyond the longest there is was set under a clock that was wrong.
    wrong = Source.fetch_after_at > now + NO_REST_IS_LONGER
    rested = or_(Source.fetch_after_at.is_(None), Source.fetch_after_at <= now, wrong)
    return session.scalars(select(Source.id).where(Source.feed_url.is_not(None), rested).order_by(Source.id)).all()


def save_story(
    session: Session, source: Source, story: CollectedStory, now: datetime, *, enters: datetime | None = None
) -> bool:
    """Store a collected story, or bring the stored one up to date; returns whether it is new.

    It is the same story when its canonical address or the source's own id is known: titles, ids and hosts change, and a
    reader must not get it twice for that. The instant it entered never changes.

    Args:
        enters: when it counts as new, where that is not for its dates to say.
    """
    canonical = canonical_url(story.url)
    found = _same_story(session, source, story, canonical)
    if found is None:
        found = _new_story(session, source, story, canonical, now)
        found.enters_at = enters or found.enters_at
        session.add(found)
        session.flush()
        save_texts(session, found.id, story.texts)
        return True
    if not found.edited and _has_changed(session, found, story):
        found.url, found.body, found.written_at = story.url, story.body, None
        save_texts(session, found.id, story.texts)
    return False


def _new_story(session: Session, source: Source, story: CollectedStory, canonical: str, now: datetime) -> Story:
    return Story(
        source_id=source.id,
        slug=_free_slug(session, story.slug or slug_for(_title(story), canonical)),
        url=story.url,
        canonical_url=canonical,
        identifier=story.identifier or canonical,
        language=story.language,
        topics=list(story.topics),
        published_at=story.published_at,
        seen_at=now,
        enters_at=enters_at(story.published_at, now),
        body=story.body,
    )


def _has_changed(session: Session, found: Story, story: CollectedStory) -> bool:
    titles = select(StoryTextRow.language, StoryTextRow.title).where(StoryTextRow.story_id == found.id)
    stored = {language: title for language, title in session.execute(titles)}  # noqa: C416 - rows are not pairs to mypy
    return found.body != story.body or any(stored.get(of) != text.title for of, text in story.texts.items())


def save_edited_story(
    session: Session, source: Source, story: CollectedStory, now: datetime, *, enters: datetime | None = None
) -> bool:
    """Store a story from a person's file, whose texts count more than a feed's; returns whether it is new."""
    is_new = save_story(session, source, story, now, enters=enters)
    found = _same_story(session, source, story, canonical_url(story.url))
    if found is None:
        raise LookupError("a story just saved is gone")
    found.edited, found.written_at = True, None
    found.topics = list(story.topics) or found.topics
    save_texts(session, found.id, story.texts)
    return is_new


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


def _title(story: CollectedStory) -> str:
    words = story.texts.get(Language.ENGLISH) or next(iter(story.texts.values()))
    return words.title


def _same_story(session: Session, source: Source, story: CollectedStory, canonical: str) -> Story | None:
    by_id = (Story.source_id == source.id) & (Story.identifier == (story.identifier or canonical))
    wanted = select(Story).where(or_(Story.canonical_url == canonical, by_id)).order_by(Story.id)
    return session.scalars(wanted.limit(1)).one_or_none()


def _free_slug(session: Session, slug: str) -> str:
    taken = set(session.scalars(select(Story.slug).where(Story.slug.startswith(slug, autoescape=True))))
    number, free = 2, slug
    while free in taken:
        number, free = number + 1, f"{slug}-{number}"
    return free


def save_texts(session: Session, story_id: int, texts: Mapping[Language, StoryText]) -> None:
    """Store the texts of a story; a language that has one gets the new one."""
    for language, words in texts.items():
        row = session.get(StoryTextRow, (story_id, language)) or StoryTextRow(story_id=story_id, language=language)
        for name, value in _columns(words).items():
            setattr(row, name, value)
        session.add(row)


def _columns(words: StoryText) -> dict[str, Any]:
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
    """The stories that entered in ``start <= enters_at < end``, scored as of ``end``."""
    return _candidates(session, end, Story.enters_at >= start, Story.enters_at < end)


def newest(session: Session, now: datetime, within: timedelta, limit: int) -> list[Candidate]:
    """The newest stories up to ``now``, for a welcome and the front page."""
    found = _candidates(session, now, Story.enters_at <= now, Story.enters_at > now - within)
    return sorted(found, key=lambda story: story.enters_at, reverse=True)[:limit]


def _candidates(session: Session, as_of: datetime, *where: ColumnElement[bool]) -> list[Candidate]:
    wanted = select(Story).where(*where).options(selectinload(Story.texts), joinedload(Story.source))
    return [_candidate(story, as_of) for story in session.scalars(wanted) if story.texts]


def _candidate(story: Story, as_of: datetime) -> Candidate:
    texts = {row.language: text_of(row) for row in story.texts}
    own = texts.get(story.language) or next(iter(texts.values()))
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
        signal=signal(own, source_weight=story.source.weight, also_reported_by=0, enters_at=story.enters_at, now=as_of),
    )


def story_with_slug(session: Session, slug: str, as_of: datetime) -> Candidate | None:
    """One story by its slug."""
    return next(iter(_candidates(session, as_of, Story.slug == slug)), None)


def story_with_id(session: Session, story_id: int, as_of: datetime) -> Candidate | None:
    """One story by its id."""
    return next(iter(_candidates(session, as_of, Story.id == story_id)), None)


def stories_with_ids(session: Session, ids: Sequence[int], as_of: datetime) -> list[Candidate]:
    """These stories, in the order of ``ids``; those deleted meanwhile are left out."""
    found = {story.id: story for story in _candidates(session, as_of, Story.id.in_(ids))}
    return [found[i] for i in ids if i in found]


def more_from(session: Session, story: Candidate, as_of: datetime, limit: int) -> list[Candidate]:
    """Other recent stories of the same source, newest first."""
    source = select(Story.source_id).where(Story.id == story.id).scalar_subquery()
    ids = session.scalars(
        select(Story.id)
        .where(Story.source_id == source, Story.id != story.id)
        .order_by(Story.enters_at.desc())
        .limit(limit)
    ).all()
    return stories_with_ids(session, ids, as_of)


def listed(session: Session, as_of: datetime, limit: int, *, entered: bool = False) -> list[Candidate]:
    """Stories newest first, scored as of that instant; ``entered`` leaves out those whose date is yet to come."""
    wanted = select(Story.id).order_by(Story.enters_at.desc(), Story.id.desc()).limit(limit)
    if entered:
        wanted = wanted.where(Story.enters_at <= as_of)
    return stories_with_ids(session, session.scalars(wanted).all(), as_of)


def is_empty(session: Session) -> bool:
    """Whether there is no story at all."""
    return session.scalar(select(Story.id).limit(1)) is None
