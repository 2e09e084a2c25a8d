"""Collected stories -> rows, each once."""

from datetime import datetime

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from digest.domain.canonical import canonical_url, slug_for
from digest.domain.language import Language
from digest.domain.story import Story as CollectedStory
from digest.domain.story import enters_at
from digest.store.stories import save_texts
from digest.store.tables import Source, Story, StoryTextRow


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
