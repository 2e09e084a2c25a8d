"""Small pieces of work that wait in a table of their own until a worker closes them: posts of events, calls."""

from datetime import datetime, timedelta
from typing import TypeVar

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from digest.store.tables import Call, EventPost

Work = TypeVar("Work", EventPost, Call)
LONGEST_DETAIL = 400


def take_open(session: Session, table: type[Work], now: datetime, again_after: timedelta, limit: int) -> list[int]:
    """The pieces that wait and that no worker was asked to do lately, oldest first; marks them as asked for."""
    rested = or_(table.nudged_at.is_(None), table.nudged_at <= now - again_after, table.nudged_at > now)
    wanted = select(table.id).where(table.closed_at.is_(None), table.not_before_at <= now, rested)
    ids = session.scalars(wanted.order_by(table.id).limit(limit).with_for_update(skip_locked=True)).all()
    session.execute(update(table).where(table.id.in_(ids)).values(nudged_at=now))
    return list(ids)


def claim_open(session: Session, table: type[Work], work_id: int, now: datetime, hold: timedelta) -> Work | None:
    """Take one piece; None when it is closed, not due, or another worker's, who has ``hold`` to close it."""
    return session.scalars(
        update(table)
        .where(table.id == work_id, table.closed_at.is_(None), table.not_before_at <= now)
        .values(attempts=table.attempts + 1, not_before_at=now + hold)
        .returning(table)
    ).one_or_none()


def put_back(session: Session, work: Work, not_before_at: datetime, detail: str) -> None:
    """It did not work this time."""
    changes = {"not_before_at": not_before_at, "nudged_at": None, "detail": detail[:LONGEST_DETAIL]}
    session.execute(update(type(work)).where(type(work).id == work.id).values(changes))


def close_open(session: Session, work: Work, now: datetime, detail: str = "") -> None:
    """It is done, or given up for what ``detail`` says."""
    changes = {"closed_at": now, "detail": detail[:LONGEST_DETAIL]}
    session.execute(update(type(work)).where(type(work).id == work.id).values(changes))
