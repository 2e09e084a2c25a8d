"""Posts of provider events, byte for byte until they are read."""

from datetime import datetime

from sqlalchemy import update
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
