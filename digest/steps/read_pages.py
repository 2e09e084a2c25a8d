"""Stories -> their full texts, from the pages of sources that are read so. A page that fails never loses the story."""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from threading import Lock

from sqlalchemy import func, select, update

from digest.domain.errors import PermanentError, TryAgainError
from digest.steps.collect_all import Shift
from digest.steps.collect_stories import Desk
from digest.steps.write_texts import write_texts
from digest.store.database import Sessions
from digest.store.sources import claim_host, host_of
from digest.store.tables import Story

WAITING = timedelta(minutes=5)
"""How long a page may wait to be read before it is asked for again."""
ROWS_AT_ONCE = 1000
AGAIN_AFTER = timedelta(minutes=30)
GIVEN_UP_AFTER = timedelta(hours=6)
"""A page that could not be read for so long is let be; the story keeps what its feed said."""


def take_pages(sessions: Sessions, now: datetime, limit: int) -> Sequence[int]:
    """The ids of the stories whose pages to read now, one per host; they are not given again for :data:`WAITING`.

    What is still due after :data:`GIVEN_UP_AFTER` is let be, for it may be a page that ends whoever reads it.
    """
    by_host: dict[str, int] = {}
    with sessions.begin() as session:
        given_up = (Story.page_due_at <= now) & (Story.seen_at < now - GIVEN_UP_AFTER)
        session.execute(update(Story).where(given_up).values(page_due_at=None))
        due = select(Story.id, Story.url).where(Story.page_due_at <= now).order_by(Story.page_due_at, Story.id)
        # All that are due, page by page: one host with many of them keeps no other waiting.
        with session.execute(due, execution_options={"yield_per": ROWS_AT_ONCE}) as rows:
            for story_id, url in rows:
                by_host.setdefault(host_of(url), story_id)
                if len(by_host) == limit:
                    break
        ids = list(by_host.values())
        session.execute(update(Story).where(Story.id.in_(ids)).values(page_due_at=now + WAITING))
    return ids


def read_page(sessions: Sessions, desk: Desk, story_id: int, now: datetime) -> str:
    """Read one story's page; returns what came of it: ``read``, ``nothing``, ``refused``, ``later`` or ``busy``."""
    with desk.alone, sessions.begin() as session:
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
        return _keep(sessions, desk, story, None, "refused")
    except TryAgainError:
        again = now + AGAIN_AFTER if now - story.seen_at < GIVEN_UP_AFTER else None
        return _keep(sessions, desk, story, again, "later")
    if len(text) <= len(story.body):
        return _keep(sessions, desk, story, None, "nothing")
    _keep(sessions, desk, story, None, "read", text)
    with desk.alone:
        write_texts(sessions, desk.editor, now)
    return "read"


def read_all_pages(sessions: Sessions, desk: Desk, shift: Shift) -> Counter[str]:
    """Read the pages that are due or whose hosts will be free in a moment; returns what came of how many.

    Other hosts' pages are read side by side. What is not reached within the shift stays due.
    """
    came: Counter[str] = Counter()
    end = shift.clock() + shift.within
    desk = replace(desk, alone=Lock())
    with ThreadPoolExecutor(shift.threads, "pages") as pool:
        while (now := shift.clock()) < end:
            if ids := take_pages(sessions, now, shift.threads):
                came.update(pool.map(partial(_read_now, sessions, desk, shift), ids))
            elif (rest := _rest(sessions, desk, now)) is not None:
                shift.pause(rest.total_seconds())
            else:
                break
    del came["busy"]
    return came


def _read_now(sessions: Sessions, desk: Desk, shift: Shift, story_id: int) -> str:
    return read_page(sessions, desk, story_id, shift.clock())


def _rest(sessions: Sessions, desk: Desk, now: datetime) -> timedelta | None:
    """How long until a page is due whose host is merely spared; None where there is none."""
    with sessions() as session:
        due_at = session.scalar(select(func.min(Story.page_due_at)))
    return due_at - now if due_at is not None and due_at <= now + desk.spacing else None


def _keep(sessions: Sessions, desk: Desk, story: Story, due_at: datetime | None, outcome: str, text: str = "") -> str:
    """A story whose feed changed it meanwhile, or that an editor took over, keeps that."""
    values = {"page_due_at": due_at} | ({"body": text, "written_at": None} if text else {})
    unchanged = (Story.id == story.id) & (Story.feed_hash == story.feed_hash) & Story.edited.is_(False)
    with desk.alone, sessions.begin() as session:
        session.execute(update(Story).where(unchanged).values(values))
    return outcome
