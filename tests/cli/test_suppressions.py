"""The provider's suppression lists and erasures, through the real client against SendGrid's double."""

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import time_machine

from digest.cli.context import application
from digest.steps.mirror_suppressions import mirror_if_time
from digest.steps.pass_on_erasures import PassedOn, pass_on_erasures
from tests.cli.terminal import Terminal
from tests.doubles.sendgrid import KEY, Answer, SendGridDouble

AFTER = int(datetime(2026, 12, 2, 2, 0, tzinfo=UTC).timestamp())


@pytest.fixture
def sendgrid(terminal: Terminal) -> Iterator[SendGridDouble]:
    with SendGridDouble() as double:
        terminal.set(
            sender="Brief <brief@example.com>", provider="sendgrid", sendgrid_api_key=KEY, sendgrid_host=double.host
        )
        yield double


def states(terminal: Terminal) -> dict[str, tuple[str, ...]]:
    rows = csv.DictReader(io.StringIO(terminal.done("subscribers", "export")))
    return {row["email"].partition("@")[0]: (row["status"], row["reason"], row["suppressed"]) for row in rows}


def test_the_provider_s_lists_end_our_readers_as_its_events_would_and_strangers_are_not_kept(
    terminal: Terminal, sendgrid: SendGridDouble
) -> None:
    names = ("bounced", "Invalid", "spam", "left", "blocked", "well")
    terminal.readers(*(f"{name}@example.com,en,UTC,,,,active,form" for name in names))
    records = sendgrid.records
    records.hold("bounces", "bounced@example.com", AFTER, reason="550 5.1.1 unknown", status="5.1.1")
    records.hold("invalid_emails", "invalid@example.com", AFTER, reason="Mail domain mentioned is unknown")
    records.hold("spam_reports", "SPAM@example.com", AFTER, ip="192.0.2.1")
    records.hold("unsubscribes", "left@example.com", AFTER)
    records.hold("blocks", "blocked@example.com", AFTER, reason="450 4.7.1 later", status="4.7.1")
    for number in range(501):
        records.hold("bounces", f"stranger{number}@example.com", AFTER - 1, reason="550", status="5.1.1")

    found = terminal.read("suppressions", "mirror")

    assert (found["held"], found["ours"], found["new"], found["let_go"]) == (505, 4, 4, 0)
    assert states(terminal) == {
        "bounced": ("ended", "bounced", "bounced"),
        "Invalid": ("ended", "bounced", "bounced"),
        "spam": ("ended", "complained", "complained"),
        "left": ("ended", "unsubscribed", ""),
        "blocked": ("active", "", ""),
        "well": ("active", "", ""),
    }
    assert terminal.read("suppressions", "mirror")["new"] == 0
    assert terminal.read("audit")["ok"]


def test_who_confirmed_after_the_fact_is_let_go_at_the_provider_but_never_after_a_complaint(
    terminal: Terminal, sendgrid: SendGridDouble
) -> None:
    terminal.readers(*(f"{name}@example.com,en,UTC,,,,active,form" for name in ("back", "again", "spam")))
    terminal.sql("UPDATE subscribers SET active_from_at = '2026-12-02 02:30:00'")
    sendgrid.records.hold("bounces", "back@example.com", AFTER, reason="550", status="5.1.1")
    sendgrid.records.hold("unsubscribes", "again@example.com", AFTER)
    sendgrid.records.hold("spam_reports", "spam@example.com", AFTER, ip="192.0.2.1")

    assert terminal.read("suppressions", "mirror")["let_go"] == 2

    assert {book: list(entries) for book, entries in sendgrid.records.books.items() if entries} == {
        "spam_reports": ["spam@example.com"]
    }
    assert {name: state[0] for name, state in states(terminal).items()} == {
        "back": "active",
        "again": "active",
        "spam": "ended",
    }


def test_an_erasure_is_passed_on_and_the_address_is_then_nowhere(terminal: Terminal, sendgrid: SendGridDouble) -> None:
    terminal.readers("reader@example.com,en,UTC,,,,active,form")
    erased = terminal.read("subscribers", "erase", "Reader@EXAMPLE.com")
    assert erased == {"erased": True, "at_provider": {"taken": 1, "refused": 0, "waiting": 0}}
    assert sendgrid.records.erased == [["reader@example.com"]]
    terminal.sql("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
    content = b"".join(path.read_bytes() for path in terminal.folder.glob("digest.db*"))
    assert b"reader@" not in content.lower()


def test_an_erasure_waits_for_a_provider_that_is_away_and_one_bad_address_holds_up_no_other(
    terminal: Terminal, sendgrid: SendGridDouble, clock: time_machine.Traveller
) -> None:
    terminal.readers("a@example.com,en,UTC,,,,active,form", "b@example.com,en,UTC,,,,active,form")
    busy = Answer(429, headers={"Retry-After": "1200"}, errors=[{"message": "too many requests", "field": None}])
    sendgrid.script.extend([busy, Answer(drop="before"), Answer(500)])
    for address, fault in (("a@example.com", "429 too many requests"), ("b@example.com", "sendgrid: ")):
        ended = terminal("subscribers", "erase", address)
        assert (ended.code, ended.out) == (0, "Erased.\n")
        assert fault in ended.err
        assert "@" not in ended.err
    assert terminal("subscribers", "erase", "no address").code == 1
    with application() as app:
        account = app.account()
        assert account is not None
        assert pass_on_erasures(app.sessions, account, datetime.now(UTC)) == PassedOn()
        clock.move_to("2026-12-02T04:00:00Z")
        found = pass_on_erasures(app.sessions, account, datetime.now(UTC))
        account.close()
    assert (found.taken, found.refused, found.waiting) == (2, 1, 0), found.fault
    assert sendgrid.records.erased == [["a@example.com", "b@example.com"]]


def test_mirroring_is_done_once_a_day_and_again_at_once_after_a_fault(
    terminal: Terminal, sendgrid: SendGridDouble, clock: time_machine.Traveller
) -> None:
    terminal.readers("reader@example.com,en,UTC,,,,active,form")
    sendgrid.script.append(Answer(500, errors=[{"message": "oh", "field": None}]))
    assert "500 oh" in terminal.refused("suppressions", "mirror", code=1)
    with application() as app:
        account = app.account()
        assert account is not None
        first = mirror_if_time(app.sessions, account, datetime.now(UTC))
        assert first is not None
        assert mirror_if_time(app.sessions, account, datetime.now(UTC)) is None
        clock.shift(86_400)
        assert mirror_if_time(app.sessions, account, datetime.now(UTC)) is not None
        account.close()
    terminal.set(sendgrid_api_key="SG.wrong")
    assert "401" in terminal.refused("suppressions", "mirror", code=1)


def test_a_provider_that_keeps_no_records_is_named(terminal: Terminal) -> None:
    assert "outbox" in terminal.refused("suppressions", "mirror")
