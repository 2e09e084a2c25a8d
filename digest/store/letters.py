"""Letters: the queue of transactional mail."""

from datetime import datetime, timedelta

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from digest.domain.delivery import BatchState
from digest.store.recovery import NO_LEASE_IS_LONGER
from digest.store.tables import Consent, Letter, Subscriber


def add_letter(
    session: Session, kind: str, subscriber: Subscriber, now: datetime, consent: Consent | None = None
) -> int:
    """Write down that a letter is owed, in the language of the consent it is about; returns its id."""
    letter = Letter(
        kind=kind,
        subscriber_id=subscriber.id,
        consent_id=consent.id if consent else None,
        language=consent.language if consent else subscriber.language,
        state=BatchState.READY,
        created_at=now,
        not_before_at=now,
    )
    session.add(letter)
    session.flush()
    return letter.id


def was_written(session: Session, kind: str, subscriber_id: int, since: datetime) -> bool:
    """Whether such a letter was owed to the reader since then."""
    wanted = select(Letter.id).where(
        Letter.kind == kind, Letter.subscriber_id == subscriber_id, Letter.created_at > since
    )
    return session.scalar(wanted.limit(1)) is not None


def take_letters(session: Session, now: datetime, again_after: timedelta, limit: int) -> list[int]:
    """Letters to send that no worker was asked to send lately; marks them as asked for."""
    rested = or_(Letter.nudged_at.is_(None), Letter.nudged_at <= now - again_after, Letter.nudged_at > now)
    wanted = select(Letter.id).where(Letter.state == BatchState.READY, Letter.not_before_at <= now, rested)
    ids = session.scalars(wanted.order_by(Letter.id).limit(limit).with_for_update(skip_locked=True)).all()
    if ids:
        session.execute(update(Letter).where(Letter.id.in_(ids)).values(nudged_at=now))
    return list(ids)


def claim_letter(session: Session, letter_id: int, now: datetime, lease: timedelta) -> Letter | None:
    """Take a letter for sending; None when somebody else has it or had it."""
    return session.scalars(
        update(Letter)
        .where(Letter.id == letter_id, Letter.state == BatchState.READY, Letter.not_before_at <= now)
        .values(state=BatchState.SENDING, lease_until_at=now + lease, attempts=Letter.attempts + 1)
        .returning(Letter)
    ).one_or_none()


def expire_letter_leases(session: Session, now: datetime) -> list[int]:
    """Letters whose sender is gone become *unknown*; their readers can ask again."""
    over = or_(Letter.lease_until_at < now, Letter.lease_until_at > now + NO_LEASE_IS_LONGER)
    lost = (
        update(Letter)
        .where(Letter.state == BatchState.SENDING, over)
        .values(state=BatchState.UNKNOWN, lease_until_at=None)
        .returning(Letter.id)
    )
    return list(session.scalars(lost))
