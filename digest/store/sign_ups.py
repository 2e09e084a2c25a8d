"""The rows of a sign-up, written without loading any: many people come in the same second."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import bindparam, insert, or_, select
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningInsert

from digest.domain.address import address_key
from digest.domain.delivery import BatchState
from digest.domain.subscriber import SubscriberState
from digest.domain.suppression import SuppressionReason
from digest.store.dialects import insert_new
from digest.store.subscribers import Wishes
from digest.store.tables import Consent, Letter, Subscriber, Suppression

BAR = (
    select(Suppression.reason, Suppression.created_at)
    .where(
        or_(
            Suppression.email_key == bindparam("key"),
            Suppression.address_hash.in_(bindparam("hashes", expanding=True)),
        )
    )
    .order_by(Suppression.email_key.is_not(None))
    .limit(1)
)
ADD_CONSENT = insert(Consent).returning(Consent.id)
ADD_LETTER = insert(Letter).returning(Letter.id)


class Bar(NamedTuple):
    """Why an address must not be written to, and since when."""

    reason: SuppressionReason
    created_at: datetime


def why_barred(session: Session, address: str, hashes: Sequence[str]) -> Bar | None:
    """What bars this address, as :func:`digest.store.subscribers.bar_on` finds it."""
    found = session.connection().execute(BAR, {"key": address_key(address), "hashes": list(hashes)}).first()
    return Bar(*found) if found else None


def add_stranger(session: Session, address: str, wishes: Wishes, now: datetime) -> int | None:
    """A new subscriber who is yet to confirm; returns the id, None where the address is known already."""
    values = {
        "email": address,
        "email_key": address_key(address),
        "state": SubscriberState.PENDING,
        "language": wishes.languages,
        "cadence_id": wishes.cadence_id,
        "topics": wishes.topics,
        "created_at": now,
        "changed_at": now,
    }
    statement = insert_new(session, Subscriber).returning(Subscriber.id)
    found: int | None = session.connection().execute(statement, values).scalar_one_or_none()
    return found


def add_question(session: Session, consent: Mapping[str, Any], now: datetime) -> int:
    """A request to be subscribed, by its columns, and the letter that asks whether it is meant; returns its id."""
    consent_id = _add(session, ADD_CONSENT, {**consent, "requested_at": now})
    letter = {
        "kind": "confirm",
        "subscriber_id": consent["subscriber_id"],
        "consent_id": consent_id,
        "language": consent["language"].language,
        "state": BatchState.READY,
        "created_at": now,
        "not_before_at": now,
    }
    return _add(session, ADD_LETTER, letter)


def _add(session: Session, statement: ReturningInsert[int], values: Mapping[str, Any]) -> int:
    return session.connection().execute(statement, values).scalar_one()
