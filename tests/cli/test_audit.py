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
OPEN = "UPDATE batches SET state = 'ready', sent_at = NULL, expires_at = '{}';"
SENDING, EMPTY = "UPDATE batches SET state = 'sending';", "DELETE FROM deliveries;"
EVENT = "INSERT INTO events (provider, identifier, kind, occurred_at, received_at, detail, raw) VALUES ({});"
BOUNCED = EVENT.format("'sendgrid', 'e1', 'bounced', '2026-12-03 00:00:01', '2026-12-03 00:00:02', '', ''")

FAULTS = {
    "one delivery per subscriber and local date": LOOSE.format(table="deliveries")
    + COPY.format(table="deliveries", change=""),
    "one subscriber per address": LOOSE.format(table="subscribers")
    + COPY.format(table="subscribers", change="UPDATE copy SET id = id + 100;"),
    "no batch sending without a lease": LOOSE.format(table="batches") + SENDING,
    "no lease over and unrecovered": "UPDATE batches SET state = 'sending', lease_until_at = '2026-12-01 00:00:00';",
    "every batch past its grace has a definite state": OPEN.format("2026-12-01 00:00:00"),
    "nothing handed over before its instant": "UPDATE batches SET sent_at = '2026-12-01 23:59:59.999';",
    "nobody mailed after leaving": (
        "UPDATE subscribers SET state = 'ended', reason = 'unsubscribed', changed_at = '2026-12-01 23:59:59';"
    ),
    "nobody barred is subscribed": (
        "INSERT INTO suppressions (email_key, reason, created_at)"
        " VALUES ('reader@example.com', 'complained', '2026-12-01 00:00:00');"
    ),
    "no batch ahead of its brief": "UPDATE briefs SET state = 'planned';",
    "no open batch without deliveries": OPEN.format("2027-01-01 00:00:00") + EMPTY,
    "a delivery's date is its edition's": "UPDATE deliveries SET local_on = '2026-12-05';",
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
