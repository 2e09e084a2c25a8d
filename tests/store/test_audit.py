"""Every check of the audit is silent on a good ledger and speaks up for the fault it is there for."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import insert, text, update
from sqlalchemy.orm import Session

from digest.domain.language import Language
from digest.domain.suppression import SuppressionReason
from digest.store.audit import CHECKS, audit
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
    Subscriber,
    Suppression,
    Table,
)

NOW = datetime(2027, 6, 10, 0, 1, tzinfo=UTC)
SEND = datetime(2027, 6, 10, tzinfo=UTC)
CUT_OFF = SEND - timedelta(minutes=10)
LATER = NOW + timedelta(days=1)
TENTH = date(2027, 6, 10)
EN = Language.ENGLISH


def add(session: Session, table: type[Table], **values: Any) -> None:  # noqa: ANN401 - column values
    session.execute(insert(table).values(values))


@pytest.fixture
def ledger(postgres: Sessions) -> Sessions:
    """A morning that went as it should; the tests of the command look at SQLite."""
    with postgres.begin() as session:
        add(session, CadenceRow, timezone="Asia/Shanghai", send_time=time(8), weekdays=127, created_at=SEND)
        add(
            session,
            Subscriber,
            email="a@example.com",
            email_key="a@example.com",
            state="active",
            languages=EN,
            cadence_id=1,
            created_at=SEND - timedelta(days=2),
            changed_at=SEND - timedelta(days=1),
        )
        proof = {"source": "form", "requested_at": SEND - timedelta(days=2), "confirmed_at": SEND - timedelta(days=2)}
        add(session, Consent, subscriber_id=1, languages=EN, cadence_id=1, **proof)
        add(
            session, Edition, send_at=SEND, on=TENTH, window_start_at=CUT_OFF - timedelta(days=1), window_end_at=CUT_OFF
        )
        add(session, Morning, cadence_id=1, on=TENTH, planned_at=CUT_OFF, closed_at=SEND)
        add(session, Brief, edition_id=1, languages=EN, state="ready", slots={}, story_ids=[])
        add(
            session,
            Batch,
            brief_id=1,
            number=0,
            state="sent",
            sent_at=NOW,
            attempts=1,
            not_before_at=SEND,
            expires_at=SEND + timedelta(hours=4),
        )
        add(session, Delivery, subscriber_id=1, on=TENTH, batch_id=1)
    return postgres


def double(session: Session, table: str) -> None:
    """Every row twice, in a table whose keys were lost, as after a repair by hand."""
    session.execute(text(f"ALTER TABLE {table} RENAME TO kept"))
    session.execute(text(f"CREATE TABLE {table} AS SELECT * FROM kept UNION ALL SELECT * FROM kept"))  # noqa: S608 - our own table


def set_batch(session: Session, **values: Any) -> None:  # noqa: ANN401 - column values
    session.execute(update(Batch).values(values))


def double_event(session: Session) -> None:
    of = {"provider": "smtp", "identifier": "e", "kind": "delivered"}
    add(session, Event, **of, occurred_at=NOW, received_at=NOW)
    double(session, "events")


def left_before(session: Session) -> None:
    session.execute(update(Subscriber).values(state="ended", reason="unsubscribed", changed_at=SEND))


def barred(session: Session) -> None:
    add(session, Suppression, email_key="a@example.com", reason=SuppressionReason.BOUNCED, created_at=LATER)


def barred_before(session: Session) -> None:
    session.execute(update(Subscriber).values(state="ended", reason="bounced", changed_at=LATER))
    add(session, Suppression, email_key="a@example.com", reason=SuppressionReason.BOUNCED, created_at=SEND)


def emptied(session: Session) -> None:
    times = {"not_before_at": SEND, "expires_at": LATER + timedelta(days=1)}
    add(session, Batch, brief_id=1, number=1, state="ready", **times)


def planned_by_wrong_rules(session: Session) -> None:
    """Everything agrees with the edition, and the edition does not agree with the clocks of Shanghai."""
    hour = timedelta(hours=1)
    session.execute(update(Edition).values(send_at=SEND - hour, window_end_at=CUT_OFF - hour))
    set_batch(session, not_before_at=SEND - hour, sent_at=SEND - hour)


def sending_letter(session: Session) -> None:
    of = {"kind": "goodbye", "subscriber_id": 1, "language": EN, "state": "sending", "created_at": SEND}
    add(session, Letter, **of, not_before_at=SEND, lease_until_at=NOW)


def told_too_soon(session: Session) -> None:
    set_batch(session, state="skipped", reason="nothing_new", sent_at=None)
    session.execute(update(Delivery).values(state="sent"))


FAULTS: dict[str, Callable[[Session], object]] = {
    "one delivery per subscriber and local date": partial(double, table="deliveries"),
    "one subscriber per address": partial(double, table="subscribers"),
    "every reader of a closed morning has a delivery": lambda session: session.execute(text("DELETE FROM deliveries")),
    "each event once": double_event,
    "no lease over and unrecovered": partial(set_batch, state="sending", sent_at=None, lease_until_at=NOW),
    "no letter's lease over and unrecovered": sending_letter,
    "every batch past its grace has a definite state": partial(set_batch, state="ready", sent_at=None),
    "nothing handed over before its instant": partial(set_batch, sent_at=SEND - timedelta(seconds=1)),
    "nobody mailed before local time": planned_by_wrong_rules,
    "nothing handed over after its grace": partial(set_batch, sent_at=SEND + timedelta(hours=4, seconds=1)),
    "nothing sent that nobody claimed": partial(set_batch, attempts=0),
    "nobody mailed after leaving": left_before,
    "nobody mailed after being barred": barred_before,
    "nobody barred is subscribed": barred,
    "nobody subscribed without consent": lambda session: session.execute(update(Consent).values(confirmed_at=None)),
    "no batch ahead of its brief": lambda session: session.execute(update(Brief).values(state="planned")),
    "no open batch without deliveries": emptied,
    "no outcome of a delivery before its hand-over": told_too_soon,
    "a delivery's date is its edition's": lambda session: session.execute(update(Edition).values(on=date(2027, 6, 11))),
}
ALSO = {"nothing handed over before its instant": {"nobody mailed before local time"}}
"""What else a fault breaks."""
IMPOSSIBLE = {"no batch sending without a lease", "every delivery has its batch"}
"""What a constraint of the table rules out here; planted without constraints in the tests of the command."""


def test_a_good_ledger_passes(ledger: Sessions) -> None:
    with ledger() as session:
        assert [check for check in audit(session, LATER) if not check.ok] == []


def test_every_check_has_a_fault_planted_for_it() -> None:
    assert set(FAULTS) | IMPOSSIBLE == set(CHECKS)


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_a_check_finds_its_fault(ledger: Sessions, name: str) -> None:
    with ledger.begin() as session:
        FAULTS[name](session)
    with ledger() as session:
        found = {check.name for check in audit(session, LATER) if not check.ok}
    assert found == {name} | ALSO.get(name, set())
