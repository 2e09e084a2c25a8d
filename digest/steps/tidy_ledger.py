"""The ledger grows by a row per reader and day: old months go, the coming one gets its table."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy.orm import Session

from digest.steps.change_months import change_months
from digest.store.database import Sessions
from digest.store.months import drop_months, make_months
from digest.store.retention import (
    forget_announcements,
    forget_batches,
    forget_deliveries,
    forget_events,
    forget_letters,
    forget_mornings,
    forget_posts,
)
from digest.store.turns import take_tidying

AT_ONCE = 2000
"""Rows in one transaction."""
MOST_STEPS = 50
"""Transactions of one kind in one go; what is left then waits for the next."""
KEEP_POSTS = timedelta(days=14)
"""What could not be read of a post stays so long for a person to look at; it may hold addresses."""
KEEP_NEWS = timedelta(days=14)
"""Well beyond the last try of a call, about a day and a half after the first."""
EVERY = timedelta(hours=1)
AHEAD = timedelta(days=31)
Forget = Callable[[Session, int], int]


@dataclass(frozen=True, slots=True)
class Tidied:
    """What went, in rows, and which months came and went."""

    removed: dict[str, int]
    months_made: list[str]
    months_dropped: list[str]


def tidy_if_time(sessions: Sessions, keep: timedelta, now: datetime) -> Tidied | None:
    """Tidy once an hour, whoever asks first; None when it is not time.

    Deliveries older than ``keep`` go by whole months, events and letters by the day. Killed between any two steps it
    has removed less and broken nothing; the next one goes on.
    """
    with sessions.begin() as session:
        cut = take_tidying(session, (now - keep).date(), now, EVERY)
    return None if cut is None else _tidy(sessions, cut, now)


def _tidy(sessions: Sessions, cut: date, now: datetime) -> Tidied:
    first, moment = cut.replace(day=1), datetime.combine(cut, time(), UTC)
    made = change_months(sessions, lambda session: make_months(session, {now.date(), (now + AHEAD).date()}))
    dropped = change_months(sessions, lambda session: drop_months(session, first))
    rows: dict[str, Forget] = {
        "deliveries": lambda session, limit: forget_deliveries(session, first, limit),
        "batches": lambda session, limit: forget_batches(session, first, limit),
        "mornings": lambda session, limit: forget_mornings(session, first, limit),
        "events": lambda session, limit: forget_events(session, moment, limit),
        "letters": lambda session, limit: forget_letters(session, moment, limit),
        "posts": lambda session, limit: forget_posts(session, now - KEEP_POSTS, limit),
        "announcements": lambda session, limit: forget_announcements(session, now - KEEP_NEWS, limit),
    }
    return Tidied({name: _in_steps(sessions, forget) for name, forget in rows.items()}, made, dropped)


def _in_steps(sessions: Sessions, forget: Forget) -> int:
    removed = 0
    for _ in range(MOST_STEPS):
        with sessions.begin() as session:
            step = forget(session, AT_ONCE)
        removed += step
        if step < AT_ONCE:
            break
    return removed
