import csv
import io
from pathlib import Path
from typing import Any

import pytest
import time_machine

from digest.steps.import_subscribers import COLUMNS
from tests.cli.terminal import Terminal

SHANGHAI = "{},zh,Asia/Shanghai,08:00,,,active,paper form"


def imported(terminal: Terminal, content: str | bytes) -> dict[str, Any]:
    report: dict[str, Any] = terminal.read("subscribers", "import", terminal.write("list.csv", content))
    return report


def shown(terminal: Terminal, address: str) -> dict[str, Any]:
    record: dict[str, Any] = terminal.read("subscribers", "show", address)
    return record


def letters(terminal: Terminal) -> list[Path]:
    terminal.read("tick")
    return sorted((terminal.folder / "outbox").glob("*.eml"))


def test_a_list_from_a_spreadsheet_starts_with_a_byte_order_mark(either_terminal: Terminal) -> None:
    content = "email,name,timezone,language\r\nli@example.com,李雷,Asia/Shanghai,zh\r\nann@example.com,Ann,,\r\n"
    report = imported(either_terminal, content.encode("utf-8-sig"))
    expected = {"imported": 2, "known": 0, "duplicates": 0, "suppressed": 0, "by_status": {"pending": 2}, "errors": []}
    assert report | expected == report
    assert shown(either_terminal, "ann@example.com")["timezone"] == "UTC"


def test_a_new_reader_is_pending_and_asked(terminal: Terminal) -> None:
    imported(terminal, "email\nreader@example.com\n")
    assert shown(terminal, "reader@example.com")["status"] == "pending"
    assert len(letters(terminal)) == 1


def test_an_active_reader_is_not_written_to_at_once(terminal: Terminal) -> None:
    terminal.readers(SHANGHAI.format("reader@example.com"))
    assert letters(terminal) == []


def test_repeated_rows_are_one_reader_and_a_second_import_adds_none(terminal: Terminal) -> None:
    content = "email,name\nann@example.com,Ann\nANN@example.com,Ann B\nbo@example.com,\nbo@example.com ,Bo\n"
    report = imported(terminal, content)
    assert (report["imported"], report["duplicates"]) == (2, 2)
    report = imported(terminal, content)
    assert (report["imported"], report["known"], report["duplicates"]) == (0, 4, 0)
    assert terminal.read("subscribers", "stats") == {"pending": 2}


def test_blank_lines_padding_and_odd_headings_do_no_harm(terminal: Terminal) -> None:
    heading, last = ' Email ,"Name" , TimeZone ', "bo@example.com,Bo,Asia/Kolkata"
    rows = ["  li@example.com , 李雷 ,Asia/Shanghai", "", "", 'ann@example.com,"A\nB",', ",,"]
    content = "\n".join([heading, *rows, last])
    report = imported(terminal, content)
    assert (report["imported"], report["errors"]) == (3, [])
    assert shown(terminal, "li@example.com")["timezone"] == "Asia/Shanghai"


def test_a_row_that_cannot_be_used_is_reported_with_its_number_and_stops_no_other(either_terminal: Terminal) -> None:
    rows = [
        ",".join(COLUMNS),
        "good@example.com,en,Europe/Berlin,07:30,weekdays,chips;models,,",
        "not an address,,,,,,,",
        "a@example.com,,Europe/Berlim,,,,,",
        "b@example.com,,,8am,,,,",
        "c@example.com,,,,someday,,,",
        "d@example.com,fr,,,,,,",
        "e@example.com,,,,,,subscribed,",
        "f@example.com,,,,,,active,",
    ]
    report = imported(either_terminal, "\n".join(rows))
    assert report["imported"] == 1
    assert [fault["row"] for fault in report["errors"]] == [3, 4, 5, 6, 7, 8, 9]
    values = ["not an address", "Europe/Berlim", "8am", "someday", "fr", "subscribed", "consent_source"]
    for fault, value in zip(report["errors"], values, strict=True):
        assert value in fault["error"]
    assert either_terminal.read("subscribers", "stats") == {"pending": 1}


