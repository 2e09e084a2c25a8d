"""Stories -> their texts, by whoever is the editor. The editor may be on the network, so no transaction is open."""

from datetime import datetime

from sqlalchemy import update

from digest.domain.errors import DigestError
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
        save_texts(session, story_id, texts)
        session.execute(update(Story).where(Story.id == story_id).values(written_at=now))
    return True
