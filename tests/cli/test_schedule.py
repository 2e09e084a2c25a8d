import pytest

from tests.cli.terminal import Terminal


def sends(terminal: Terminal, *arguments: str) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = terminal.read("schedule", *arguments)
    assert all(set(row) == {"date", "local", "utc"} for row in rows)
    return rows


def test_eight_in_kathmandu_is_a_quarter_past_two(terminal: Terminal) -> None:
    found = sends(terminal, "--timezone", "Asia/Kathmandu", "--from", "2027-03-01T00:00:00Z", "--count", "2")
    assert found == [
        {"date": "2027-03-01", "local": "2027-03-01T08:00:00+05:45", "utc": "2027-03-01T02:15:00Z"},
        {"date": "2027-03-02", "local": "2027-03-02T08:00:00+05:45", "utc": "2027-03-02T02:15:00Z"},
    ]


@pytest.mark.parametrize(
    ("zone", "start", "expected"),
    [
        (
            "Pacific/Chatham",
            "2027-04-02T00:00:00Z",
            ["2027-04-02T18:15:00Z", "2027-04-03T19:15:00Z", "2027-04-04T19:15:00Z"],
        ),
        (
            "America/New_York",
            "2027-11-06T00:00:00Z",
            ["2027-11-06T12:00:00Z", "2027-11-07T13:00:00Z", "2027-11-08T13:00:00Z"],
        ),
        (
            "America/Vancouver",
            "2027-01-15T00:00:00Z",
            ["2027-01-15T15:00:00Z"],
        ),
    ],
)
def test_eight_stays_eight_when_the_clocks_change(
    terminal: Terminal, zone: str, start: str, expected: list[str]
) -> None:
    found = sends(terminal, "--timezone", zone, "--from", start, "--count", str(len(expected)))
    assert [row["utc"] for row in found] == expected
    assert {row["local"][11:19] for row in found} == {"08:00:00"}


def test_a_date_that_a_zone_never_had_has_no_send(terminal: Terminal) -> None:
    found = sends(terminal, "--timezone", "Pacific/Apia", "--from", "2011-12-29T00:00:00Z", "--count", "3")
    assert [row["date"] for row in found] == ["2011-12-29", "2011-12-31", "2012-01-01"]


def test_time_and_weekdays_are_the_readers(terminal: Terminal) -> None:
    start = ("--from", "2026-12-02T00:00:00", "--count", "2")
    found = sends(terminal, "--timezone", "Asia/Shanghai", "--time", "6:30", "--weekdays", "mon,fri", *start)
    assert [row["local"] for row in found] == ["2026-12-04T06:30:00+08:00", "2026-12-07T06:30:00+08:00"]


def test_without_a_start_it_begins_now_and_gives_five(terminal: Terminal) -> None:
    found = sends(terminal, "--timezone", "Asia/Shanghai")
    assert [row["date"] for row in found] == [f"2026-12-0{day}" for day in range(3, 8)]


def test_a_readers_own_schedule_is_found_by_address_in_any_spelling(terminal: Terminal) -> None:
    terminal.readers("reader@example.com,zh,Asia/Kathmandu,09:00,,,active,paper form")
    found = sends(terminal, "Reader@Example.COM", "--count", "1")
    assert found == [{"date": "2026-12-02", "local": "2026-12-02T09:00:00+05:45", "utc": "2026-12-02T03:15:00Z"}]


def test_people_get_a_table(terminal: Terminal) -> None:
    table = terminal.done("schedule", "--timezone", "Asia/Shanghai", "--count", "1")
    assert table.split() == ["date", "local", "utc", "2026-12-03", "2026-12-03T08:00:00+08:00", "2026-12-03T00:00:00Z"]


@pytest.mark.parametrize(
    ("arguments", "value", "mend"),
    [
        (["--timezone", "Asia/Shangai"], "Asia/Shangai", "Asia/Shanghai"),
        (["--timezone", "asia/shanghai"], "asia/shanghai", "Asia/Shanghai"),
        (["--timezone", "Mars/Olympus\x1b[31m"], "Mars/Olympus", "such as Asia/Shanghai"),
        (["--timezone", "../../etc/passwd"], "../../etc/passwd", "such as Asia/Shanghai"),
        (["--timezone", ""], "", "such as Asia/Shanghai"),
        (["--timezone", "UTC", "--time", "8am"], "8am", "HH:MM"),
        (["--timezone", "UTC", "--time", "24:00"], "24:00", "HH:MM"),
        (["--timezone", "UTC", "--weekdays", "mon,someday"], "mon,someday", "mon,tue"),
        (["--timezone", "UTC", "--from", "tomorrow"], "tomorrow", "2026-12-03T00:00:00Z"),
        (["--timezone", "UTC", "--count", "0"], "“0”", "greater than or equal to 1"),
        (["--timezone", "UTC", "--count", "many"], "“many”", "integer"),
        (["--timezone", "UTC", "--colour"], "--colour", "--colour"),
        ([], "", "--timezone"),
        (["reader@example.com", "--timezone", "UTC"], "reader@example.com", "one of the two"),
    ],
)
def test_bad_input_is_one_line_that_names_value_and_mend(
    terminal: Terminal, arguments: list[str], value: str, mend: str
) -> None:
    line = terminal.refused("schedule", *arguments)
    assert value in line
    assert mend in line
    assert line.isprintable()


def test_nobody_of_that_address_is_a_failure_and_not_bad_input(terminal: Terminal) -> None:
    assert "nobody@example.com" in terminal.refused("schedule", "nobody@example.com", code=1)
