"""Stories -> their full texts, from the pages of sources that are read so. A page that fails never loses the story."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import select, update

from digest.domain.errors import PermanentError, TryAgainError
from digest.steps.collect_stories import Desk
from digest.steps.write_texts import write_texts
from digest.store.database import Sessions
from digest.store.sources import claim_host, host_of
from digest.store.tables import Story

WAITING = timedelta(minutes=5)
"""How long a page may wait to be read before it is asked for again."""
AGAIN_AFTER = timedelta(minutes=30)
GIVEN_UP_AFTER = timedelta(hours=6)
"""A page that could not be read for so long is let be; the story keeps what its feed said."""


def take_pages(sessions: Sessions, now: datetime, limit: int) -> Sequence[int]:
    """The ids of the stories whose pages to read now, one per host; they are not given again for :data:`WAITING`."""
    by_host: dict[str, int] = {}
    with sessions.begin() as session:
        due = select(Story.id, Story.url).where(Story.page_due_at <= now).order_by(Story.page_due_at, Story.id)
        for story_id, url in session.execute(due.limit(limit)):
            by_host.setdefault(host_of(url), story_id)
        ids = list(by_host.values())
        session.execute(update(Story).where(Story.id.in_(ids)).values(page_due_at=now + WAITING))
    return ids


def read_page(sessions: Sessions, desk: Desk, story_id: int, now: datetime) -> str:
    """Read one story's page; returns what came of it: ``read``, ``nothing``, ``refused``, ``later`` or ``busy``."""
    with sessions.begin() as session:
        story = session.get(Story, story_id)
        if story is None or story.page_due_at is None:
            return "nothing"
        busy_until = claim_host(session, host_of(story.url), now, desk.spacing)
        if busy_until is not None:
            story.page_due_at = busy_until
            return "busy"
    try:
        text = desk.pages.read(story.url)
    except PermanentError:
        return _keep(sessions, story, None, "refused")
    except TryAgainError:
        again = now + AGAIN_AFTER if now - story.seen_at < GIVEN_UP_AFTER else None
        return _keep(sessions, story, again, "later")
    if len(text) <= len(story.body):
        return _keep(sessions, story, None, "nothing")
    _keep(sessions, story, None, "read", text)
    write_texts(sessions, desk.editor, now)
    return "read"


def _keep(sessions: Sessions, story: Story, due_at: datetime | None, outcome: str, text: str = "") -> str:
    """A story whose feed changed it meanwhile, or that an editor took over, keeps that."""
    values = {"page_due_at": due_at} | ({"body": text, "written_at": None} if text else {})
    unchanged = (Story.id == story.id) & (Story.feed_hash == story.feed_hash) & Story.edited.is_(False)
    with sessions.begin() as session:
        session.execute(update(Story).where(unchanged).values(values))
    return outcome
