"""Lists as they come: the field cases CSV-*, and the forms of other programs."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from digest.steps.export_list import HEADING
from tests.cli.terminal import Terminal

CASES = Path(__file__).parent / "cases"
CONSENT = ("--consent-source", "moved here with their consent")


def exported(terminal: Terminal) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(terminal.done("subscribers", "export"))))


def fresh(terminal: Terminal) -> None:
    """An empty list under the same keys."""
    terminal.set(database_url=f"sqlite:///{terminal.folder / 'fresh.db'}")


def imported(terminal: Terminal, content: str | bytes, *options: str, name: str = "list.csv") -> dict[str, Any]:
    report: dict[str, Any] = terminal.read("subscribers", "import", terminal.write(name, content), *options)
    return report


def columns(rows: Iterable[dict[str, str]], *names: str) -> list[tuple[str, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def test_csv_01_a_byte_order_mark_hides_no_column_and_chinese_names_stay_whole(terminal: Terminal) -> None:
    report = terminal.read("subscribers", "import", CASES / "CSV-01-bom.csv")
    assert (report["imported"], report["refused"], report["errors"]) == (3, 0, [])
    assert columns(exported(terminal), "name", "timezone") == [
        ("李雷", "Asia/Shanghai"),
        ("韩梅梅", "Asia/Shanghai"),
        ("Ann", "Europe/Berlin"),
    ]


def test_csv_03_a_list_in_gbk_with_chinese_headings_is_read(terminal: Terminal) -> None:
    report = terminal.read("subscribers", "import", CASES / "CSV-03-gbk.csv")
    assert (report["imported"], report["encoding"]) == (3, "gb18030")
    assert report["columns"] == {"email": "邮箱", "name": "姓名", "timezone": "时区", "language": "语言"}
    rows = exported(terminal)
    assert columns(rows, "name") == [("王小明",), ("李雷",), ("喆子",)]
    assert {row["language"] for row in rows} == {"zh"}
    assert terminal.read("subscribers", "show", "zhe@example.com")["name"] == "喆子"


LEFT = """email,language,status,reason,consent_source
active@example.com,en,active,,form
unsubscribed@example.com,en,ended,unsubscribed,
complained@example.com,en,ended,complained,
bounced@example.com,en,ended,bounced,
pending@example.com,en,pending,,
"""


def test_csv_05_an_import_revives_nobody_with_or_without_update(either_terminal: Terminal) -> None:
    terminal = either_terminal
    imported(terminal, LEFT)
    before = exported(terminal)
    again = "email,language,status,consent_source\n" + "".join(f"{row['email']},zh,active,form\n" for row in before)
    for options in ((), ("--update", "--dry-run"), ("--update",)):
        report = imported(terminal, again, *options)
        assert (report["imported"], report["known"]) == (0, 5)
        assert report["skipped"] == {"unsubscribed": 1, "complained": 1, "bounced": 1, "pending": 1}
        assert [(one["row"], one["reason"]) for one in report["skipped_rows"]] == [
            (3, "unsubscribed"),
            (4, "complained"),
            (5, "bounced"),
            (6, "pending"),
        ]
        assert report["updated"] == (1 if options else 0)
        if "--dry-run" in options or not options:
            assert exported(terminal) == before
    assert columns(exported(terminal), "status", "language") == [
        ("active", "zh"),
        *[(row["status"], "en") for row in before[1:]],
    ]
    assert terminal.read("audit")["ok"]


def test_csv_07_repeated_rows_and_other_case_are_one_reader(terminal: Terminal) -> None:
    file = CASES / "CSV-07-dups.csv"
    rehearsed = terminal.read("subscribers", "import", file, "--dry-run")
    first = terminal.read("subscribers", "import", file)
    for report in (rehearsed, first):
        assert (report["imported"], report["duplicates"], report["duplicate_rows"]) == (3, 3, [3, 5, 7])
    second = terminal.read("subscribers", "import", file)
    assert (second["imported"], second["known"], second["duplicates"]) == (0, 6, 0)
    assert terminal.read("subscribers", "stats") == {"pending": 3}


def test_csv_11_an_export_imports_again_unchanged(either_terminal: Terminal) -> None:
    terminal = either_terminal
    zone = 'Asia/Kathmandu,07:45,weekdays,"-policy,chips"'
    rows = [
        f'active@example.com,both,{zone},active,"form, ""old"" site",王小明,,,2024-02-29T12:00:00+00:00,v3,',
        f'paused@xn--fsqu00a.example,zh,{zone},paused,paper,"李雷, ""小雷""\nJr.",,2027-01-31,,,',
        f"pending@example.com,en,{zone},pending,fair,=HYPERLINK(1),,,,,",
        f"unsubscribed@example.com,en,{zone},ended,form,'t Hooft;=1,unsubscribed,,2025-01-01T00:00:00+00:00,,",
        f"complained@example.com,zh,{zone},ended,,＋86,complained,,,,complained",
        f"bounced@example.com,en,{zone},ended,,'=odd,bounced,,,,soft_bounced",
        ",,,,,,suppressed,,,,,,,operator".replace(",", "stranger@example.com,", 1),
    ]
    report = imported(terminal, "\n".join([",".join(HEADING), *rows]))
    assert (report["imported"], report["barred"], report["errors"]) == (6, 1, [])
    terminal.refused("subscribers", "erase", "erased@example.com", code=1)
    path = terminal.folder / "export.csv"
    terminal.done("subscribers", "export", path)
    before = path.read_bytes()
    assert before.startswith(b"\xef\xbb\xbfemail,language,timezone,time,weekdays,topics,status,consent_source,")
    found = list(csv.reader(io.StringIO(before.decode("utf-8-sig"))))
    assert not [cell for row in found for cell in row if cell.startswith(tuple("=+-@\t\r＝＋－＠"))]
    assert path.stat().st_mode & 0o077 == 0
    fresh(terminal)
    assert terminal.read("subscribers", "import", path)["errors"] == []
    terminal.done("subscribers", "export", path)
    assert path.read_bytes() == before
    assert imported(terminal, "email\nErased@example.com\nstranger@example.com\n")["suppressed"] == 2
    assert terminal.read("subscribers", "show", "paused@例子.example")["name"] == '李雷, "小雷" Jr.'


def test_csv_13_padding_odd_headings_and_empty_lines_do_no_harm(terminal: Terminal) -> None:
    report = terminal.read("subscribers", "import", CASES / "CSV-13-messy.csv")
    assert (report["imported"], report["errors"]) == (3, [])
    assert columns(exported(terminal), "email", "name", "timezone") == [
        ("li@example.com", "李雷", "Asia/Shanghai"),
        ("ann@example.com", "Ann Mary", "Europe/Berlin"),
        ("bo@example.com", "Bo", "Asia/Kolkata"),
    ]


LIST = "E-Mail;First name;LAST_NAME;City\nann@example.com;Zoë;Müller;x\nbo@example.com;李;雷;x\n"


@pytest.mark.parametrize(
    ("content", "charset", "separator", "names"),
    [
        (LIST.encode("utf-16"), "utf-16", ";", ["Zoë Müller", "雷李"]),
        (LIST.replace(";", "\t").encode("utf-16-le"), "utf-16-le", "\t", ["Zoë Müller", "雷李"]),
        (LIST.replace("李;雷", "Bo;Bø").encode("cp1252"), "cp1252", ";", ["Zoë Müller", "Bo Bø"]),
        (("sep=;\r\n" + LIST).encode("utf-8-sig"), "utf-8-sig", ";", ["Zoë Müller", "雷李"]),
        (
            "電子郵件,姓名\nann@example.com,陳國強\nbo@example.com,許淑芬\n".encode("big5"),
            "big5hkscs",
            ",",
            ["陳國強", "許淑芬"],
        ),
        (b"\n\nann@example.com\r\nBo@example.com\r\n", "utf-8", ",", ["", ""]),
    ],
    ids=["utf-16", "unmarked", "western", "sep", "big5", "bare"],
)
def test_character_sets_and_separators_are_found(
    terminal: Terminal, content: bytes, charset: str, separator: str, names: list[str]
) -> None:
    report = imported(terminal, content)
    assert (report["imported"], report["encoding"], report["separator"]) == (2, charset, separator)
    assert [row["name"] for row in exported(terminal)] == names


def test_a_quotation_mark_that_is_never_closed_costs_one_row(terminal: Terminal) -> None:
    lines = ["email,name", 'a@example.com,"Ann', "b@example.com,Bo", 'c@example.com,"Cy"']
    lines += [f"r{number}@example.com,R" for number in range(500)]
    report = imported(terminal, "\n".join([*lines, 'z@example.com,"Zoe', "y@example.com,Y"]))
    assert (report["imported"], report["refused"]) == (503, 2)
    assert [one["row"] for one in report["errors"]] == [2, 505]
    assert "quotation mark" in report["errors"][0]["error"]


def test_an_operator_names_the_column_and_the_character_set(terminal: Terminal) -> None:
    content = "Kontakt,Wer\nann@example.com,Ünal\n".encode("cp850")
    assert "“Kontakt”" in terminal.refused("subscribers", "import", terminal.write("odd.csv", content))
    options = ("--column", "email=kontakt", "--column", "name=Wer", "--encoding", "cp850")
    assert imported(terminal, content, *options)["columns"] == {"email": "Kontakt", "name": "Wer"}
    assert exported(terminal)[0]["name"] == "Ünal"
    for wrong in (("--column", "email=Post"), ("--column", "mail=Wer"), ("--column", "x"), ("--encoding", "klingon")):
        terminal.refused("subscribers", "import", terminal.write("odd.csv", content), *wrong)


def test_a_rehearsal_says_all_and_does_nothing_and_the_report_has_a_row_per_row(terminal: Terminal) -> None:
    imported(terminal, "email,status,consent_source\nknown@example.com,active,form\n")
    before = exported(terminal)
    content = "email\nnew@example.com\nbad\nKNOWN@example.com\nnew@example.com\n"
    reports = []
    for options in (("--dry-run",), ()):
        report = imported(terminal, content, *options, "--report", str(terminal.folder / "report.csv"))
        counts = [report[name] for name in ("imported", "known", "duplicates", "refused", "letters")]
        assert counts == [1, 1, 1, 1, 1]
        reports.append((terminal.folder / "report.csv").read_text(encoding="utf-8-sig"))
        if options:
            assert exported(terminal) == before
    assert reports[0] == reports[1]
    told = list(csv.reader(io.StringIO(reports[0])))
    assert [row[:2] for row in told[1:]] == [
        ["2", "imported"],
        ["3", "refused"],
        ["4", "known"],
        ["5", "duplicate"],
    ]
    assert len(exported(terminal)) == 2


def test_a_later_list_of_those_who_left_ends_them_with_update_only(terminal: Terminal) -> None:
    imported(terminal, "email,status,consent_source\nann@example.com,active,form\nbo@example.com,active,form\n")
    left = "Email,Unsubscribed at,status\nann@example.com,2026-11-01,\nbo@example.com,,bounced\n"
    assert imported(terminal, left)["updated"] == 0
    assert imported(terminal, left, "--update")["updated"] == 2
    assert columns(exported(terminal), "status", "reason", "suppressed") == [
        ("ended", "imported", ""),
        ("ended", "bounced", "bounced"),
    ]
    assert terminal.read("audit")["ok"]


LISTMONK = """uuid,email,name,attributes,status,created_at,updated_at
u1,ann@example.com,Ann,"{""timezone"": ""Europe/Berlin"", ""language"": ""en""}",enabled,2024-05-01 08:30:00.5+00:00,x
u2,bo@example.com,Bo,"{""timezone"": ""Mars"", ""age"": 3}",blocklisted,2024-05-01T08:30:00Z,x
u3,cy@example.com,Cy,not json,disabled,2024-05-01T08:30:00Z,x
"""
MAILCHIMP = (
    "Email Address,First Name,Last Name,MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,TIMEZONE,{}LEID"
)
CHIMP = '{}@example.com,Ann,Lee,2,"2018-04-13 10:57:00",192.0.2.1,"2018-04-13 10:57:02",192.0.2.1,America/New_York,{}7'
BUTTONDOWN = """email,notes,metadata,tags,type,creation_date,unsubscription_date
ann@example.com,,"{""name"": ""Ann"", ""tz"": ""Asia/Tokyo""}",a,regular,2023-01-02T03:04:05.678+00:00,
bo@example.com,,{},,unactivated,2023-01-02T03:04:05Z,
cy@example.com,,{},,unsubscribed,2023-01-02T03:04:05Z,2024-01-01
dee@example.com,,{},,undeliverable,2023-01-02T03:04:05Z,
"""
SHOWN = ("email", "name", "timezone", "status", "reason", "suppressed", "consent_at")


def test_an_export_of_listmonk_is_imported(terminal: Terminal) -> None:
    without = imported(terminal, LISTMONK, "--dry-run")
    assert [one["row"] for one in without["errors"]] == [2]
    report = imported(terminal, LISTMONK, *CONSENT)
    assert (report["system"], report["imported"]) == ("listmonk", 3)
    assert columns(exported(terminal), *SHOWN) == [
        ("ann@example.com", "Ann", "Europe/Berlin", "active", "", "", "2024-05-01T08:30:00.500000+00:00"),
        ("bo@example.com", "Bo", "UTC", "ended", "unsubscribed", "operator", ""),
        ("cy@example.com", "Cy", "UTC", "ended", "imported", "", ""),
    ]


def test_the_files_of_a_mailchimp_audience_are_imported(terminal: Terminal) -> None:
    for name, more, cell in (
        ("subscribed", "", ""),
        ("unsubscribed", "UNSUB_TIME,UNSUB_REASON,", "2020-01-01 00:00:00,N/A (Unsubscribed by admin),"),
        ("complained", "UNSUB_TIME,UNSUB_REASON,", "2020-01-01 00:00:00,ABUSE,"),
        ("cleaned", "CLEAN_TIME,", "2020-01-01 00:00:00,"),
    ):
        content = MAILCHIMP.format(more) + "\n" + CHIMP.format(name, cell) + "\n"
        report = imported(terminal, content, *CONSENT, name=f"{name}_email_audience_export_1a2b.csv")
        assert (report["system"], report["imported"]) == ("Mailchimp", 1)
    assert columns(exported(terminal), *SHOWN[2:]) == [
        ("America/New_York", "active", "", "", "2018-04-13T10:57:02+00:00"),
        ("America/New_York", "ended", "unsubscribed", "", ""),
        ("America/New_York", "ended", "complained", "complained", ""),
        ("America/New_York", "ended", "bounced", "bounced", ""),
    ]
    never = terminal.write("nonsubscribed_email_audience_export_1a2b.csv", MAILCHIMP.format("") + "\n")
    assert "never subscribed" in terminal.refused("subscribers", "import", never)


def test_an_export_of_buttondown_is_imported(terminal: Terminal) -> None:
    report = imported(terminal, BUTTONDOWN, *CONSENT)
    assert (report["system"], report["imported"], report["letters"]) == ("Buttondown", 4, 1)
    assert columns(exported(terminal), *SHOWN) == [
        ("ann@example.com", "Ann", "Asia/Tokyo", "active", "", "", "2023-01-02T03:04:05.678000+00:00"),
        ("bo@example.com", "", "UTC", "pending", "", "", ""),
        ("cy@example.com", "", "UTC", "ended", "unsubscribed", "", ""),
        ("dee@example.com", "", "UTC", "ended", "bounced", "bounced", ""),
    ]


def test_everything_kept_about_one_address_is_one_document(terminal: Terminal) -> None:
    terminal.readers("reader@example.com,zh,UTC,,,,active,paper form")
    terminal.refused("subscribers", "erase", "gone@example.com", code=1)
    found = terminal.read_file("subscribers", "data", "READER@example.com")
    assert found["subscriber"]["email"] == "reader@example.com"
    assert found["consents"][0]["source"] == "paper form"
    assert terminal.read_file("subscribers", "data", "gone@example.com")["suppression"]["reason"] == "erased"
    assert "nobody@example.com" in terminal.refused("subscribers", "data", "nobody@example.com", code=1)
