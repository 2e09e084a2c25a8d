"""Everything that is kept about one reader, for that reader (GDPR articles 15 and 20)."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from digest.domain.schedule import weekdays_text
from digest.domain.subscriber import SubscriberState, topics_of
from digest.rendering.letters import ExportReady
from digest.store.database import Sessions
from digest.store.ledger import entries
from digest.store.letters import add_letter, was_written
from digest.store.subscribers import bar_on, find, get
from digest.store.tables import AddressChange, CadenceRow, Consent, Event, Letter, Subscriber, Table

Kind = TypeVar("Kind", bound=Table)
LEFT_OUT = frozenset({"id", "subscriber_id", "cadence_id", "consent_id", "email_key", "nudged_at", "lease_until_at"})
"""Columns that only hold rows together or steer a worker."""


def ask_for_export(sessions: Sessions, subscriber_id: int, since: datetime, now: datetime) -> list[int]:
    """Owe the reader a letter with the link to their data; returns its id, none where one was owed since ``since``.

    The link goes to the mailbox and not to the page: a brief that was forwarded opens the page, too.
    """
    with sessions.begin() as session:
        subscriber = get(session, subscriber_id, lock=True)
        if subscriber is None or subscriber.state is SubscriberState.ENDED:
            return []
        if was_written(session, ExportReady.kind, subscriber_id, since):
            return []
        return [add_letter(session, ExportReady.kind, subscriber, now)]


def export_subscriber(sessions: Sessions, subscriber_id: int) -> dict[str, object] | None:
    """What is kept about a reader, as a JSON document; None when there is no such reader."""
    with sessions() as session:
        subscriber = get(session, subscriber_id)
        return None if subscriber is None else _document(session, subscriber)


def export_address(sessions: Sessions, address: str, hashes: Sequence[str]) -> dict[str, object] | None:
    """What is kept about an address, whether it reads or is only barred; None when that is nothing.

    Args:
        hashes: the keyed hashes of the address, for one that was erased.
    """
    with sessions() as session:
        subscriber, bar = find(session, address), bar_on(session, address, hashes)
        if subscriber is None and bar is None:
            return None
        barred: dict[str, object] = {"suppression": None if bar is None else _shown(bar)}
        return barred if subscriber is None else _document(session, subscriber) | barred


def _document(session: Session, subscriber: Subscriber) -> dict[str, object]:
    def rows(kind: type[Kind]) -> Sequence[Kind]:
        return session.scalars(select(kind).filter_by(subscriber_id=subscriber.id).order_by("id")).all()

    return {
        "subscriber": {**_shown(subscriber), **_cadence(subscriber.cadence_row)},
        "consents": [{**_shown(row), **_cadence(session.get_one(CadenceRow, row.cadence_id))} for row in rows(Consent)],
        "address_changes": [_shown(row) for row in rows(AddressChange)],
        "letters": [_shown(row) for row in rows(Letter)],
        "deliveries": _deliveries(session, subscriber),
        "events": [_shown(row) for row in rows(Event)],
    }


def _deliveries(session: Session, subscriber: Subscriber) -> list[dict[str, object]]:
    return [
        {
            "date": entry.on.isoformat(),
            "status": entry.status,
            "reason": entry.reason,
            "sent_at": _value(entry.sent_at),
            "detail": entry.detail,
        }
        for entry in entries(session, email=subscriber.email)
    ]


def _shown(row: Table) -> dict[str, object]:
    names = [column.key for column in row.__mapper__.column_attrs if column.key not in LEFT_OUT]
    shown = {name: _value(getattr(row, name)) for name in names}
    if isinstance(topics := shown.get("topics"), str):
        shown["topics"] = list(topics_of(topics))
    return shown


def _cadence(row: CadenceRow) -> dict[str, object]:
    cadence = row.cadence
    return {
        "timezone": cadence.timezone,
        "time": f"{cadence.at:%H:%M}",
        "weekdays": weekdays_text(cadence.weekdays).split(","),
    }


def _value(value: object) -> object:
    """Instants in UTC as RFC 3339 writes them; dates and times as ISO 8601 does."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return value.isoformat() if isinstance(value, date | time) else value
