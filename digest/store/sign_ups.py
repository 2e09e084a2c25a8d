"""The rows of a sign-up, written without loading any: many people come in the same second."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import CTE, BindParameter, Select, String, any_, bindparam, exists, insert, literal, or_, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import InstrumentedAttribute, Session
from sqlalchemy.sql.dml import ReturningInsert

from digest.domain.address import address_key
from digest.domain.delivery import BatchState
from digest.domain.subscriber import SubscriberState
from digest.domain.suppression import SuppressionReason
from digest.store.cadences import IS_CADENCE
from digest.store.database import at_once
from digest.store.dialects import insert_new, on_postgresql
from digest.store.subscribers import Wishes
from digest.store.tables import CadenceRow, Consent, Letter, Subscriber, Suppression, Table

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
STRANGER = {"kind": "confirm", "subscriber_state": SubscriberState.PENDING, "letter_state": BatchState.READY}
ADD_CONSENT = insert(Consent).returning(Consent.id)
ADD_LETTER = insert(Letter).returning(Letter.id)


class Bar(NamedTuple):
    """Why an address must not be written to, and since when."""

    reason: SuppressionReason
    created_at: datetime


def _given(name: str, column: InstrumentedAttribute[Any]) -> BindParameter[Any]:
    return bindparam(name, type_=column.type)


def _insert_from(table: type[Table], values: Mapping[str, Any], rows: Select[Any]) -> postgresql.Insert:
    columns = rows.add_columns(*values.values())
    return postgresql.insert(table).from_select(list(values), columns, include_defaults=False)


def _added_stranger() -> CTE:
    barred = or_(
        Suppression.email_key == bindparam("email_key"),
        Suppression.address_hash == any_(bindparam("hashes", type_=postgresql.ARRAY(String))),
    )
    values = {
        "email": _given("email", Subscriber.email),
        "email_key": _given("email_key", Subscriber.email_key),
        "state": _given("subscriber_state", Subscriber.state),
        "language": _given("languages", Subscriber.languages),
        "cadence_id": CadenceRow.id,
        "topics": _given("topics", Subscriber.topics),
        "created_at": _given("now", Subscriber.created_at),
        "changed_at": _given("now", Subscriber.changed_at),
    }
    rows = select().where(IS_CADENCE, ~exists(select(Suppression.id).where(barred)))
    stranger = _insert_from(Subscriber, values, rows).on_conflict_do_nothing()
    return stranger.returning(Subscriber.id, Subscriber.cadence_id).cte("stranger")


def _added_consent(stranger: CTE) -> CTE:
    values = {
        "subscriber_id": stranger.c.id,
        "source": _given("source", Consent.source),
        "wording": _given("wording", Consent.wording),
        "remote": _given("remote", Consent.remote),
        "language": _given("languages", Consent.languages),
        "cadence_id": stranger.c.cadence_id,
        "topics": _given("topics", Consent.topics),
        "requested_at": _given("now", Consent.requested_at),
    }
    return _insert_from(Consent, values, select()).returning(Consent.id, Consent.subscriber_id).cte("consent")


def _add_at_once() -> ReturningInsert[int]:
    consent = _added_consent(_added_stranger())
    values = {
        "kind": _given("kind", Letter.kind),
        "subscriber_id": consent.c.subscriber_id,
        "consent_id": consent.c.id,
        "language": _given("letter_language", Letter.language),
        "state": _given("letter_state", Letter.state),
        "created_at": _given("now", Letter.created_at),
        "not_before_at": _given("now", Letter.not_before_at),
        "attempts": literal(0),
        "detail": literal(""),
    }
    return _insert_from(Letter, values, select()).returning(Letter.id)


ADD_AT_ONCE = _add_at_once()
"""Subscriber, consent and letter in one trip to PostgreSQL; nothing where one of them is not simply to be added."""


def add_at_once(
    session: Session, address: str, hashes: Sequence[str], request: Mapping[str, Any], now: datetime
) -> int | None:
    """A new subscriber who is yet to confirm, with consent and letter, committed at once; returns the letter's id.

    None where it takes more than that: the address is known or barred, the cadence is new, or this is SQLite, to which
    a trip costs nothing.

    Args:
        request: languages, topics, source, wording, remote and the :func:`digest.store.cadences.cadence_values`.
    """
    if not on_postgresql(session):
        return None
    values = {
        **STRANGER,
        **request,
        "email": address,
        "email_key": address_key(address),
        "hashes": list(hashes),
        "letter_language": request["languages"].language,
        "now": now,
    }
    found: int | None = at_once(session).execute(ADD_AT_ONCE, values).scalar_one_or_none()
    return found


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
