"""The simulated world: it holds, its report is counted from two sides, and whoever tampers with one is found out."""

import json
import time as stopwatch
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from sqlalchemy import delete, update

from digest.bootstrap import Application, build, sender_of
from digest.cli import simulate as command
from digest.cli.simulate import MUST_BE_ZERO
from digest.cli.simulation import CountingMailbox, Due, Key, due_sends, expect_languages, report, run
from digest.cli.world import make_news
from digest.domain.language import Language
from digest.domain.schedule import Cadence
from digest.domain.subscriber import SubscriberState
from digest.providers.outbox import OutboxProvider
from digest.settings import Settings
from digest.store.cadences import cadence_id
from digest.store.subscribers import Wishes, add
from digest.store.tables import Batch, Delivery
from tests.cli.terminal import Terminal

START = datetime(2027, 6, 10, tzinfo=UTC)
KEYS = {
    *("from", "hours", "subscribers", "due", "sent", "skipped", "unknown", "early", "late_over_grace", "duplicates"),
    *("missing", "zones", "languages", "distinct_briefs", "seconds"),
}


def test_six_hours_of_the_world_hold(terminal: Terminal) -> None:
    options = ("--hours", "6", "--subscribers", "700", "--seed", "7", "--out", "out")
    result = terminal.read("simulate", "--from", "2027-06-10T00:00:00Z", *options)
    assert set(result) >= KEYS
    assert (result["from"], result["hours"], result["subscribers"]) == ("2027-06-10T00:00:00Z", 6, 700)
    assert result["due"] == result["sent"] == result["accepted"] == sum(result["languages"].values()) > 100
    assert {name: result[name] for name in MUST_BE_ZERO} == dict.fromkeys(MUST_BE_ZERO, 0)
    assert result["skipped"] == {}
    assert set(result["languages"]) == {"en", "zh"}
    assert result["distinct_briefs"] > 20
    check_zones(result["zones"], result["due"])
    assert json.loads(Path("out/report.json").read_text(encoding="utf-8")) == result
    plot = ET.fromstring(Path("out/local_send_times.svg").read_bytes())  # noqa: S314 - our own plot
    assert plot.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(plot.findall(".//{*}circle")) == len(result["zones"])


def check_zones(zones: dict[str, dict[str, Any]], due: int) -> None:
    assert {"Asia/Kathmandu", "Asia/Shanghai", "Europe/Moscow"} <= set(zones)
    assert "America/New_York" not in zones
    assert sum(zone["due"] for zone in zones.values()) == due
    for zone in zones.values():
        assert zone["sent"] == zone["due"]
        assert "08:00:00" <= zone["earliest_local"] <= zone["latest_local"] < "08:00:01"


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["--from", "soon"], "“soon”"),
        (["--from", "2027-06-10", "--hours", "0"], "“0”"),
        (["--from", "2027-06-10", "--subscribers", "none"], "“none”"),
        ([], "--from"),
    ],
)
def test_bad_input_is_one_line(terminal: Terminal, arguments: list[str], value: str) -> None:
    assert value in terminal.refused("simulate", *arguments)


@dataclass
class Simulated:
    """A morning of three readers in Shanghai, run, with what its report is counted from."""

    app: Application
    mailbox: CountingMailbox
    owed: dict[Key, Due]

    def report(self) -> dict[str, Any]:
        return report(self.app, self.mailbox, self.owed, stopwatch.perf_counter())

    def faults(self) -> dict[str, int]:
        found = self.report()
        return {name: found[name] for name in MUST_BE_ZERO if found[name]}

    def change(self, statement: Any) -> None:  # noqa: ANN401 - any DELETE or UPDATE
        with self.app.sessions.begin() as session:
            session.execute(statement)


