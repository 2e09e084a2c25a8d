"""``digest bench``: how fast a part is, beside a baseline measured in the same run. Each bench adds a command here."""

import resource
import time as stopwatch
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Annotated, Any

import typer

from digest.cli.bench_compile import compiling
from digest.cli.bench_database import fill, scratch_application
from digest.cli.bench_tick import IDLE_AT, explain, statements_of
from digest.cli.context import application
from digest.cli.output import AsJson, print_json, print_table, say, warn
from digest.domain.language import Language
from digest.steps.take_turn import take_turn
from digest.store.database import ping

bench = typer.Typer(help="Benchmarks, each with its own baseline.", no_args_is_help=True)
Subscribers = Annotated[int, typer.Option(min=1, max=10_000_000, help="Length of the synthetic list.")]
Runs = Annotated[int, typer.Option(min=1, max=100, help="How often to measure; the medians count.")]


@dataclass(frozen=True, slots=True)
class Run:
    """One measurement: how many per second, of the thing itself and of its baseline."""

    rate: float
    baseline_rate: float


@dataclass(frozen=True, slots=True)
class Report:
    """What a bench found.

    Attributes:
        unit: what the rates count, such as ``ticks/s``.
        more: what this bench tells besides.
    """

    name: str
    subscribers: int
    unit: str
    runs: Sequence[Run]
    more: dict[str, Any] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """The report as the contract wants it."""
        rate = median(run.rate for run in self.runs)
        baseline = median(run.baseline_rate for run in self.runs)
        return {
            "name": self.name,
            "subscribers": self.subscribers,
            "unit": self.unit,
            "runs": [{"rate": round(run.rate, 1), "baseline_rate": round(run.baseline_rate, 1)} for run in self.runs],
            "rate": round(rate, 1),
            "baseline_rate": round(baseline, 1),
            "ratio": round(rate / baseline, 3),
            "peak_rss_mb": peak_rss_mb(),
            **self.more,
        }


def peak_rss_mb() -> float:
    """The most memory this process has held, in MiB (Linux counts in KiB)."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def rate_of(work: Callable[[], object], times: int) -> float:
    """How often a second ``work`` can be done, over ``times`` repeats."""
    began = stopwatch.perf_counter()
    for _ in range(times):
        work()
    return times / (stopwatch.perf_counter() - began)


def measure(work: Callable[[], object], baseline: Callable[[], object], runs: int, times: int) -> list[Run]:
    """Measurements of both, in turns, so that what else the machine does falls on both; each is warmed up first."""
    work()
    baseline()
    return [Run(rate_of(work, times), rate_of(baseline, times)) for _ in range(runs)]


def show(report: Report, *, as_json: bool) -> None:
    """Print a report."""
    row = report.row()
    if as_json:
        print_json(row)
    else:
        print_table(("", ""), [(name, value) for name, value in row.items() if name != "runs"])


@bench.command("tick")
def tick(
    subscribers: Subscribers = 1_000_000,
    runs: Runs = 5,
    show_plans: Annotated[bool, typer.Option("--explain", help="Print EXPLAIN (ANALYZE) of each query.")] = False,
    as_json: AsJson = False,
) -> None:
    """A tick with nothing due, beside as many bare round trips to the database as it has queries."""
    with scratch_application() as app:
        warn(f"Filling a scratch database with {subscribers:,} subscribers …")
        fill(app, subscribers, IDLE_AT)
        turn = partial(take_turn, app.sessions, app.provider, app.press, app.settings.policy, IDLE_AT)
        turn()
        statements = statements_of(turn, app.engine)
        found = measure(
            turn,
            lambda: ping(app.engine, len(statements)),
            runs,
            times=10,
        )
        plans = explain(app.engine, statements) if show_plans else []
    more = {"milliseconds": round(1000 / median(run.rate for run in found), 1), "queries": len(statements)}
    show(Report("tick", subscribers, "ticks/s", found, more), as_json=as_json)
    for plan in plans:
        (warn if as_json else say)(plan)


@bench.command("compile")
def compile_(
    subscribers: Subscribers = 20_000,
    runs: Runs = 5,
    stories: Annotated[int, typer.Option(min=1, max=12, help="Stories in a brief.")] = 12,
    as_json: AsJson = False,
) -> None:
    """A morning's words, two briefs and every reader's finished message, beside MJML run for each reader."""
    found: list[Run] = []
    costs: list[dict[str, float]] = []
    with application() as app:
        work = compiling(app, Language.ENGLISH, stories)
        for step in (work.brief, work.mail, work.naive):
            step()
        for _ in range(runs):
            brief, mail = rate_of(work.brief, times=10), rate_of(work.mail, subscribers)
            naive, template = rate_of(work.naive, times=50), rate_of(work.template, times=5)
            found.append(Run(subscribers / (len(Language) / brief + subscribers / mail), naive))
            costs.append(
                {
                    "template_ms": 1e3 / template,
                    "brief_ms": 1e3 / brief,
                    "reader_us": 1e6 / mail,
                    "naive_reader_us": 1e6 / naive,
                }
            )
    more = {name: round(median(cost[name] for cost in costs), 1) for name in costs[0]}
    size = round(len(work.message.html.encode()) / 1000, 1)
    show(Report("compile", subscribers, "messages/s", found, {**more, "html_kb": size}), as_json=as_json)
