"""Months of the ledger made and dropped without holding up or breaking anybody at work."""

from collections.abc import Callable

from psycopg.errors import LockNotAvailable
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from digest.store.database import Sessions
from digest.store.months import wait_briefly

TRIES = 20


def change_months(sessions: Sessions, change: Callable[[Session], list[str]]) -> list[str]:
    """Make or drop months in a transaction of its own; returns their tables, none where it can't be done now.

    Both lock the deliveries and what they refer to, and a turn at work may hold the one and wait for the other. So this
    lets go of everything after a moment, before the database has to end either of them, and tries a few times. Rows
    whose month could not be made go where all other months go.
    """
    for _ in range(TRIES):
        try:
            with sessions.begin() as session:
                wait_briefly(session)
                return change(session)
        except OperationalError as error:
            if not isinstance(error.orig, LockNotAvailable):
                raise
    return []
