"""Every invariant is broken on purpose, behind the program's back, and each time the audit names it."""

import re

import pytest
import time_machine

from digest.store.audit import CHECKS
from tests.cli.conftest import NOW
from tests.cli.terminal import Terminal

COPY = "CREATE TEMP TABLE copy AS SELECT * FROM {table}; {change} INSERT INTO {table} SELECT * FROM copy;"
LOOSE = "CREATE TABLE loose AS SELECT * FROM {table}; DROP TABLE {table}; ALTER TABLE loose RENAME TO {table};"
"""Without its constraints a table holds what they keep out."""
OPEN = "UPDATE batches SET state = 'ready', sent_at = NULL, expires_at = '2026-12-01 00:00:00';"
SENDING = "UPDATE batches SET state = 'sending';"
EMPTY = COPY.format(
    table="batches",
    change="UPDATE copy SET id = 100, state = 'ready', sent_at = NULL, expires_at = '2027-01-01 00:00:00';",
)
LEFT = "UPDATE subscribers SET state = 'ended', reason = 'bounced', changed_at = '2026-12-02 02:00:00';"
BARRED = "INSERT INTO suppressions (email_key, reason, created_at) VALUES ('reader@example.com', 'bounced', '{}');"
LETTER = (
    "INSERT INTO letters"
    " (kind, subscriber_id, language, state, created_at, not_before_at, lease_until_at, attempts, detail)"
    " VALUES ('goodbye', 1, 'en', 'sending', '2026-12-01', '2026-12-01', '2026-12-01', 1, '');"
)
AN_HOUR_BEFORE = (
    "UPDATE editions SET send_at = '2026-12-01 23:00:00', window_end_at = '2026-12-01 22:50:00';"
    "UPDATE batches SET not_before_at = '2026-12-01 23:00:00', sent_at = '2026-12-01 23:00:01';"
)
EVENT = "INSERT INTO events (provider, identifier, kind, occurred_at, received_at, detail, raw) VALUES ({});"
BOUNCED = EVENT.format("'sendgrid', 'e1', 'bounced', '2026-12-03 00:00:01', '2026-12-03 00:00:02', '', ''")

FAULTS = {
    "one delivery per subscriber and local date": LOOSE.format(table="deliveries")
    + COPY.format(table="deliveries", change=""),
    "one subscriber per address": LOOSE.format(table="subscribers")
    + COPY.format(table="subscribers", change="UPDATE copy SET id = id + 100, state = 'ended', reason = 'imported';"),
    "no batch sending without a lease": LOOSE.format(table="batches") + SENDING,
    "every delivery has its batch": "UPDATE deliveries SET batch_id = 100;",
    "every reader of a closed morning has a delivery": "DELETE FROM deliveries;",
    "no lease over and unrecovered": "UPDATE batches SET state = 'sending', lease_until_at = '2026-12-01 00:00:00';",
    "no letter's lease over and unrecovered": LETTER,
    "every batch past its grace has a definite state": OPEN,
    "nothing handed over before its instant": "UPDATE editions SET send_at = '2026-12-02 00:00:01';",
    "nobody mailed before local time": AN_HOUR_BEFORE,
    "nothing handed over after its grace": "UPDATE batches SET expires_at = '2026-12-01 00:00:00';",
    "nothing sent that nobody claimed": "UPDATE batches SET attempts = 0;",
    "nobody mailed after leaving": (
        "UPDATE subscribers SET state = 'ended', reason = 'unsubscribed', changed_at = '2026-12-01 23:59:59';"
    ),
    "nobody mailed after being barred": LEFT + BARRED.format("2026-12-01 00:00:00"),
    "nobody barred is subscribed": BARRED.format("2026-12-02 01:00:00"),
    "nobody subscribed without consent": "DELETE FROM consents;",
    "no batch ahead of its brief": "UPDATE briefs SET state = 'planned';",
    "no open batch without deliveries": EMPTY,
    "no outcome of a delivery before its hand-over": (
        "UPDATE batches SET state = 'skipped', reason = 'nothing_new', sent_at = NULL;"
        "UPDATE deliveries SET state = 'sent';"
    ),
    "a delivery's date is its edition's": "UPDATE editions SET local_on = '2026-12-05';",
    "each event once": LOOSE.format(table="events") + BOUNCED + BOUNCED,
}


@pytest.fixture
def morning(terminal: Terminal, clock: time_machine.Traveller) -> Terminal:
    """A morning that went well: 08:00 in Shanghai on 2 December."""
    clock.move_to("2026-12-01T12:00:00Z")
    terminal.readers("Reader@example.com,en,Asia/Shanghai,,,,active,paper form")
    terminal.stories(terminal.story("Chips", "2026-12-01T02:00:00Z"))
    clock.move_to("2026-12-02T00:00:00Z")
    assert terminal.read("tick")["sent"] == 1
    clock.move_to(NOW)
    return terminal


def broken(terminal: Terminal, code: int) -> dict[str, int]:
    report = terminal.read("audit", code=code)
    assert set(report) == {"ok", "checks"}
    assert [check["name"] for check in report["checks"]] == list(CHECKS)
    assert all(check["ok"] == (check["found"] == 0) for check in report["checks"])
    found = {check["name"]: check["found"] for check in report["checks"] if not check["ok"]}
    assert report["ok"] == (not found)
    return found


def test_an_empty_database_holds(either_terminal: Terminal) -> None:
    assert broken(either_terminal, code=0) == {}


def test_a_morning_that_went_well_holds(morning: Terminal) -> None:
    assert broken(morning, code=0) == {}
    assert "BROKEN" not in morning.done("audit")


def test_every_check_has_a_fault_that_breaks_it() -> None:
    assert set(FAULTS) == set(CHECKS)


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_invariant_is_named_with_exit_1(morning: Terminal, name: str) -> None:
    morning.sql(FAULTS[name])
    found = broken(morning, code=1)
    assert found[name] == 1
    assert set(found) == {name}
    ended = morning("audit")
    assert (ended.code, len(re.findall("BROKEN", ended.out))) == (1, 1)
