"""Posts of provider events, byte for byte until they are read."""

from datetime import datetime

from sqlalchemy import exists, or_, select, update
from sqlalchemy.orm import Session

from digest.store.tables import EventPost


def add_post(session: Session, provider: str, body: bytes, received_at: datetime) -> int:
    """Store a post; returns its id."""
    post = EventPost(provider=provider, body=body, received_at=received_at, not_before_at=received_at)
    session.add(post)
    session.flush()
    return post.id


def empty_post(session: Session, post_id: int) -> None:
    """Forget the bytes of a post: each of its events is a row of its own, which goes when its reader is erased."""
    session.execute(update(EventPost).where(EventPost.id == post_id).values(body=b""))


def is_any_unread(session: Session, provider: str, since: datetime) -> bool:
    """Whether a post received since then waits to be read, or was given up: what it says is not known here."""
    unread = or_(EventPost.closed_at.is_(None), EventPost.detail != "")
    found = exists().where(EventPost.provider == provider, EventPost.received_at >= since, unread)
    return session.scalar(select(found)) or False
