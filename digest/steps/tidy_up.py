"""What is done once an hour besides the mornings: forgetting who never confirmed, indexing what has no index yet."""

from datetime import datetime, timedelta

from digest.store.database import Sessions
from digest.store.search import index_missing
from digest.store.subscribers import delete_pending
from digest.store.turns import take_mark

EVERY = timedelta(hours=1)
FORGOTTEN = "pending_forgotten"
STILL_EXPLAINED = timedelta(hours=12)
"""How long after its link has expired a request can still be renewed from it."""
MOST_TEXTS = 2000


def tidy_up(sessions: Sessions, confirm_for: timedelta, now: datetime) -> int:
    """Delete pending subscribers whose link has expired, addresses and all; returns how many. Does nothing when it was
    done within the hour.

    Args:
        confirm_for: how long a confirmation link works.
    """
    with sessions.begin() as session:
        if not take_mark(session, FORGOTTEN, now, EVERY):
            return 0
        index_missing(session, MOST_TEXTS)
        return delete_pending(session, now - confirm_for - STILL_EXPLAINED)
