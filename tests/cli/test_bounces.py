"""``digest bounces read`` over a Maildir, a file and a pipe."""

import io
import sys
from pathlib import Path

import pytest

from digest.links import Links
from digest.providers.return_path import ReturnPath
from tests.cli.terminal import Terminal

KEYS = ["a-test-key-of-enough-length"]
PATH = ReturnPath("bounces@example.com", Links("https://brief.example.com", KEYS))


def report(to: str, status: str = "5.1.1") -> bytes:
    return (
        f"To: {to}\nDate: Wed, 02 Dec 2026 01:00:00 +0000\nMIME-Version: 1.0\n"
        'Content-Type: multipart/report; report-type=delivery-status; boundary="x"\n\n'
        "--x\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; relay.example.com\n\n"
        f"Final-Recipient: rfc822; reader@example.com\nAction: failed\nStatus: {status}\n\n--x--\n"
    ).encode()


@pytest.fixture
def desk(terminal: Terminal) -> Terminal:
    """One active reader, and a mailbox for bounces."""
    terminal.set(bounce_address="bounces@example.com")
    list_of_one = "email,status,consent_source\nreader@example.com,active,form\n"
    terminal.done("subscribers", "import", terminal.write("list.csv", list_of_one))
    return terminal


def maildir(folder: Path, **messages: bytes) -> Path:
    for name in ("new", "cur", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, source in messages.items():
        (folder / "new" / name).write_bytes(source)
    return folder


def test_a_maildir_is_read_once_and_put_away(desk: Terminal, tmp_path: Path) -> None:
    box = maildir(
        tmp_path / "box",
        a=report(PATH.for_key("1-20261202")),
        b=report("bounces@example.com"),
        c=report(PATH.for_key("999-20261202")),
    )
    found = desk.read("bounces", "read", box)
    assert found == {
        "read": 3,
        "ignored": 1,
        "new": 2,
        "known": 0,
        "strangers": 1,
        "faults": 0,
        "kinds": {"bounced": 2},
    }
    assert sorted(path.name for path in (box / "cur").iterdir()) == ["a:2,S", "b:2,S", "c:2,S"]
    assert list((box / "new").iterdir()) == []
    assert desk.read("subscribers", "show", "reader@example.com")["reason"] == "bounced"
    assert desk.read("bounces", "read", box)["read"] == 0


def test_a_run_killed_before_a_message_was_put_away_counts_it_once(desk: Terminal, tmp_path: Path) -> None:
    box = maildir(tmp_path / "box", a=report(PATH.for_key("1-20261202")))
    desk.read("bounces", "read", box / "new" / "a")
    assert desk.read("bounces", "read", box)["known"] == 1


def test_one_message_comes_on_standard_input(desk: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    source = io.TextIOWrapper(io.BytesIO(report(PATH.for_key("1-20261202"), "5.2.2")))
    monkeypatch.setattr(sys, "stdin", source)
    assert desk.read("bounces", "read", "-")["kinds"] == {"soft_bounced": 1}
    assert desk.read("subscribers", "show", "reader@example.com")["status"] == "active"


def test_without_a_bounce_address_nothing_can_be_ours(terminal: Terminal, tmp_path: Path) -> None:
    box = maildir(tmp_path / "box", a=report(PATH.for_key("1-20261202")))
    assert terminal.refused("bounces", "read", box).startswith("DIGEST_BOUNCE_ADDRESS: ")
    assert (box / "new" / "a").exists()


def test_a_folder_that_is_no_maildir_is_refused(desk: Terminal, tmp_path: Path) -> None:
    assert "Maildir" in desk.refused("bounces", "read", tmp_path)


def test_the_operator_readmits_and_says_why(desk: Terminal, tmp_path: Path) -> None:
    desk.read("bounces", "read", maildir(tmp_path / "box", a=report(PATH.for_key("1-20261202"))))
    assert desk.read("subscribers", "readmit", "Reader@example.com", "--because", "mailbox is back") == {
        "barred": False,
        "was": "bounced",
    }
    desk.refused("subscribers", "readmit", "reader@example.com", "--because", "again", code=1)
    assert desk.read("subscribers", "show", "reader@example.com")["status"] == "ended"
