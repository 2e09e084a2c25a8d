"""Posts of provider events, stored as they came -> events, and what they change."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from digest.domain.errors import BadInputError
from digest.domain.event import ProviderEvent
from digest.domain.suppression import SoftBounces
from digest.steps.record_events import USUAL, Recorded, record_events
from digest.store.database import Sessions
from digest.store.event_posts import add_post, empty_post
from digest.store.open_work import claim_open, close_open, put_back, take_open
from digest.store.tables import EventPost
from digest.store.tallies import count_up

Readers = Mapping[str, Callable[[bytes, datetime], list[ProviderEvent]]]
"""Provider -> what makes events of its posts; raises BadInputError where a post is none."""

EVENTS = "events"
"""The counter of events read from posts, repeats too; labels are provider, colon, kind."""
HOLD = timedelta(minutes=20)
"""Longer than a worker may take for one post."""
FIRST_WAIT = timedelta(seconds=30)
PAGE = 100
MOST_ATTEMPTS = 8
"""The last one comes about an hour after the first."""


def receive_post(sessions: Sessions, provider: str, body: bytes, received_at: datetime) -> int:
    """Store a verified post, byte for byte; returns its id. What it says is read later."""
    with sessions.begin() as session:
        return add_post(session, provider, body, received_at)


def record_post(
    sessions: Sessions, readers: Readers, post_id: int, now: datetime, rule: SoftBounces = USUAL
) -> Recorded | None:
    """Read one stored post and let its events act; None when it is done already or another worker's.

    An event that can't be recorded stops no other. The post is then read again later, where those that were recorded
    are known and do nothing; after the last try it is closed with the reason, its body kept for a person to look at.
    """
    with sessions.begin() as session:
        post = claim_open(session, EventPost, post_id, now, HOLD)
    if post is None:
        return None
    if post.attempts > MOST_ATTEMPTS:
        return _give_up(sessions, post, now, "no worker came to its end")
    try:
        events = readers[post.provider](post.body, post.received_at)
    except (BadInputError, KeyError) as error:
        return _give_up(sessions, post, now, f"{type(error).__name__}: not a post of {post.provider}")
    recorded = record_events(sessions, events, post.received_at, rule)
    if not recorded.faults:
        with sessions.begin() as session:
            close_open(session, post, now)
            empty_post(session, post.id)
        _count(sessions, post.provider, events)
    elif post.attempts >= MOST_ATTEMPTS:
        _give_up(sessions, post, now, _said(recorded))
    else:
        with sessions.begin() as session:
            put_back(session, post, now + FIRST_WAIT * (1 << post.attempts - 1), _said(recorded))
    return recorded


def _count(sessions: Sessions, provider: str, events: Sequence[ProviderEvent]) -> None:
    """For the metrics, apart from what the events do: a counter's row is everybody's and must not be held long."""
    with sessions.begin() as session:
        count_up(session, {EVENTS: Counter(f"{provider}:{event.kind}" for event in events)})


def record_waiting(sessions: Sessions, readers: Readers, now: datetime, rule: SoftBounces = USUAL) -> list[str]:
    """Read every post that waits, in this process; returns what went wrong.

    Comes before a turn's hand-overs: what a post says may stop a message.
    """
    faults: list[str] = []
    while ids := _waiting(sessions, now):
        for post_id in ids:
            recorded = record_post(sessions, readers, post_id, now, rule)
            faults += [f"events {post_id}: {fault}" for fault in (recorded.faults if recorded else [])]
    return faults


def _waiting(sessions: Sessions, now: datetime) -> list[int]:
    with sessions.begin() as session:
        return take_open(session, EventPost, now, timedelta(0), PAGE)


def _said(recorded: Recorded) -> str:
    return f"{len(recorded.faults)} not recorded: {', '.join(sorted(set(recorded.faults)))}"


def _give_up(sessions: Sessions, post: EventPost, now: datetime, why: str) -> Recorded:
    with sessions.begin() as session:
        close_open(session, post, now, why)
    return Recorded(faults=[why])
