"""The staged rows of a list, moved to where they belong by a few statements, however many they are."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import case, delete, exists, func, insert, literal, or_, select
from sqlalchemy.orm import Session

from digest.domain.delivery import BatchState
from digest.domain.subscriber import EndReason, SubscriberState
from digest.domain.suppression import SuppressionReason
from digest.store.dialects import insert_new
from digest.store.staging import HASHES, ROWS, STANDINGS
from digest.store.tables import Consent, Letter, Subscriber, Suppression
from digest.store.types import UtcDateTime

_ACTUAL = ROWS.join(STANDINGS, STANDINGS.c.number == ROWS.c.standing)
_PENDING = STANDINGS.c.state == SubscriberState.PENDING


class Known(NamedTuple):
    """A row whose address a subscriber has."""

    number: int
    id: int
    state: SubscriberState
    reason: EndReason | None
    created_at: datetime


def newest_id(session: Session) -> int:
    """The highest id of a subscriber."""
    return session.scalar(select(func.max(Subscriber.id))) or 0


def has_hashes(session: Session) -> bool:
    """Whether anybody was erased."""
    return session.scalar(select(Suppression.id).where(Suppression.address_hash.is_not(None)).limit(1)) is not None


def take_barred(session: Session) -> list[tuple[int, SuppressionReason]]:
    """Take away the rows that must not become subscribers; their numbers, and why."""
    if session.scalar(select(Suppression.id).limit(1)) is None:
        return []
    in_clear = select(ROWS.c.number, Suppression.reason).join(Suppression, Suppression.email_key == ROWS.c.email_key)
    hashed = select(HASHES.c.number, Suppression.reason).join(
        Suppression, Suppression.address_hash == HASHES.c.address_hash
    )
    known = exists().where(Subscriber.email_key == ROWS.c.email_key)
    found = [*session.execute(in_clear.where(~known)), *session.execute(hashed)]
    _take(session, [number for number, _ in found])
    return [(number, reason) for number, reason in found]


def _take(session: Session, numbers: Sequence[int]) -> None:
    if numbers:
        session.execute(delete(ROWS).where(ROWS.c.number.in_(numbers)))


def take_known(session: Session) -> list[Known]:
    """Take away the rows whose address another subscriber has than the one with the row's own id."""
    wanted = (
        select(ROWS.c.number, Subscriber.id, Subscriber.state, Subscriber.reason, Subscriber.created_at)
        .join(Subscriber, Subscriber.email_key == ROWS.c.email_key)
        .where(Subscriber.id != ROWS.c.id)
    )
    found = [Known(*row) for row in session.execute(wanted)]
    _take(session, [one.number for one in found])
    return found


def add_subscribers(session: Session, now: datetime) -> int:
    """Make a subscriber of every staged row whose address nobody has; how many these are."""
    values = {
        "id": ROWS.c.id,
        "email": ROWS.c.email,
        "email_key": ROWS.c.email_key,
        "name": ROWS.c.name,
        "state": STANDINGS.c.state,
        "reason": STANDINGS.c.reason,
        "language": STANDINGS.c.language,
        "cadence_id": STANDINGS.c.cadence_id,
        "topics": STANDINGS.c.topics,
        "paused_until_on": STANDINGS.c.paused_until_on,
        "created_at": _instant(now),
        "changed_at": _instant(now),
    }
    new = select(*values.values()).select_from(_ACTUAL).where(STANDINGS.c.state.is_not(None))
    adding = insert_new(session, Subscriber, "email_key").from_select(list(values), new.order_by(ROWS.c.email_key))
    return session.connection().execute(adding, execution_options={"preserve_rowcount": True}).rowcount


def add_consents(session: Session, now: datetime) -> None:
    """What the rows say on consent; a pending reader's is still to be given."""
    given = func.coalesce(ROWS.c.consent_at, _instant(now), type_=UtcDateTime())
    values = {
        "subscriber_id": ROWS.c.id,
        "source": STANDINGS.c.source,
        "wording": STANDINGS.c.wording,
        "language": STANDINGS.c.language,
        "cadence_id": STANDINGS.c.cadence_id,
        "topics": STANDINGS.c.topics,
        "remote": literal(""),
        "requested_at": case((_PENDING, _instant(now)), else_=given),
        "confirmed_at": case((_PENDING, None), else_=given),
    }
    agreed = or_(STANDINGS.c.state != SubscriberState.ENDED, STANDINGS.c.source != "")
    rows = select(*values.values()).select_from(_ACTUAL).where(STANDINGS.c.state.is_not(None), agreed)
    session.connection().execute(insert(Consent).from_select(list(values), rows))


def add_letters(session: Session, now: datetime) -> None:
    """A confirmation is asked of every pending reader."""
    values = {
        "kind": literal("confirm"),
        "subscriber_id": ROWS.c.id,
        "consent_id": Consent.id,
        "language": STANDINGS.c.first_language,
        "state": literal(BatchState.READY.value),
        "created_at": _instant(now),
        "not_before_at": _instant(now),
        "attempts": literal(0),
        "detail": literal(""),
    }
    rows = select(*values.values()).select_from(_ACTUAL).join(Consent, Consent.subscriber_id == ROWS.c.id)
    session.connection().execute(insert(Letter).from_select(list(values), rows.where(_PENDING)))


def add_bars(session: Session, now: datetime) -> None:
    """Bar the addresses of staged rows that say so."""
    if session.scalar(select(STANDINGS.c.number).where(STANDINGS.c.bar.is_not(None)).limit(1)) is None:
        return
    rows = select(ROWS.c.email_key, STANDINGS.c.bar, _instant(now)).select_from(_ACTUAL)
    barred = rows.where(STANDINGS.c.bar.is_not(None))
    columns = ["email_key", "reason", "created_at"]
    session.connection().execute(insert_new(session, Suppression).from_select(columns, barred))


def staged_by_state(session: Session) -> Counter[str]:
    """How many staged rows are left in each state."""
    states = select(STANDINGS.c.state, func.count()).select_from(_ACTUAL).where(STANDINGS.c.state.is_not(None))
    return Counter({state.value: number for state, number in session.execute(states.group_by(STANDINGS.c.state))})


def _instant(at: datetime) -> Any:  # noqa: ANN401 - an expression of SQL
    return literal(at, UtcDateTime())
