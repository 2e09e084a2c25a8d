"""The queueing model against what can be reckoned by hand, and its command."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select

from digest.cli import bench_curves
from digest.cli.bench_stage import Stage
from digest.cli.scale_model import Fleet, Measured, morning
from digest.store.tables import Brief
from tests.cli.terminal import Terminal

COST = Measured("made up", plan=10, database=10, worker=20, broker=1)
QUICK = Fleet(hands=1, cores=1, answer=1e-6, requests=1e9)


def test_one_hand_takes_as_long_as_all_its_steps_together() -> None:
    came = morning(100_000, QUICK, COST)
    assert came.last == pytest.approx(100_000 * 31e-6 - 5e-3, rel=0.01), "the last recording comes after its acceptance"
    assert came.planning == pytest.approx(1.0)
    assert came.limit == "workers"


def test_more_hands_are_faster_until_the_database_has_no_core_left() -> None:
    four, many = (morning(1_000_000, replace(QUICK, hands=hands), COST) for hands in (4, 64))
    assert many.last < four.last
    assert many.last == pytest.approx(10, rel=0.05)
    assert many.limit == "database"


def test_no_fleet_is_faster_than_the_provider_takes_requests() -> None:
    came = morning(1_000_000, Fleet(hands=500, cores=64, requests=100), COST)
    assert came.last >= 1000 / 100
    assert came.limit == "provider"


def test_hands_that_mostly_wait_for_answers_are_what_to_add() -> None:
    slow = Fleet(hands=8, answer=2)
    assert morning(1_000_000, slow, COST).limit == "hands"
    assert morning(1_000_000, replace(slow, hands=16), COST).last < morning(1_000_000, slow, COST).last * 0.6


def test_the_command_gives_each_fleet_its_morning_and_the_curves(terminal: Terminal) -> None:
    path, curves = terminal.write("measured.json", json.dumps(_costs())), terminal.folder / "curves.svg"
    found = terminal.read("bench", "scale", "--measured", path, "--readers", 10_000, "--plot", curves)
    assert found["measured"] == _costs()
    assert {case["readers"] for case in found["cases"]} == {10_000}
    assert all(0 < case["p50_s"] <= case["p99_s"] <= case["last_s"] for case in found["cases"])
    assert curves.read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(("text", "word"), [("{}", "machine: Field required"), ("no", "JSON"), (None, "can't be read")])
def test_costs_that_cannot_be_read_are_named_with_what_is_wrong(
    terminal: Terminal, text: str | None, word: str
) -> None:
    path = terminal.folder / "none.json" if text is None else terminal.write("measured.json", text)
    assert word in terminal.refused("bench", "scale", "--measured", path)


def _costs() -> dict[str, object]:
    return {name: getattr(COST, name) for name in ("machine", "plan", "database", "worker", "broker")}


@pytest.mark.usefixtures("servers")
def test_a_point_of_a_curve_is_a_morning_with_as_many_briefs_as_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(bench_curves, "AXES", {"briefs": (4,)})
    monkeypatch.setattr(Stage, "check", lambda stage: seen.append(_counts(stage)))
    (point,) = bench_curves.curves(40)
    bench_curves.plot([point], tmp_path / "curves.svg")
    assert (point.axis, point.value) == ("briefs", 4)
    assert point.rate > 0
    assert seen[-1] == (40, 4)
    assert (tmp_path / "curves-briefs.svg").exists()


def _counts(stage: Stage) -> tuple[int, int]:
    with stage.app.sessions() as session:
        return stage.sent(), session.scalar(select(func.count()).select_from(Brief)) or 0
