from datetime import timedelta
from email import message_from_bytes
from email.policy import SMTP
from typing import Any

import pytest
import time_machine

from tests.cli.terminal import Terminal

SEND_AT = "2026-12-03T00:00:00Z"
NOTHING = {
    "editions": [],
    "planned": 0,
    "sent": 0,
    "skipped": {},
    "failed": 0,
    "unknown": 0,
    "letters": 0,
    "delayed": {},
    "unknown_zones": [],
}


def shanghai(terminal: Terminal, *addresses: str) -> None:
    terminal.readers(*(f"{address},zh,Asia/Shanghai,,,,active,paper form" for address in addresses))
    terminal.stories(terminal.story("Chips", "2026-12-02T02:00:00Z"))


def tick(terminal: Terminal, now: str = SEND_AT) -> dict[str, Any]:
    turn: dict[str, Any] = terminal.read("tick", "--now", now)
    return turn


def ledger(terminal: Terminal, *options: str) -> list[tuple[str, str, str, str | None]]:
    rows = terminal.read("deliveries", "list", *options)
    return [(row["email"], row["date"], row["status"], row["reason"]) for row in rows]


def test_nothing_due_is_a_turn_too(either_terminal: Terminal) -> None:
    assert either_terminal.read("tick") == {"now": "2026-12-02T03:00:00Z", **NOTHING}


def test_what_became_due_leaves_at_its_instant_once(either_terminal: Terminal) -> None:
    terminal = either_terminal
    shanghai(terminal, "a@example.com", "b@example.com")
    ahead = tick(terminal, "2026-12-02T23:59:59Z")
    assert (ahead["planned"], ahead["sent"]) == (2, 0)
    turn = tick(terminal)
    assert turn == {"now": SEND_AT, **NOTHING, "sent": 2}
    assert tick(terminal) == {"now": SEND_AT, **NOTHING}
    assert ledger(terminal) == [(f"{name}@example.com", "2026-12-03", "sent", None) for name in "ab"]
    messages = [message_from_bytes(file.read_bytes(), policy=SMTP) for file in terminal.folder.glob("outbox/*.eml")]
    assert sorted(message["To"] for message in messages) == ["a@example.com", "b@example.com"]
    assert {"Chips 中文" in str(message["Subject"]) for message in messages} == {True}


def test_a_turn_that_comes_late_does_it_all_at_once_and_says_what_it_planned(terminal: Terminal) -> None:
    shanghai(terminal, "a@example.com")
    turn = tick(terminal, "2026-12-03T02:00:00+00:00")
    assert turn["editions"]
    assert (turn["planned"], turn["sent"]) == (1, 1)


def test_an_instant_may_carry_any_offset_and_none_means_utc(terminal: Terminal) -> None:
    for text in ("2026-12-03T08:00:00+08:00", "2026-12-03T00:00:00"):
        assert tick(terminal, text)["now"] == SEND_AT


def test_after_the_grace_a_morning_is_missed_and_counted(terminal: Terminal) -> None:
    shanghai(terminal, "a@example.com")
    assert tick(terminal, "2026-12-03T04:00:01Z")["skipped"] == {"missed": 1}
    assert ledger(terminal) == [("a@example.com", "2026-12-03", "skipped", "missed")]


def test_nothing_new_is_skipped_and_counted(terminal: Terminal) -> None:
    terminal.readers("a@example.com,en,Asia/Shanghai,,,,active,paper form")
    assert tick(terminal)["skipped"] == {"nothing_new": 1}
    assert ledger(terminal) == [("a@example.com", "2026-12-03", "skipped", "nothing_new")]


def test_people_get_a_table_of_the_turn(terminal: Terminal) -> None:
    assert "planned" in terminal.done("tick")


@pytest.mark.parametrize("value", ["tomorrow", "2026-13-01", "08:00"])
def test_an_instant_that_is_none_is_bad_input(terminal: Terminal, value: str) -> None:
    assert f"“{value}”" in terminal.refused("tick", "--now", value)


