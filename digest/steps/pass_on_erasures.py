"""A reader's erasure, passed on to the provider that carried their mail."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from digest.domain.errors import PermanentError, TryAgainError
from digest.ports import Account
from digest.store.database import Sessions
from digest.store.erasures import close_erasures, due_erasures, put_off_erasures

FIRST_WAIT = timedelta(minutes=10)
LONGEST_WAIT = timedelta(hours=6)
MOST_CHARACTERS = 120_000
"""Of the addresses in one wish: well below any provider's limit in bytes."""


@dataclass(frozen=True, slots=True)
class PassedOn:
    """What came of it: addresses the provider took on, those it takes for none, those that wait, and why."""

    taken: int = 0
    refused: int = 0
    waiting: int = 0
    fault: str = ""


def pass_on_erasures(sessions: Sessions, account: Account, now: datetime) -> PassedOn:
    """Ask the provider to erase what it holds; the address is forgotten here once the provider has taken the wish.

    A wish may be given twice when the answer is lost, which does no harm.
    """
    taken = refused = 0
    while True:
        with sessions() as session:
            due = due_erasures(session, account.name, now, account.most_erased, MOST_CHARACTERS)
        if not due:
            return PassedOn(taken, refused)
        ids = [one.id for one in due]
        try:
            erasing = account.erase([one.email for one in due], now)
        except (TryAgainError, PermanentError) as error:
            wait = min(FIRST_WAIT * 2 ** min(due[0].attempts, 10), LONGEST_WAIT)
            asked = timedelta(seconds=(error.after_seconds if isinstance(error, TryAgainError) else None) or 0)
            with sessions.begin() as session:
                put_off_erasures(session, ids, now + max(wait, asked), str(error))
            return PassedOn(taken, refused, len(due), str(error))
        with sessions.begin() as session:
            close_erasures(session, ids)
        taken, refused = taken + len(due) - len(erasing.refused), refused + len(erasing.refused)
