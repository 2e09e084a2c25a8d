"""Two versions of tzdata over one database: a new package and a restart are all that a change of rules needs."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import psycopg
import pytest
import tzdata
from psycopg import sql

from digest.domain.schedule import Cadence, sends_between
from tests.cli.terminal import forget_settings
from tests.servers import libpq
from tests.steps.world import utc

NEW_VERSION = "2099z"
IANA_VERSION_IN_USE = tzdata.IANA_VERSION
ADDRESS = "reader@example.com"
TABLES = ("cadences", "subscribers", "mornings", "editions", "batches", "deliveries")


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """A folder with a copy of the package in which Vancouver keeps New York's clocks."""
    package = tmp_path / "newer" / "tzdata"
    shutil.copytree(str(files("tzdata")), package, ignore=shutil.ignore_patterns("__pycache__"))
    zones = package / "zoneinfo"
    shutil.copyfile(zones / "America" / "New_York", zones / "America" / "Vancouver")
    rules = (zones / "tzdata.zi").read_text(encoding="ascii").partition("\n")[2]
    (zones / "tzdata.zi").write_text(f"# version {NEW_VERSION}\n{rules}", encoding="ascii")
    return package.parent


@pytest.fixture
def program(tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> "Program":
    forget_settings(monkeypatch)
    values = {
        "database_url": postgres_url,
        "secret_keys": "a-test-key-of-enough-length",
        "outbox_dir": tmp_path / "outbox",
    }
    settings = {f"DIGEST_{name.upper()}": str(value) for name, value in values.items()}
    return Program(tmp_path, settings, postgres_url)


SEVERAL = """
import contextlib, io, json, sys
from digest.cli.main import main
answers = []
for arguments in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main([*arguments, "--json"])
    answers.append(json.loads(out.getvalue()))
json.dump(answers, sys.stdout)
"""
"""Several commands in one process, since what costs is the start."""


@dataclass(frozen=True)
class Program:
    """Commands in processes of their own, with the package's rules or those of another folder."""

    folder: Path
    settings: dict[str, str]
    url: str

    def __call__(self, *commands: tuple[str, ...], rules: Path | None = None, system: Path | None = None) -> list[Any]:
        path = ({"PYTHONPATH": str(rules)} if rules else {}) | ({"PYTHONTZPATH": str(system)} if system else {})
        ended = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", SEVERAL, json.dumps(commands)],
            env={**os.environ, **self.settings, **path},
            cwd=self.folder,
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr.decode()
        answers: list[Any] = json.loads(ended.stdout)
        return answers

    def rows(self) -> dict[str, set[str]]:
        """Every row of the tables that a schedule could hide in."""
        with psycopg.connect(libpq(self.url)) as connection:
            return {
                name: {str(row) for row in connection.execute(sql.SQL("TABLE {}").format(sql.Identifier(name)))}
                for name in TABLES
            }


def test_a_new_package_and_a_restart_are_all_that_a_change_of_rules_needs(program: Program, newer: Path) -> None:
    listed = program.folder / "readers.csv"
    listed.write_text(f"email,timezone,status,consent_source\n{ADDRESS},America/Vancouver,active,paper form\n", "utf-8")
    asked = ("schedule", ADDRESS, "--from", "2027-01-16T00:00:00Z", "--count", "1")
    _, old, old_rules, ticked = program(
        ("subscribers", "import", str(listed)), asked, ("doctor",), ("tick", "--now", "2027-01-15T15:00:00Z")
    )
    kept = program.rows()
    new, new_rules, before, at = program(
        asked,
        ("doctor",),
        ("tick", "--now", "2027-01-16T12:49:59Z"),
        ("tick", "--now", "2027-01-16T13:00:00Z"),
        rules=newer,
    )
    assert (old[0]["utc"], new[0]["utc"]) == ("2027-01-16T15:00:00Z", "2027-01-16T13:00:00Z")
    assert (version(old_rules) == NEW_VERSION, version(new_rules)) == (False, NEW_VERSION)
    assert [turn["planned"] for turn in (ticked, before, at)] == [1, 0, 1]
    assert {name for name, rows in program.rows().items() if not kept[name] <= rows} == set()
    with psycopg.connect(libpq(program.url)) as connection:
        latest = connection.execute("SELECT max(not_before_at) FROM batches").fetchone()
    assert latest == (datetime(2027, 1, 16, 13, tzinfo=UTC),)


@pytest.mark.parametrize(
    ("zone", "on", "instant"),
    [
        ("America/Mexico_City", "2027-07-01", "2027-07-01T14:00:00Z"),
        ("America/Vancouver", "2027-01-15", "2027-01-15T15:00:00Z"),
        ("America/Winnipeg", "2027-01-15", "2027-01-15T13:00:00Z"),
    ],
)
def test_tz_09_the_newest_rules_count(zone: str, on: str, instant: str) -> None:
    (send,) = sends_between(Cadence(zone), utc(f"{on}T06:00"), utc(f"{on}T23:00"))
    assert send.at.isoformat() == instant.replace("Z", "+00:00")


def test_tz_09_an_older_copy_of_the_operating_system_is_not_used_and_both_are_named(
    program: Program, newer: Path, tmp_path: Path
) -> None:
    old = tmp_path / "system"
    shutil.copytree(newer / "tzdata" / "zoneinfo", old)
    asked = ("schedule", "--timezone", "America/Vancouver", "--from", "2027-01-15T06:00:00Z", "--count", "1")
    sends, findings = program(asked, ("doctor",), system=old)
    assert sends[0]["utc"] == "2027-01-15T15:00:00Z"
    (words,) = [finding["words"] for finding in findings if finding["check"] == "tzdata"]
    assert words.startswith(IANA_VERSION_IN_USE)
    assert "the system" in words


def version(findings: list[dict[str, str]]) -> str:
    return next(finding["words"].split()[0] for finding in findings if finding["check"] == "tzdata")