def test_people_read_the_rows_on_standard_error(terminal: Terminal) -> None:
    path = terminal.write("list.csv", "email\ngood@example.com\nbad\n")
    ended = terminal("subscribers", "import", path)
    assert (ended.code, ended.out.startswith("1 imported")) == (0, True)
    assert ended.err.startswith("digest: row 3: email: “bad”")


def test_a_list_without_one_usable_row_is_bad_input(terminal: Terminal) -> None:
    ended = terminal("subscribers", "import", terminal.write("list.csv", "email\nbad\n"))
    assert ended.code == 2
    assert ended.err.splitlines() == [ended.err.strip()]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("name,zone\nAnn,UTC\n", "no column email"),
        ("", "no column email"),
        ("姓名,电话\n李雷,1\n".encode("gbk"), "“姓名”, “电话”"),
    ],
)
def test_a_file_that_is_no_list_is_one_line(terminal: Terminal, content: str | bytes, words: str) -> None:
    line = terminal.refused("subscribers", "import", terminal.write("list.csv", content))
    assert words in line
    assert "list.csv" in line


def test_who_left_is_never_revived_by_an_import(terminal: Terminal) -> None:
    terminal.readers("gone@example.com,en,UTC,,,,ended,")
    report = imported(terminal, f"{','.join(COLUMNS)}\nGone@example.com,zh,UTC,,,,active,paper form\n")
    assert (report["imported"], report["known"]) == (0, 1)
    record = shown(terminal, "gone@example.com")
    assert (record["status"], record["reason"], record["language"]) == ("ended", "imported", "en")


def test_who_was_erased_is_gone_and_never_imported_again(either_terminal: Terminal) -> None:
    terminal = either_terminal
    terminal.readers(SHANGHAI.format("reader@example.com"))
    assert terminal.done("subscribers", "erase", "READER@example.com") == "Erased.\n"
    terminal.refused("subscribers", "show", "reader@example.com", code=1)
    report = imported(terminal, "email\nreader@example.com\n")
    assert (report["imported"], report["suppressed"]) == (0, 1)
    assert terminal.read("subscribers", "stats") == {}
    assert terminal.read("audit")["ok"]


def test_erasing_a_stranger_bars_the_address_all_the_same(terminal: Terminal) -> None:
    assert "stranger@example.com" in terminal.refused("subscribers", "erase", "stranger@example.com", code=1)
    assert imported(terminal, "email\nstranger@example.com\n")["suppressed"] == 1


def test_an_erased_address_stays_barred_after_the_keys_are_rotated(terminal: Terminal) -> None:
    terminal.refused("subscribers", "erase", "stranger@example.com", code=1)
    terminal.set(secret_keys="a-newer-key-of-enough-length,a-test-key-of-enough-length")
    assert imported(terminal, "email\nstranger@example.com\n")["suppressed"] == 1


def test_show_tells_state_settings_consent_next_send_and_deliveries(
    either_terminal: Terminal, clock: time_machine.Traveller
) -> None:
    terminal = either_terminal
    terminal.readers("Reader@example.com,zh,Asia/Kathmandu,09:00,mon;wed;thu,models;chips,active,paper form")
    terminal.stories(terminal.story("Chips", "2026-12-02T01:00:00Z", topics=["chips"]))
    clock.move_to("2026-12-02T03:15:05Z")
    assert terminal.read("tick")["sent"] == 1
    record = shown(terminal, "reader@EXAMPLE.com")
    (delivery,) = record.pop("deliveries")
    assert record == {
        "email": "Reader@example.com",
        "name": "",
        "status": "active",
        "reason": None,
        "language": "zh",
        "languages": "zh",
        "timezone": "Asia/Kathmandu",
        "time": "09:00",
        "weekdays": "mon,wed,thu",
        "topics": ["chips", "models"],
        "paused_until": None,
        "next_send": "2026-12-03T03:15:00Z",
        "consent": {
            "source": "paper form",
            "wording": "",
            "requested_at": "2026-12-02T03:00:00Z",
            "confirmed_at": "2026-12-02T03:00:00Z",
        },
    }
    assert (delivery["date"], delivery["status"], delivery["reason"]) == ("2026-12-02", "sent", None)
    assert delivery["sent_at"] == "2026-12-02T03:15:05Z"


