"""Stories -> their texts, by whoever is the editor. The editor may be on the network, so no transaction is open."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy.orm import joinedload

from digest.domain.errors import DigestError
from digest.domain.language import Language
from digest.domain.story import Story as CollectedStory
from digest.domain.story import StoryText
from digest.domain.topics import topics_in
from digest.ports import Editor
from digest.store.database import Sessions
from digest.store.stories import as_collected, save_texts, unwritten
from digest.store.tables import Story

AT_ONCE = 500


def write_texts(sessions: Sessions, editor: Editor, now: datetime, limit: int = AT_ONCE) -> int:
    """Have the editor go over stories that are waiting for it; returns how many it did.

    A story that the editor fails on keeps the source's own words and waits for the next time; the others go on.
    """
    with sessions() as session:
        ids = unwritten(session, limit)
    return sum(_write(sessions, editor, story_id, now) for story_id in ids)


def _write(sessions: Sessions, editor: Editor, story_id: int, now: datetime) -> bool:
    with sessions() as session:
        story = as_collected(session, story_id)
    if story is None:
        return False
    try:
        texts = editor.write(story)
    except DigestError:
        return False
    with sessions.begin() as session:
        row = session.get(Story, story_id, options=[joinedload(Story.source)])
        if row is None:
            return False
        save_texts(session, story_id, texts)
        row.written_at, row.topics = now, _topics(row, story, texts)
        row.written_by, row.flag = "", ""
    return True


def edited(editor: Editor, stories: Sequence[CollectedStory], about: Sequence[str]) -> dict[str, CollectedStory]:
    """Stories that are not stored yet, as the editor leaves them, by their id; without those that must wait.

    Args:
        about: what their source is about.
    """
    found = ((story.identifier, _edited(editor, story, about)) for story in stories)
    return {identifier: story for identifier, story in found if story is not None}


def _edited(editor: Editor, story: CollectedStory, about: Sequence[str]) -> CollectedStory | None:
    try:
        texts = editor.write(story)
    except DigestError:
        return None
    return replace(story, texts=dict(texts), topics=_told(story, texts, about))


def _topics(row: Story, story: CollectedStory, texts: Mapping[Language, StoryText]) -> list[str]:
    """What a person chose, or else what the source is about and what the words tell."""
    return list(row.topics if row.edited and row.topics else _told(story, texts, row.source.topics))


def _told(story: CollectedStory, texts: Mapping[Language, StoryText], about: Sequence[str]) -> tuple[str, ...]:
    words = texts[story.language] if story.language in texts else next(iter(texts.values()))
    return topics_in(words.title, story.body or words.quick_answer, about)
