"""Stories -> their texts, by whoever is the editor. The editor may be on the network, so no transaction is open."""

from collections.abc import Mapping
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


def _topics(row: Story, story: CollectedStory, texts: Mapping[Language, StoryText]) -> list[str]:
    """What a person chose, or else what the source is about and what the words tell."""
    if row.edited and row.topics:
        return list(row.topics)
    words = texts[row.language] if row.language in texts else next(iter(texts.values()))
    return list(topics_in(words.title, story.body or words.quick_answer, row.source.topics))
