"""The state of the service at one moment, in a dozen cheap queries."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import redis
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from digest.domain.brief import BriefState
from digest.domain.delivery import BatchState
from digest.domain.edition import Policy
from digest.health.kept import Kept, kept_findings
from digest.health.reports import last_good_morning
from digest.store.database import Sessions
from digest.store.figures import Count, mornings_between
from digest.store.sending import is_paused
from digest.store.tables import Assignment, Batch, Brief, Call, EventPost, Letter, Source, Story, Switch, Table
from digest.store.tallies import tallies
from digest.store.turns import TICKED

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
MOST_COUNTED = 100_000
"""What waits beyond it is not counted further: it is far too much anyway."""
SECONDS = 3.0
QUEUES = ("letters", "tick", "compile", "send", "collect", "pages", "events", "calls", "tidy", "watch", "write")
"""The broker's; a test holds them against the workers' own."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is due of one kind, and for how long the oldest has been."""

    number: int
    oldest_seconds: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of the service at one moment.

    Attributes:
        last_day: the kept counts of the last 24 hours and of what is being prepared.
        counted_at: when the instants of the last hour were counted.
        queues: name of a queue -> what of its work is due.
        tallies: shared counters.
        kept: the newest examination.
    """

    last_day: Count
    counted_at: list[datetime]
    queues: dict[str, Work]
    open_batches: dict[str, int]
    sources: dict[str, int]
    tallies: dict[str, dict[str, int]]
    kept: Kept
    is_paused: bool
    ticked_at: datetime | None
    newest_story_at: datetime | None
    good_morning_at: datetime | None


def snapshot(sessions: Sessions, policy: Policy, now: datetime) -> Snapshot:
    """Read it."""
    with sessions() as session:
        mornings = mornings_between(session, now - DAY, now + policy.lead + timedelta(seconds=1))
        whole = Count()
        for morning in mornings:
            whole.add(morning.total)
        mark = session.get(Switch, TICKED)
        return Snapshot(
            last_day=whole,
            counted_at=[morning.counted_at for morning in mornings if now - HOUR <= morning.send_at <= now],
            queues=dict(_queues(session, now)),
            open_batches=_open_batches(session),
            sources=_sources(session),
            tallies=tallies(session),
            kept=kept_findings(session),
            is_paused=is_paused(session),
            ticked_at=mark.changed_at if mark else None,
            newest_story_at=_newest_story(session),
            good_morning_at=last_good_morning(session),
        )


def _queues(session: Session, now: datetime) -> Iterator[tuple[str, Work]]:
    """By the conditions under which workers are asked; each has an index over what is open."""
    ready = BatchState.READY
    yield "letters", _work(session, Letter, Letter.not_before_at, now, Letter.state == ready)
    yield "send", _work(session, Batch, Batch.not_before_at, now, Batch.state == ready)
    yield "events", _work(session, EventPost, EventPost.not_before_at, now, EventPost.closed_at.is_(None))
    yield "calls", _work(session, Call, Call.not_before_at, now, Call.closed_at.is_(None))
    yield "write", _work(session, Assignment, Assignment.due_at, now)
    feeds = (Source.feed_url.is_not(None), Source.rest.is_(None))
    yield "collect", _work(session, Source, Source.fetch_after_at, now, *feeds)
    yield "pages", _work(session, Story, Story.page_due_at, now)
    planned = session.scalar(select(func.count()).select_from(Brief).where(Brief.state == BriefState.PLANNED)) or 0
    yield "compile", Work(planned, 0.0)


def _work(
    session: Session,
    table: type[Table],
    due_at: InstrumentedAttribute[datetime] | InstrumentedAttribute[datetime | None],
    now: datetime,
    *conditions: ColumnElement[bool],
) -> Work:
    due = select(due_at.label("due_at")).select_from(table).where(due_at <= now, *conditions).limit(MOST_COUNTED)
    rows = due.subquery()
    number, oldest = session.execute(select(func.count(), func.min(rows.c.due_at, type_=due_at.type))).one()
    return Work(number, (now - oldest).total_seconds() if oldest else 0.0)


def _open_batches(session: Session) -> dict[str, int]:
    states = [BatchState.PLANNED, BatchState.READY, BatchState.SENDING, BatchState.UNKNOWN]
    counting = select(Batch.state, func.count()).where(Batch.state.in_(states)).group_by(Batch.state)
    return dict.fromkeys(map(str, states), 0) | {str(state): number for state, number in session.execute(counting)}


def _sources(session: Session) -> dict[str, int]:
    feeds = session.execute(select(Source.rest, Source.error).where(Source.feed_url.is_not(None))).all()
    resting = sum(rest is not None for rest, _ in feeds)
    failing = sum(rest is None and bool(error) for rest, error in feeds)
    return {"well": len(feeds) - resting - failing, "failing": failing, "resting": resting}


def _newest_story(session: Session) -> datetime | None:
    """By id, which every database finds at once."""
    return session.scalar(select(Story.seen_at).order_by(Story.id.desc()).limit(1))


def broker_depths(url: str) -> dict[str, int]:
    """Messages that wait in the broker, by queue; nothing where it can't be asked."""
    if url.startswith("memory:"):
        return {}
    try:
        with redis.Redis.from_url(url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS) as client:
            pipe = client.pipeline(transaction=False)
            for queue in QUEUES:
                pipe.llen(queue)
            return dict(zip(QUEUES, map(int, pipe.execute()), strict=True))
    except redis.RedisError:
        return {}
