"""``digest simulate``: the whole world's mornings in a minute, with a report and a plot."""

import json
import time as stopwatch
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import pygal
import typer

from digest.bootstrap import build, sender_of
from digest.cli.context import instant_text, read_instant
from digest.cli.output import AsJson, print_json, print_table, say
from digest.cli.simulation import CountingMailbox, Due, Key, due_sends, expect_languages, report, run
from digest.cli.world import make_list, make_news
from digest.domain.errors import PermanentError
from digest.providers.outbox import OutboxProvider
from digest.settings import load_settings
from digest.store.database import migrate

MUST_BE_ZERO = ("early", "late_over_grace", "duplicates", "missing", "unowed", "wrong_language", "unknown", "failed")


def simulate(
    start: Annotated[str, typer.Option("--from", help="ISO 8601 instant at which the simulated clock starts.")],
    hours: Annotated[int, typer.Option(min=1, max=24 * 60)] = 24,
    subscribers: Annotated[int, typer.Option(min=1, max=1_000_000)] = 20_000,
    seed: Annotated[int, typer.Option(help="The same seed makes the same list.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for the report and the plot.")] = Path("var/simulation"),
    as_json: AsJson = False,
) -> None:
    """Run a stretch of world time over a synthetic list and hold the ledger against what was accepted."""
    begins = read_instant(start, "from")
    ends = begins + timedelta(hours=hours)
    with TemporaryDirectory(prefix="digest-simulation-") as folder:
        result, points = _run(Path(folder), begins, ends, subscribers, seed)
    result = {"from": instant_text(begins), "hours": hours, "subscribers": subscribers, "seed": seed} | result
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.json").write_text(json.dumps(result, ensure_ascii=False, indent=2), encoding="utf-8")
    (out / "local_send_times.svg").write_bytes(_plot(points, begins))
    if as_json:
        print_json(result)
    else:
        print_table(("", ""), [(name, value) for name, value in result.items() if name != "zones"])
        say(f"Report and plot: {out}")
    if broken := [name for name in MUST_BE_ZERO if result[name]]:
        raise PermanentError(f"the morning did not hold: {', '.join(f'{name} {result[name]}' for name in broken)}")


def _run(
    folder: Path, begins: datetime, ends: datetime, subscribers: int, seed: int
) -> tuple[dict[str, Any], list[tuple[datetime, float]]]:
    """The report, and for each send (instant, local hour of the day)."""
    began = stopwatch.perf_counter()
    settings = load_settings().model_copy(update={"database_url": f"sqlite:///{folder}/simulation.db"})
    mailbox = CountingMailbox()
    app = build(settings, OutboxProvider(sender_of(settings), mailbox))
    try:
        migrate(app.engine)
        make_news(app, begins, ends)
        make_list(app, subscribers, seed, begins)
        expect_languages(app, mailbox)
        owed = due_sends(app, begins, ends)
        run(app, begins, ends)
        return report(app, mailbox, owed, began), _points(mailbox, owed)
    finally:
        app.close()


def _points(mailbox: CountingMailbox, owed: dict[Key, Due]) -> list[tuple[datetime, float]]:
    found = {(at, owed[key].zone) for key, at in mailbox.accepted.items() if key in owed}
    return sorted((at, _hour(at, zone)) for at, zone in found)


def _hour(at: datetime, zone: str) -> float:
    local = at.astimezone(ZoneInfo(zone))
    return local.hour + local.minute / 60 + local.second / 3600


def _plot(points: list[tuple[datetime, float]], begins: datetime) -> bytes:
    """Each zone's sends: hours since the start across, local time of day up; all belong on the line at 8."""
    chart = pygal.XY(
        stroke=False, show_legend=False, js=(), range=(6, 14), x_title="hours since the start", y_title="local hour"
    )
    chart.title = "Local time at which each zone's brief was accepted"
    chart.add("sends", [((at - begins).total_seconds() / 3600, hour) for at, hour in points])
    plot: bytes = chart.render()
    return plot
