"""Sources: the feeds, and the names under which imported stories came."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from digest.domain.source import Health
from digest.store.dialects import insert_new
from digest.store.tables import Host, Source

NO_REST_IS_LONGER = timedelta(days=2)
"""Well above the longest rest of a source, be it usual or after failures."""
_LONGEST_SPACING = timedelta(minutes=10)
_LONGEST_HOST = 255


def source_named(session: Session, name: str, now: datetime, *, home_url: str = "") -> Source:
    """The source with this name, made if there is none."""
    values = {"name": name, "home_url": home_url, "topics": [], "created_at": now}
    session.execute(insert_new(session, Source).values(values))
    return session.scalars(select(Source).where(Source.name == name)).one()


def all_sources(session: Session) -> Sequence[Source]:
    """Every source by name."""
    return session.scalars(select(Source).order_by(Source.name)).all()


def source_at(session: Session, feed_url: str) -> Source | None:
    """The source with this feed address."""
    return session.scalars(select(Source).where(Source.feed_url == feed_url)).one_or_none()


def due_sources(session: Session, now: datetime) -> Sequence[int]:
    """The ids of the feeds that may be fetched now, the longest waiting first; one per host, so that none is crowded.

    The others of a host stay due and come with the next look.
    """
    # A rest beyond the longest there is was set under a clock that was wrong.
    wrong = Source.fetch_after_at > now + NO_REST_IS_LONGER
    rested = or_(Source.fetch_after_at.is_(None), Source.fetch_after_at <= now, wrong)
    wanted = select(Source.id, Source.feed_url).where(Source.feed_url.is_not(None), Source.rest.is_(None), rested)
    by_host: dict[str, int] = {}
    for source_id, url in session.execute(wanted.order_by(Source.fetch_after_at.nulls_first(), Source.id)):
        by_host.setdefault(host_of(url or ""), source_id)
    return list(by_host.values())


def host_of(url: str) -> str:
    """The name under which a web server is spared: its host, and its port where that is not the usual one."""
    return urlsplit(url).netloc.rpartition("@")[2].lower()[-_LONGEST_HOST:]


def claim_host(session: Session, host: str, now: datetime, spacing: timedelta) -> datetime | None:
    """Take the right to one visit of a web server; None when it is granted, else the instant to ask again.

    The mark is a row, so that all workers share it. One far ahead was set under a clock that was wrong.
    """
    session.execute(insert_new(session, Host).values(name=host, free_at=now))
    free = or_(Host.free_at <= now, Host.free_at > now + _LONGEST_SPACING)
    claimed = update(Host).where(Host.name == host, free).values(free_at=now + spacing)
    if session.execute(claimed.returning(Host.name)).first():
        return None
    return session.scalars(select(Host.free_at).where(Host.name == host)).one()


def health_of(source: Source) -> Health:
    """How a source has been doing."""
    return Health(source.failures, source.failing_since_at, source.fetch_after_at, source.rest)


def set_health(source: Source, health: Health) -> None:
    """Keep how a source is doing."""
    source.failures, source.failing_since_at = health.failures, health.failing_since_at
    source.fetch_after_at, source.rest = health.fetch_after_at, health.rest
