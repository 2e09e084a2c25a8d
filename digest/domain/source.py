"""A source's health: how long it rests after a fetch, when it counts as dead, and when it has moved for good."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

LONGEST_REST = timedelta(days=1)
"""Between two tries of a source that fails."""
DEAD_AFTER = timedelta(days=14)
DEAD_AFTER_FAILURES = 10
"""A source counts as dead when it failed this often and for this long; both, because a machine that sleeps fetches
rarely and one that is offline for an hour fails often."""
_DOUBLINGS = 10


class RestReason(StrEnum):
    """Why a source is no longer fetched by itself; the operator's ``digest sources fetch NAME`` wakes it."""

    GONE = "gone"
    """Its server said 410: it is gone for good (RFC 9110 §15.5.11)."""
    FAILING = "failing"
    """It failed for weeks."""


@dataclass(frozen=True, slots=True)
class Health:
    """How a source has been doing.

    Attributes:
        failures: in a row.
        failing_since_at: the first of them; None when the last fetch was fine.
        fetch_after_at: when it may be fetched next.
        rest: why it rests for good, if it does.
    """

    failures: int = 0
    failing_since_at: datetime | None = None
    fetch_after_at: datetime | None = None
    rest: RestReason | None = None


def after_success(now: datetime, every: timedelta) -> Health:
    """The health of a source that was just read."""
    return Health(fetch_after_at=now + every)


def after_failure(
    before: Health, now: datetime, every: timedelta, *, gone: bool = False, asked: float | None = None
) -> Health:
    """The health of a source that just failed: it rests twice as long each time, a day at most.

    Args:
        before: its health until now.
        every: the usual time between two fetches.
        gone: the server said that it will not come back.
        asked: seconds the server asked to wait, which count where they are more, up to :data:`LONGEST_REST`.
    """
    failures, since = before.failures + 1, before.failing_since_at or now
    wait = min(every * (1 << min(failures, _DOUBLINGS)), LONGEST_REST)
    wait = min(max(wait, timedelta(seconds=asked or 0)), max(LONGEST_REST, every))
    after = Health(failures, since, now + wait, before.rest)
    if gone:
        return replace(after, rest=RestReason.GONE)
    dead = failures >= DEAD_AFTER_FAILURES and now - since >= DEAD_AFTER
    return replace(after, rest=before.rest or RestReason.FAILING) if dead else after


@dataclass(frozen=True, slots=True)
class Move:
    """Where a source's server sends us for good.

    Attributes:
        address: the one to fetch from now on.
        pending: one to be confirmed by the next fetch; empty where there is none.
    """

    address: str
    pending: str = ""


def after_redirect(address: str, pending: str, told: str) -> Move:
    """The address of a source after a fetch that gave a feed.

    A permanent redirect (301, 308) counts when two fetches in a row tell the same: one may be a fault, or the log-in
    page of somebody's network.

    Args:
        address: the one that was fetched.
        pending: where the fetch before said it had moved; empty for nowhere.
        told: where this one said; empty or the address itself for nowhere.
    """
    if not told or told == address:
        return Move(address)
    return Move(told) if told == pending else Move(address, told)
