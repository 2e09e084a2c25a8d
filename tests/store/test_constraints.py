"""What the tables refuse, on SQLite and PostgreSQL alike."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import delete, insert, select, text
from sqlalchemy.exc import IntegrityError, StatementError
from sqlalchemy.orm import Session

from digest.domain.event import EventKind
from digest.domain.language import Language
from digest.domain.suppression import SuppressionReason
from digest.store.database import Sessions
from digest.store.tables import (
    Batch,
    Brief,
    CadenceRow,
    Consent,
    Delivery,
    Edition,
    Event,
    Letter,
    Morning,
    Source,
    Story,
    StoryTextRow,
    Subscriber,
    Suppression,
    Table,
)

NOW = datetime(2027, 6, 10, tzinfo=UTC)
TENTH = date(2027, 6, 10)
EN = Language.ENGLISH

ROWS: dict[type[Table], dict[str, Any]] = {
    CadenceRow: {"timezone": "Asia/Shanghai", "send_time": time(8), "weekdays": 127, "created_at": NOW},
    Subscriber: {
        "email": "a@example.com",
        "email_key": "a@example.com",
        "state": "active",
        "reason": None,
        "topics": "",
        "languages": EN,
        "cadence_id": 1,
        "created_at": NOW,
        "changed_at": NOW,
    },
    Consent: {"subscriber_id": 1, "source": "form", "languages": EN, "cadence_id": 1, "requested_at": NOW},
    Edition: {"send_at": NOW, "on": TENTH, "window_start_at": NOW - timedelta(days=1), "window_end_at": NOW},
    Brief: {"edition_id": 1, "language": EN, "topics": "", "state": "planned", "slots": {}, "story_ids": []},
    Batch: {"brief_id": 1, "number": 0, "state": "planned", "reason": None, "not_before_at": NOW, "expires_at": NOW},
    Delivery: {"subscriber_id": 1, "on": TENTH, "batch_id": 1},
    Event: {
        "provider": "smtp",
        "identifier": "e1",
        "kind": EventKind.DELIVERED,
        "occurred_at": NOW,
        "received_at": NOW,
        "subscriber_id": 1,
    },
    Suppression: {"email_key": "b@example.com", "reason": SuppressionReason.BOUNCED, "created_at": NOW},
    Letter: {
        "kind": "confirm",
        "subscriber_id": 1,
        "language": EN,
        "state": "ready",
        "created_at": NOW,
        "not_before_at": NOW,
    },
    Morning: {"cadence_id": 1, "on": TENTH, "planned_at": NOW},
    Source: {"name": "News", "feed_url": "https://news.example.com/feed", "topics": [], "created_at": NOW},
    Story: {
        "source_id": 1,
        "slug": "s",
        "url": "https://x.example",
        "canonical_url": "https://x.example",
        "identifier": "1",
        "language": EN,
        "topics": [],
        "seen_at": NOW,
        "enters_at": NOW,
    },
    StoryTextRow: {"story_id": 1, "language": EN, "title": "T", "key_points": [], "key_evidence": []},
}
"""One good row of each table, in an order in which each finds what it refers to."""


@pytest.fixture
def filled(database: Sessions) -> Sessions:
    """One good row in each table."""
    with database.begin() as session:
        for table, values in ROWS.items():
            session.execute(insert(table).values(values))
    return database


def add(sessions: Sessions, table: type[Table], **changes: object) -> None:
    with sessions.begin() as session:
        session.execute(insert(table).values(ROWS[table] | changes))


@pytest.mark.parametrize(
    ("table", "changes"),
    [
        (CadenceRow, {}),
        (CadenceRow, {"timezone": "UTC", "weekdays": 0}),
        (CadenceRow, {"timezone": "UTC", "weekdays": 128}),
        (Subscriber, {"email": "A@example.com"}),
        (Subscriber, {"email_key": "c", "state": "ended"}),
        (Subscriber, {"email_key": "c", "reason": "unsubscribed"}),
        (Subscriber, {"email_key": "c", "paused_until_on": TENTH}),
        (Subscriber, {"email_key": "c", "cadence_id": 99}),
        (Subscriber, {"email_key": None}),
        (Consent, {"subscriber_id": 99}),
        (Edition, {}),
        (Brief, {}),
        (Brief, {"languages": Language.CHINESE, "edition_id": 99}),
        (Batch, {"state": "sending"}),
        (Batch, {"lease_until_at": NOW}),
        (Batch, {"state": "skipped"}),
        (Batch, {"state": "failed"}),
        (Batch, {"state": "unknown"}),
        (Batch, {"reason": "late"}),
        (Batch, {"state": "sent"}),
        (Batch, {"brief_id": 99}),
        (Delivery, {}),
        (Delivery, {"on": date(2027, 6, 11), "state": "skipped"}),
        (Delivery, {"on": date(2027, 6, 11), "reason": "late"}),
        (Delivery, {"on": date(2027, 6, 11), "state": "sent", "reason": "late"}),
        (Delivery, {"on": date(2027, 6, 11), "batch_id": 99}),
        (Delivery, {"subscriber_id": 99}),
        (Event, {}),
        (Event, {"identifier": "e2", "subscriber_id": 99}),
        (Suppression, {}),
        (Suppression, {"email_key": None}),
        (Suppression, {"email_key": "c", "address_hash": "f"}),
        (Letter, {"state": "sending"}),
        (Letter, {"lease_until_at": NOW}),
        (Morning, {}),
        (Source, {"feed_url": None}),
        (Source, {"name": "Other"}),
        (Story, {"canonical_url": "https://y.example", "identifier": "2"}),
        (Story, {"slug": "t", "identifier": "2"}),
        (Story, {"slug": "t", "canonical_url": "https://y.example"}),
        (StoryTextRow, {}),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else ",".join(value) or "again",
)
def test_a_wrong_row_is_refused(filled: Sessions, table: type[Table], changes: dict[str, object]) -> None:
    with pytest.raises(IntegrityError):
        add(filled, table, **changes)


def test_the_same_event_id_of_another_provider_is_another_event(filled: Sessions) -> None:
    add(filled, Event, provider="sendgrid")


@pytest.mark.parametrize("value", ["perhaps", "", "ACTIVE"])
def test_a_word_that_is_none_is_refused(database: Sessions, value: str) -> None:
    with pytest.raises(StatementError, match="is not a valid SubscriberState"), database.begin() as session:
        session.execute(select(Subscriber).where(Subscriber.state == value))


def test_an_instant_without_its_offset_is_refused(filled: Sessions) -> None:
    with pytest.raises(StatementError, match="naive datetime"):
        add(filled, Subscriber, email_key="c", created_at=NOW.replace(tzinfo=None))


def test_an_instant_comes_back_in_utc_to_the_microsecond(filled: Sessions) -> None:
    there = datetime(2027, 6, 10, 8, 0, 0, 123456, tzinfo=timezone(timedelta(hours=8)))
    add(filled, Subscriber, email_key="c", created_at=there)
    with filled() as session:
        found = session.scalars(select(Subscriber.created_at).where(Subscriber.email_key == "c")).one()
    assert (found, found.tzinfo) == (there, UTC)


def test_instants_are_compared_as_instants(filled: Sessions) -> None:
    there = datetime(2027, 6, 10, 8, 0, tzinfo=timezone(timedelta(hours=8)))
    with filled() as session:
        assert session.scalar(select(Subscriber.id).where(Subscriber.created_at == there)) == 1


def test_with_a_subscriber_go_all_their_rows_and_nobody_elses(filled: Sessions) -> None:
    add(filled, Subscriber, email_key="c")
    add(filled, Event, identifier="e2", subscriber_id=2)
    with filled.begin() as session:
        session.delete(session.get_one(Subscriber, 1))
    with filled() as session:
        left = [session.scalars(select(table)).all() for table in (Consent, Delivery, Letter)]
        assert left == [[], [], []]
        assert session.scalars(select(Event.identifier)).all() == ["e2"]


def test_a_suppression_outlives_the_event_it_came_from(filled: Sessions) -> None:
    add(filled, Suppression, email_key="c", event_id=1)
    with filled.begin() as session:
        session.execute(delete(Event))
    with filled() as session:
        assert session.scalars(select(Suppression.event_id).where(Suppression.email_key == "c")).one() is None


@pytest.mark.parametrize("table", [Subscriber, Consent])
def test_the_id_of_a_deleted_row_is_never_given_again(filled: Sessions, table: type[Table]) -> None:
    """Ids stand in signed links that outlive the rows."""
    changes = {"email_key": "c"} if table is Subscriber else {}

    def newest(session: Session) -> int:
        return int(session.scalar(text(f"SELECT max(id) FROM {table.__tablename__}")) or 0)  # noqa: S608 - our own table

    add(filled, table, **changes)
    with filled.begin() as session:
        before = newest(session)
        session.execute(text(f"DELETE FROM {table.__tablename__} WHERE id = {before}"))  # noqa: S608 - likewise
    add(filled, table, **changes)
    with filled() as session:
        assert newest(session) > before
