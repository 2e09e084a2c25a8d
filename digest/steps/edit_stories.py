"""What an editor does to stories: rewrite, place, hide, schedule, correct."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session, selectinload

from digest.domain.errors import BadInputError, PermanentError
from digest.domain.language import Language
from digest.domain.story import StoryText
from digest.store.corrections import add_correction, briefs_with, is_being_sent
from digest.store.database import Sessions
from digest.store.groups import take_out
from digest.store.stories import save_texts, text_of
from digest.store.tables import Story
from digest.store.writing import take_off

PLACED_FOR = timedelta(days=7)
"""As far back as a brief to come may reach."""
Texts = Mapping[Language, Mapping[str, Any]]
"""Language -> the fields of a text that change, by name."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What a correction reached.

    Attributes:
        correction_id: None where no brief had gone out with the story, so that nobody has to be told.
        briefs: how many had.
    """

    correction_id: int | None
    briefs: int


def edit_story(sessions: Sessions, story_id: int, texts: Texts, topics: Sequence[str] | None, now: datetime) -> None:
    """Change texts and topics; from then on neither feed nor model changes them, and a flag is gone.

    Raises:
        PermanentError: there is no such story.
        BadInputError: a new language has no title.
    """
    with sessions.begin() as session:
        _edit(session, _story(session, story_id), texts, topics, now)


def place_story(sessions: Sessions, story_id: int, *, pinned: bool | None = None, hidden: bool | None = None) -> None:
    """Pin a story before all others or hide it everywhere, or take that back; None leaves as it is.

    Raises:
        PermanentError: there is no such story.
    """
    with sessions.begin() as session:
        story = _story(session, story_id)
        story.pinned = story.pinned if pinned is None else pinned
        story.hidden = story.hidden if hidden is None else hidden


def split_story(sessions: Sessions, story_id: int) -> bool:
    """Take a story out of the group of its event, because it reports another one; False where it is in none.

    Raises:
        PermanentError: there is no such story.
    """
    with sessions.begin() as session:
        _story(session, story_id)
        return take_out(session, story_id)


def order_stories(sessions: Sessions, story_ids: Sequence[int], now: datetime) -> None:
    """Let these stories come first and in this order in the briefs to come; naming none takes every place back.

    Raises:
        PermanentError: there is no such story.
        BadInputError: one is named twice.
    """
    if twice := next((i for n, i in enumerate(story_ids) if i in story_ids[:n]), None):
        raise BadInputError("stories", twice, "is named twice.")
    with sessions.begin() as session:
        session.execute(update(Story).where(Story.enters_at >= now - PLACED_FOR).values(position=None))
        for number, story_id in enumerate(story_ids, start=1):
            _story(session, story_id).position = number


class AlreadySentError(PermanentError):
    """A brief has the story, so it can't come later."""


def schedule_story(sessions: Sessions, story_id: int, at: datetime, now: datetime) -> None:
    """Let the story enter at that instant, so that the first brief with a later cut-off holds it.

    Raises:
        PermanentError: there is no such story, or a brief has it already: nobody gets it twice.
        BadInputError: the instant has passed.
    """
    if at <= now:
        raise BadInputError("at", at.isoformat(), "has passed: name an instant to come.")
    with sessions.begin() as session:
        story = _story(session, story_id)
        if briefs_with(session, story) or is_being_sent(session, story, now):
            raise AlreadySentError(f"story {story_id} is in a brief already, and nobody gets it twice")
        story.enters_at = at


def correct_story(
    sessions: Sessions, story_id: int, texts: Texts, notes: Mapping[Language, str], now: datetime
) -> Correction:
    """Change a story's texts, and have the next brief of those who got the old ones say what was wrong.

    Args:
        notes: what was wrong and what is right, in each language in which a brief went out with it.

    Raises:
        PermanentError: there is no such story.
        BadInputError: a note is missing in a language that readers got it in.
    """
    with sessions.begin() as session:
        story = _story(session, story_id)
        wrong = briefs_with(session, story)
        said = {language: " ".join(note.split()) for language, note in notes.items() if note.strip()}
        for language in sorted({brief.language for brief in wrong} - set(said)):
            raise BadInputError("note", "", f"is missing in {language}: {len(wrong)} briefs went out with the story.")
        _edit(session, story, texts, None, now)
        if not wrong:
            return Correction(None, 0)
        return Correction(add_correction(session, story, said, wrong, now), len(wrong))


def _story(session: Session, story_id: int) -> Story:
    wanted = select(Story).where(Story.id == story_id).options(selectinload(Story.texts)).with_for_update()
    story = session.scalars(wanted).one_or_none()
    if story is None:
        raise PermanentError(f"there is no story {story_id}")
    return story


def _edit(session: Session, story: Story, texts: Texts, topics: Sequence[str] | None, now: datetime) -> None:
    stored = {row.language: text_of(row) for row in story.texts}
    changed = {language: _changed(stored.get(language), language, fields) for language, fields in texts.items()}
    save_texts(session, story.id, changed)
    if topics is not None:
        story.topics = list(dict.fromkeys(topic.strip().lower() for topic in topics if topic.strip()))
    story.edited, story.flag, story.written_at = True, "", story.written_at or now
    take_off(session, story.id)


def _changed(text: StoryText | None, language: Language, fields: Mapping[str, Any]) -> StoryText:
    if unknown := set(fields) - set(StoryText.__dataclass_fields__):
        raise BadInputError("field", min(unknown), f"is no field: use {', '.join(StoryText.__dataclass_fields__)}.")
    title = fields.get("title", text.title if text else "")
    if not title:
        raise BadInputError(f"{language}.title", "", "is missing: a text has a title.")
    values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}
    return replace(text or StoryText(title), **values)
