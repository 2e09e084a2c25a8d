"""News -> other programs, by Standard Webhooks; nothing of a morning waits for them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from sqlalchemy import select
from sqlalchemy.orm import Session

from digest.ports import Teller
from digest.store.announcements import add_calls, announce_mornings, close_calls_to_others, forget_news
from digest.store.database import Sessions
from digest.store.open_work import claim_open, close_open, put_back, take_open
from digest.store.tables import Announcement, Call, Subscriber

HOLD = timedelta(minutes=2)
WAITS = tuple(timedelta(seconds=seconds) for seconds in (5, 300, 1800, 7200, 18_000, 36_000, 50_400))
"""Between the tries, as Standard Webhooks proposes; then the call is given up."""
PAGE = 100


@dataclass(frozen=True, slots=True)
class Told:
    """What one call came to: whom it was for, and why it failed; empty when they have it."""

    url: str
    fault: str = ""


def prepare_calls(sessions: Sessions, urls: Sequence[str], now: datetime) -> None:
    """Write down whom to tell what; without any address, news is forgotten."""
    with sessions.begin() as session:
        close_calls_to_others(session, urls, now)
        if not urls:
            forget_news(session)
            return
        announce_mornings(session, now)
        add_calls(session, urls, now)


def waiting_calls(sessions: Sessions, now: datetime, again_after: timedelta) -> list[int]:
    """The calls to make that nobody was asked to make lately."""
    with sessions.begin() as session:
        return take_open(session, Call, now, again_after, PAGE)


def make_call(sessions: Sessions, teller: Teller, call_id: int, now: datetime, *, with_address: bool) -> Told | None:
    """Tell one program one piece of news; None when it has it, or another worker is at it."""
    with sessions.begin() as session:
        call = claim_open(session, Call, call_id, now, HOLD)
        if call is None:
            return None
        news = session.scalars(select(Announcement).where(Announcement.id == call.announcement_id)).one()
        body = _body(session, news, with_address=with_address)
    fault = teller.tell(call.url, f"msg_{sha256(news.name.encode()).hexdigest()[:32]}", body, now)
    with sessions.begin() as session:
        if not fault or call.attempts > len(WAITS):
            close_open(session, call, now, fault)
        else:
            put_back(session, call, now + WAITS[call.attempts - 1], fault)
    return Told(call.url, fault)


def make_waiting_calls(sessions: Sessions, teller: Teller, now: datetime, *, with_address: bool) -> list[Told]:
    """Make every call that waits, in this process; whoever does not answer is not asked again in this round."""
    silent: set[str] = set()
    told: list[Told] = []
    for call_id in waiting_calls(sessions, now, timedelta(0)):
        with sessions() as session:
            url = session.scalars(select(Call.url).where(Call.id == call_id)).one()
        made = None if url in silent else make_call(sessions, teller, call_id, now, with_address=with_address)
        if made is not None:
            told.append(made)
            silent |= {url} if made.fault else set()
    return told


def _body(session: Session, news: Announcement, *, with_address: bool) -> bytes:
    facts = dict(news.facts)
    subscriber = session.get(Subscriber, facts["subscriber"]) if with_address and "subscriber" in facts else None
    if subscriber is not None:
        facts["email"] = subscriber.email
    whole = {"type": news.kind, "timestamp": news.created_at.isoformat(), "data": facts}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