def test_the_ledger_is_asked_by_status_address_and_date(terminal: Terminal) -> None:
    shanghai(terminal, "a@example.com", "b@example.com")
    tick(terminal)
    tick(terminal, "2026-12-04T00:00:00Z")
    assert len(ledger(terminal)) == 4
    assert ledger(terminal, "--limit", "1")[0][1] == "2026-12-04"
    assert {row[2] for row in ledger(terminal, "--status", "sent")} == {"sent"}
    assert ledger(terminal, "--email", "A@example.com", "--date", "2026-12-03") == [
        ("a@example.com", "2026-12-03", "sent", None)
    ]
    assert ledger(terminal, "--status", "unknown") == []
    (row, *_) = terminal.read("deliveries", "list", "--date", "2026-12-03")
    assert set(row) >= {"email", "date", "status", "reason", "batch"}
    assert "a@example.com" in terminal.done("deliveries", "list")


@pytest.mark.parametrize(
    ("option", "value"), [("--status", "posted"), ("--date", "today"), ("--date", "2026-02-30"), ("--limit", "0")]
)
def test_a_question_that_makes_no_sense_is_bad_input(terminal: Terminal, option: str, value: str) -> None:
    assert f"“{value}”" in terminal.refused("deliveries", "list", option, value)


def test_pause_holds_every_hand_over_until_resume(either_terminal: Terminal) -> None:
    terminal = either_terminal
    shanghai(terminal, "a@example.com")
    assert "digest deliveries resume" in terminal.done("deliveries", "pause")
    assert tick(terminal)["sent"] == 0
    assert ledger(terminal) == [("a@example.com", "2026-12-03", "ready", None)]
    terminal.done("deliveries", "resume")
    assert tick(terminal)["sent"] == 1


def test_what_was_held_beyond_the_grace_is_late_and_goes_on_the_operators_word(
    either_terminal: Terminal, clock: time_machine.Traveller
) -> None:
    terminal = either_terminal
    shanghai(terminal, "a@example.com")
    terminal.done("deliveries", "pause")
    tick(terminal)
    terminal.done("deliveries", "resume")
    clock.move_to("2026-12-03T05:00:00Z")
    assert terminal.read("tick")["sent"] == 0
    (row,) = terminal.read("deliveries", "list")
    assert (row["status"], row["reason"]) == ("skipped", "late")
    terminal.done("deliveries", "retry", row["batch"])
    assert terminal.read("tick")["sent"] == 1
    line = terminal.refused("deliveries", "retry", row["batch"], code=1)
    assert "nothing was changed" in line


def test_of_several_batches_to_retry_one_wrong_one_changes_none(
    terminal: Terminal, clock: time_machine.Traveller
) -> None:
    shanghai(terminal, "a@example.com")
    terminal.done("deliveries", "pause")
    tick(terminal)
    clock.shift(timedelta(days=1, hours=3))
    terminal.read("tick")
    batch = terminal.read("deliveries", "list", "--date", "2026-12-03")[0]["batch"]
    assert "batch 999" in terminal.refused("deliveries", "retry", batch, "999", code=1)
    assert ledger(terminal, "--date", "2026-12-03")[0][3] == "late"


def test_an_outbox_that_cannot_be_written_stops_the_sending_and_says_so(terminal: Terminal) -> None:
    shanghai(terminal, "a@example.com")
    terminal.set(outbox_dir=terminal.write("a-file", "in the way"))
    ended = terminal("tick", "--now", SEND_AT, "--json")
    assert ended.code == 0
    assert ended.err.startswith("sending stopped: outbox")
    assert "digest deliveries resume" in ended.err
    assert ledger(terminal)[0][2:] == ("ready", None)


@pytest.mark.parametrize("now", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_an_instant_beyond_the_rules_of_time_zones_is_refused(terminal: Terminal, now: str) -> None:
    assert now in terminal.refused("tick", "--now", now)


def test_an_id_that_no_batch_can_have_is_refused(terminal: Terminal) -> None:
    assert "99999999999999999999" in terminal.refused("deliveries", "retry", "99999999999999999999")
