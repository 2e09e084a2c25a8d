"""News for other programs: written down with what it is about, then one call for each address that is set."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import delete, exists, func, select, update
from sqlalchemy.orm import Session

from digest.domain.delivery import BatchState
from digest.domain.news import News
from digest.store.dialects import insert_new
from digest.store.ledger import REASON, STATUS
from digest.store.tables import Announcement, Batch, Brief, Call, Delivery, Edition

LOOKS_BACK = timedelta(days=1)
"""How long after its instant a morning is still announced."""
OPEN = (BatchState.PLANNED, BatchState.READY, BatchState.SENDING)
AT_ONCE = 500


def announce(session: Session, kind: News, name: str, facts: dict[str, Any], now: datetime) -> None:
    """Write down a piece of news; one of the same name is known already."""
    announce_all(session, kind, {name: facts}, now)


def announce_all(session: Session, kind: News, named: Mapping[str, Mapping[str, Any]], now: datetime) -> None:
    """Write down news of one kind, by name."""
    rows = [
        {"name": f"{kind}:{name}", "kind": kind, "facts": facts, "created_at": now} for name, facts in named.items()
    ]
    session.execute(insert_new(session, Announcement), rows)


def forget_news(session: Session) -> None:
    """Nobody wants to be told."""
    session.execute(delete(Announcement).where(Announcement.taken_at.is_(None)))


def add_calls(session: Session, urls: Sequence[str], now: datetime) -> None:
    """For every piece of news that is new, a call to each of these."""
    new = select(Announcement.id).where(Announcement.taken_at.is_(None)).order_by(Announcement.id)
    ids = session.scalars(new.limit(AT_ONCE).with_for_update(skip_locked=True)).all()
    row = {"not_before_at": now, "attempts": 0, "detail": ""}
    rows = [row | {"announcement_id": announcement_id, "url": url} for announcement_id in ids for url in urls]
    if rows:
        session.execute(insert_new(session, Call).values(rows))
        session.execute(update(Announcement).where(Announcement.id.in_(ids)).values(taken_at=now))


def close_calls_to_others(session: Session, urls: Sequence[str], now: datetime) -> None:
    """Calls to addresses that are set no longer are not made."""
    gone = update(Call).where(Call.closed_at.is_(None), Call.url.not_in(urls))
    session.execute(gone.values(closed_at=now, detail="the address is set no longer"))


def announce_mornings(session: Session, now: datetime) -> None:
    """Announce every instant of the last day of which nothing is left to hand over, with its counts."""
    for send_at, on in _done(session, now):
        facts = {"send_at": send_at.isoformat(), "date": on.isoformat()} | _counts(session, send_at, on)
        announce(session, News.MORNING_DONE, _name(send_at, on), facts, now)


def _name(send_at: datetime, on: date) -> str:
    return f"{send_at:%Y%m%dT%H%M%SZ}:{on}"


def _done(session: Session, now: datetime) -> list[tuple[datetime, date]]:
    recent = Edition.send_at.between(now - LOOKS_BACK, now)
    of_edition = select(Batch.id).join(Brief, Brief.id == Batch.brief_id).where(Brief.edition_id == Edition.id)
    is_open = exists(of_edition.where(Batch.state.in_(OPEN)))
    sends = select(Edition.send_at, Edition.on).where(recent)
    left = {(row.send_at, row.on) for row in session.execute(sends.where(is_open))}
    held = {(row.send_at, row.on) for row in session.execute(sends.where(exists(of_edition)))}
    since = Announcement.created_at >= now - LOOKS_BACK
    told = set(session.scalars(select(Announcement.name).where(Announcement.kind == News.MORNING_DONE, since)))
    return sorted(each for each in held - left if f"{News.MORNING_DONE}:{_name(*each)}" not in told)


def _counts(session: Session, send_at: datetime, on: date) -> dict[str, Any]:
    counting = (
        select(STATUS, REASON, func.count())
        .join(Batch, Batch.id == Delivery.batch_id)
        .join(Brief, Brief.id == Batch.brief_id)
        .join(Edition, Edition.id == Brief.edition_id)
        .where(Edition.send_at == send_at, Edition.on == on)
        .group_by(STATUS, REASON)
    )
    totals: Counter[str] = Counter()
    skipped: defaultdict[str, int] = defaultdict(int)
    for status, reason, number in session.execute(counting):
        totals[status] += number
        if status == BatchState.SKIPPED:
            skipped[str(reason)] += number
    return {word: totals[word] for word in ("sent", "failed", "unknown")} | {"skipped": dict(skipped)}
