"""Erasures that a provider has still to be told of."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from digest.store.tables import Erasure


def add_erasure(session: Session, provider: str, address: str, now: datetime) -> None:
    """Keep the address until its provider has been told to forget it."""
    session.add(Erasure(provider=provider, email=address, created_at=now, not_before_at=now, attempts=0, detail=""))


def due_erasures(session: Session, provider: str, now: datetime, most: int, characters: int) -> list[Erasure]:
    """The oldest wishes that may be tried now, so many and so long at most."""
    wanted = select(Erasure).where(Erasure.provider == provider, Erasure.not_before_at <= now)
    found, size = list[Erasure](), 0
    for one in session.scalars(wanted.order_by(Erasure.id).limit(most)):
        size += len(one.email)
        if found and size > characters:
            break
        found.append(one)
    return found


def close_erasures(session: Session, ids: Sequence[int]) -> None:
    """Forget the addresses: the provider knows."""
    session.execute(delete(Erasure).where(Erasure.id.in_(ids)))


def put_off_erasures(session: Session, ids: Sequence[int], until: datetime, detail: str) -> None:
    """Try again later."""
    values = {"not_before_at": until, "attempts": Erasure.attempts + 1, "detail": detail}
    session.execute(update(Erasure).where(Erasure.id.in_(ids)).values(values))
