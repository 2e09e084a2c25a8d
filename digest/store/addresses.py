"""Changes of a reader's address: what was asked for, and which address a message went to."""

from datetime import date, datetime

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from digest.domain.address import address_key
from digest.store.tables import AddressChange, Batch, Delivery, Subscriber


def changes_asked(session: Session, subscriber_id: int, since: datetime) -> int:
    """How many changes of address the reader asked for since then."""
    asked = select(func.count()).where(AddressChange.subscriber_id == subscriber_id, AddressChange.requested_at > since)
    return session.scalar(asked) or 0


def newest_change(session: Session, subscriber_id: int) -> AddressChange | None:
    """The change that the reader asked for last."""
    wanted = select(AddressChange).where(AddressChange.subscriber_id == subscriber_id)
    return session.scalars(wanted.order_by(AddressChange.id.desc()).limit(1)).one_or_none()


def moved_at(session: Session, subscriber_id: int) -> datetime | None:
    """When the reader's address changed last; None where it never did."""
    newest = select(func.max(AddressChange.confirmed_at, type_=AddressChange.confirmed_at.type))
    return session.scalar(newest.where(AddressChange.subscriber_id == subscriber_id))


def change_asked_by(session: Session, letter_id: int) -> AddressChange | None:
    """The change of address whose new owner a letter asks."""
    return session.scalars(select(AddressChange).where(AddressChange.asked_letter_id == letter_id)).one_or_none()


def change_told_by(session: Session, subscriber_id: int, letter_id: int) -> AddressChange | None:
    """The change of address that a letter tells the former one about."""
    told = select(AddressChange).where(
        AddressChange.subscriber_id == subscriber_id, AddressChange.told_letter_id == letter_id
    )
    return session.scalars(told).one_or_none()


def forget_changes_to(session: Session, address: str) -> None:
    """Delete what others' wishes to be written to at this address, or away from it, say of it."""
    key = address_key(address)
    theirs = or_(func.lower(AddressChange.email) == key, func.lower(AddressChange.previous_email) == key)
    session.execute(delete(AddressChange).where(theirs))


def address_at(session: Session, subscriber: Subscriber, at: datetime) -> str:
    """The address that the reader was written to at an instant."""
    later = select(AddressChange.previous_email).where(
        AddressChange.subscriber_id == subscriber.id, AddressChange.confirmed_at > at
    )
    return session.scalar(later.order_by(AddressChange.confirmed_at, AddressChange.id).limit(1)) or subscriber.email


def address_of_letter(session: Session, subscriber: Subscriber, letter_id: int, written_at: datetime) -> str:
    """The address that a letter went to: one about a change goes to the new address or to the former one."""
    if asked := change_asked_by(session, letter_id):
        return asked.email
    if told := change_told_by(session, subscriber.id, letter_id):
        return told.previous_email
    return address_at(session, subscriber, written_at)


def handed_over_at(session: Session, subscriber: Subscriber, on: date) -> datetime | None:
    """When the reader's brief of a local date was handed over, as far as the ledger knows."""
    claimed = (
        select(func.coalesce(Batch.sent_at, Batch.claimed_at, type_=Batch.sent_at.type))
        .join(Delivery, Delivery.batch_id == Batch.id)
        .where(Delivery.subscriber_id == subscriber.id, Delivery.on == on)
    )
    return session.scalar(claimed)
