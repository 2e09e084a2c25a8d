from email import message_from_bytes
from email.policy import SMTP
from pathlib import Path

import pytest
import time_machine

from tests.cli.conftest import NOW
from tests.cli.terminal import Terminal

AT = "2026-12-02T02:00:00Z"


@pytest.fixture
def stocked(terminal: Terminal, clock: time_machine.Traveller) -> Terminal:
    """A story of 30 November and one of 2 December."""
    clock.move_to("2026-11-30T02:00:00Z")
    terminal.stories(terminal.story("Old", "2026-11-30T02:00:00Z"))
    clock.move_to(AT)
    terminal.stories(terminal.story("Chips", AT))
    clock.move_to(NOW)
    return terminal


@pytest.mark.parametrize(("language", "title", "leave"), [("en", "Chips", "Unsubscribe"), ("zh", "Chips 中文", "退订")])
def test_a_preview_is_three_files_and_a_message_as_the_standard_has_it(
    stocked: Terminal, language: str, title: str, leave: str
) -> None:
    out = stocked.folder / "preview"
    said = stocked.done(
        "brief", "preview", "--no-sheet", "--language", language, "--timezone", "Asia/Shanghai", "--out", out
    )
    assert said.startswith("1 stories: ")
    assert sorted(path.name for path in out.iterdir()) == ["brief.eml", "brief.html", "brief.txt"]
    html, text = ((out / name).read_text(encoding="utf-8") for name in ("brief.html", "brief.txt"))
    message = message_from_bytes((out / "brief.eml").read_bytes(), policy=SMTP)
    assert message.defects == []
    assert all(not part.defects for part in message.walk())
    assert (message["To"], message["Date"].datetime.isoformat()) == (
        "reader@example.com",
        "2026-12-03T00:00:00+00:00",
    )
    assert title in str(message["Subject"])
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    bodies = [message.get_body((kind,)) for kind in ("html", "plain")]
    for body, kept in zip(bodies, (html, text), strict=True):
        assert body is not None
        assert title in kept
        assert leave in kept
        assert body.get_content().replace("\r\n", "\n").rstrip() == kept.rstrip()


def test_before_eight_the_preview_is_todays_and_after_it_tomorrows(stocked: Terminal) -> None:
    for zone, on in (("America/New_York", "2026-12-02"), ("Asia/Shanghai", "2026-12-03")):
        out = stocked.folder / on
        stocked.done("brief", "preview", "--no-sheet", "--timezone", zone, "--out", out)
        date = message_from_bytes((out / "brief.eml").read_bytes(), policy=SMTP)["Date"].datetime
        assert date.date().isoformat() == ("2026-12-02" if zone == "America/New_York" else "2026-12-03")


def test_a_preview_of_a_date_holds_that_dates_stories(stocked: Terminal) -> None:
    out = stocked.folder / "preview"
    stocked.done("brief", "preview", "--no-sheet", "--timezone", "UTC", "--date", "2026-11-30", "--out", out)
    text = (out / "brief.txt").read_text(encoding="utf-8")
    assert "Old" in text
    assert "Chips" not in text


@pytest.mark.parametrize(
    ("arguments", "value", "code"),
    [
        (["--language", "fr"], "“fr”", 2),
        (["--timezone", "Mars"], "“Mars”", 2),
        (["--date", "someday"], "“someday”", 2),
        (["--timezone", "Pacific/Apia", "--date", "2011-12-30"], "“2011-12-30”", 2),
        (["--date", "2026-01-05"], "2026-01-05", 1),
    ],
)
def test_a_preview_that_cannot_be_is_one_line_and_writes_nothing(
    stocked: Terminal, arguments: list[str], value: str, code: int
) -> None:
    assert value in stocked.refused("brief", "preview", "--no-sheet", "--out", "preview", *arguments, code=code)
    assert not Path("preview").exists()


def test_a_preview_mails_nobody_and_records_nothing(stocked: Terminal) -> None:
    stocked.done("brief", "preview", "--no-sheet", "--out", "preview")
    assert stocked.read("deliveries", "list") == []
    assert not (stocked.folder / "outbox").exists()


def test_todays_brief_goes_to_one_reader_once(either_terminal: Terminal, clock: time_machine.Traveller) -> None:
    terminal = either_terminal
    terminal.stories(terminal.story("Chips", AT))
    clock.shift(1)
    terminal.readers(*(f"{name}@example.com,zh,Asia/Shanghai,,,,active,paper form" for name in "ab"))
    assert terminal.done("brief", "send", "A@example.com") == "Today's brief: sent.\n"
    (file,) = (terminal.folder / "outbox").glob("*.eml")
    message = message_from_bytes(file.read_bytes(), policy=SMTP)
    assert message["To"] == "a@example.com"
    assert "Chips 中文" in str(message["Subject"])
    assert "2026-12-02" in terminal.refused("brief", "send", "a@example.com", code=1)
    (row,) = terminal.read("deliveries", "list")
    assert (row["email"], row["date"], row["status"]) == ("a@example.com", "2026-12-02", "sent")


def test_without_anything_new_there_is_no_brief_to_send(terminal: Terminal) -> None:
    terminal.readers("a@example.com,en,UTC,,,,active,paper form")
    assert "nothing_new" in terminal.done("brief", "send", "a@example.com")
    assert not (terminal.folder / "outbox").exists()


@pytest.mark.parametrize("address", ["nobody@example.com", "gone@example.com", "pending@example.com"])
def test_only_an_active_reader_is_sent_to(terminal: Terminal, address: str) -> None:
    terminal.readers("gone@example.com,en,UTC,,,,ended,", "pending@example.com,en,UTC,,,,,")
    assert address in terminal.refused("brief", "send", address, code=1)