@pytest.fixture
def simulated(sqlite_url: str, tmp_path: Path) -> Iterator[Simulated]:
    settings = Settings(_env_file=None, database_url=sqlite_url, secret_keys=["a-test-key-of-enough-length"])
    mailbox = CountingMailbox()
    app = build(settings.model_copy(update={"outbox_dir": tmp_path}), OutboxProvider(sender_of(settings), mailbox))
    end = START + timedelta(minutes=10)
    make_news(app, START, end)
    with app.sessions.begin() as session:
        cadence = cadence_id(session, Cadence("Asia/Shanghai"), START)
        for name in "abc":
            wishes = Wishes(Language.CHINESE, cadence)
            add(session, f"{name}@example.com", wishes, SubscriberState.ACTIVE, START)
    expect_languages(app, mailbox)
    owed = due_sends(app, START, end)
    run(app, START, end)
    yield Simulated(app, mailbox, owed)
    app.close()


def test_a_morning_that_held_reports_no_fault(simulated: Simulated) -> None:
    assert simulated.faults() == {}
    assert simulated.report()["sent"] == 3


def test_a_delivery_taken_out_of_the_ledger_is_missing(simulated: Simulated) -> None:
    simulated.change(delete(Delivery).where(Delivery.subscriber_id == 1))
    assert simulated.faults() == {"missing": 2}


def test_a_reader_who_was_owed_and_got_nothing_is_missing(simulated: Simulated) -> None:
    simulated.mailbox.accepted.pop((1, START.date()))
    assert simulated.faults() == {"missing": 1}


def test_a_message_accepted_twice_is_a_duplicate(simulated: Simulated) -> None:
    simulated.mailbox.times[1, START.date()] += 1
    assert simulated.faults() == {"duplicates": 1}


def test_a_message_accepted_before_its_instant_is_early(simulated: Simulated) -> None:
    simulated.mailbox.accepted[1, START.date()] -= timedelta(microseconds=1)
    assert simulated.faults() == {"early": 1}


def test_a_batch_that_the_ledger_itself_calls_early_is(simulated: Simulated) -> None:
    simulated.change(update(Batch).values(sent_at=START - timedelta(seconds=1)))
    assert simulated.faults() == {"early": 1}


def test_a_message_accepted_after_the_grace_is_late(simulated: Simulated) -> None:
    simulated.mailbox.accepted[1, START.date()] += timedelta(hours=4, seconds=1)
    assert simulated.faults() == {"late_over_grace": 1}


def test_a_message_to_somebody_who_was_owed_none_is_unowed(simulated: Simulated) -> None:
    del simulated.owed[1, START.date()]
    assert simulated.faults() == {"unowed": 1}


def test_a_message_in_the_other_language_is_counted(simulated: Simulated, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(simulated.mailbox.expected_language, 1, "en")
    simulated.change(update(Batch).values(state="ready", sent_at=None))
    run(simulated.app, START, START + timedelta(minutes=5))
    assert simulated.mailbox.wrong_language == 1
    assert simulated.faults() == {"wrong_language": 1, "duplicates": 3}


def lose_everything(app: Application) -> None:
    with app.sessions.begin() as session:
        session.execute(delete(Delivery))


def send_again(app: Application) -> None:
    with app.sessions.begin() as session:
        session.execute(update(Batch).values(state="ready", sent_at=None))
    run(app, datetime(2027, 6, 10, 0, 0, tzinfo=UTC), datetime(2027, 6, 10, 0, 5, tzinfo=UTC))


@pytest.mark.parametrize(
    ("tamper", "fault"),
    [
        (lose_everything, "missing"),
        (send_again, "duplicates"),
    ],
    ids=["deleted", "doubled"],
)
def test_a_world_that_did_not_hold_ends_with_1_and_says_why(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tamper: Callable[[Application], None], fault: str
) -> None:
    real = command.run

    def tampered(app: Application, start: datetime, end: datetime) -> None:
        real(app, start, end)
        tamper(app)

    monkeypatch.setattr(command, "run", tampered)
    options = ("--hours", "1", "--subscribers", "600", "--json")
    ended = terminal("simulate", "--from", "2027-06-10T00:00:00Z", *options)
    assert ended.code == 1
    assert json.loads(ended.out)[fault] > 0
    (line,) = ended.err.splitlines()
    assert line.startswith(f"digest: the morning did not hold: {fault} ")
