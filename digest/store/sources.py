"""Sources: the feeds, and the names under which imported stories came."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from digest.store.dialects import insert_new
from digest.store.tables import Source

NO_REST_IS_LONGER = timedelta(days=2)
"""Well above the longest rest of a source, be it usual or after failures."""


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
    """The ids of the feeds that may be fetched now."""
    # A rest beyond the longest there is was set under a clock that was wrong.
    wrong = Source.fetch_after_at > now + NO_REST_IS_LONGER
    rested = or_(Source.fetch_after_at.is_(None), Source.fetch_after_at <= now, wrong)
    return session.scalars(select(Source.id).where(Source.feed_url.is_not(None), rested).order_by(Source.id)).all()