def test_a_pending_reader_has_no_consent_and_no_next_send(terminal: Terminal) -> None:
    imported(terminal, "email\nreader@example.com\n")
    record = shown(terminal, "reader@example.com")
    assert (record["consent"], record["next_send"], record["deliveries"]) == (None, None, [])


def test_nobody_to_show_is_exit_1(terminal: Terminal) -> None:
    assert "nobody@example.com" in terminal.refused("subscribers", "show", "nobody@example.com", "--json", code=1)


def test_an_export_imports_again_into_the_same_list(either_terminal: Terminal) -> None:
    terminal = either_terminal
    terminal.readers(
        SHANGHAI.format("active@example.com"),
        "pending@example.com,en,Europe/Berlin,07:30,weekdays,chips,,",
        'paused@xn--fsqu00a.example,en,Asia/Kathmandu,,,,paused,"form, ""old"" site"',
        "ended@example.com,zh,America/New_York,,,,ended,",
    )
    path = terminal.folder / "export.csv"
    terminal.done("subscribers", "export", path)
    before = path.read_bytes()
    assert before.startswith(b"\xef\xbb\xbf" + ",".join(COLUMNS).encode())
    terminal.set(database_url=f"sqlite:///{terminal.folder / 'other.db'}")
    assert terminal.read("subscribers", "import", path)["by_status"] == {
        "active": 1,
        "pending": 1,
        "paused": 1,
        "ended": 1,
    }
    terminal.done("subscribers", "export", path)
    assert path.read_bytes() == before


def test_an_export_runs_nothing_in_a_spreadsheet_and_loses_nothing(terminal: Terminal) -> None:
    odd = ['"=cmd()@example.com",,,,,,,', "+1@example.com,,,,,=HYPERLINK(1),active,@SUM(1)"]
    imported(terminal, "\n".join([",".join(COLUMNS), odd[1]]))
    text = terminal.done("subscribers", "export")
    rows = list(csv.reader(io.StringIO(text)))
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]
    terminal.set(database_url=f"sqlite:///{terminal.folder / 'other.db'}")
    imported(terminal, text)
    record = shown(terminal, "+1@example.com")
    assert (record["email"], record["topics"], record["consent"]["source"]) == (
        "+1@example.com",
        ["=hyperlink(1)"],
        "@SUM(1)",
    )


def test_the_list_goes_to_standard_output_and_its_count_beside_it(terminal: Terminal) -> None:
    terminal.readers(SHANGHAI.format("reader@example.com"))
    ended = terminal("subscribers", "export")
    assert ended.err == "1 subscribers exported.\n"
    assert ended.out.count("\n") == 2


def test_stats_count_by_state(terminal: Terminal) -> None:
    terminal.readers(SHANGHAI.format("a@example.com"), SHANGHAI.format("b@example.com"), "c@example.com,,,,,,ended,")
    assert terminal.read("subscribers", "stats") == {"active": 2, "ended": 1}
    assert terminal.done("subscribers", "stats").split() == ["state", "subscribers", "active", "2", "ended", "1"]


def test_uns_07_an_operator_ends_a_subscription_in_any_spelling(terminal: Terminal) -> None:
    terminal.readers("Reader.Test@example.com,en,UTC,,,,active,paper form")
    ended = {"status": "ended", "reason": "unsubscribed"}
    assert terminal.read("subscribers", "unsubscribe", "READER.TEST@EXAMPLE.com") == ended
    assert terminal.read("subscribers", "show", "reader.test@example.com")["status"] == "ended"
    assert "nobody@example.com" in terminal.refused("subscribers", "unsubscribe", "nobody@example.com", code=1)


def test_who_lost_the_link_to_their_settings_is_sent_it_and_it_is_shown_to_nobody_else(terminal: Terminal) -> None:
    terminal.readers("Reader.Test@example.com,en,UTC,,,,active,paper form")
    told = terminal.read("subscribers", "link", "READER.TEST@EXAMPLE.com")
    assert told == {"status": "active", "letter": "preferences_link"}
    assert "nobody@example.com" in terminal.refused("subscribers", "link", "nobody@example.com", code=1)
