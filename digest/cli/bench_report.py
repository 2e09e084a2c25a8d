"""What a bench reports: rates beside those of its baseline, measured in turns."""

import os
import platform
import resource
import time as stopwatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Annotated, Any

import typer

from digest.cli.output import print_json, print_table

Subscribers = Annotated[int, typer.Option(min=1, max=10_000_000, help="Length of the synthetic list.")]
Workers = Annotated[int, typer.Option(min=1, max=64, help="Worker processes that send.")]
Runs = Annotated[int, typer.Option(min=1, max=100, help="How often to measure; the medians count.")]


@dataclass(frozen=True, slots=True)
class Run:
    """One measurement: how many per second, of the thing itself and of its baseline."""

    rate: float
    baseline_rate: float

    @property
    def ratio(self) -> float:
        """How the two compare at one time on one machine."""
        return self.rate / self.baseline_rate


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
            "spread": {
                "rate": spread([run.rate for run in self.runs], 1),
                "baseline_rate": spread([run.baseline_rate for run in self.runs], 1),
                "ratio": spread([run.ratio for run in self.runs], 3),
            },
            "peak_rss_mb": peak_rss_mb(),
            "machine": machine(),
            **self.more,
        }


def spread(values: Sequence[float], digits: int) -> list[float]:
    """The least and the greatest of several measurements."""
    return [round(min(values), digits), round(max(values), digits)]


def peak_rss_mb() -> float:
    """The most memory this process has held, in MiB (Linux counts in KiB)."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def machine() -> str:
    """What it was measured on, as far as a program can tell."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


def rate_of(work: Callable[[], object], times: int) -> float:
    """How often a second ``work`` can be done, over ``times`` repeats."""
    began = stopwatch.perf_counter()
    for _ in range(times):
        work()
    return times / (stopwatch.perf_counter() - began)


def seconds_of(work: Callable[[], object]) -> float:
    """How long ``work`` takes once."""
    return 1 / rate_of(work, 1)


def measure(work: Callable[[], object], baseline: Callable[[], object], runs: int, times: int) -> list[Run]:
    """Measurements of both, in turns, so that what else the machine does falls on both; each is warmed up first."""
    work()
    baseline()
    return [Run(rate_of(work, times), rate_of(baseline, times)) for _ in range(runs)]


def show(row: dict[str, Any], *, as_json: bool) -> None:
    """Print what a bench found."""
    if as_json:
        print_json(row)
    else:
        print_table(("", ""), [(name, _shown(value)) for name, value in row.items() if name != "runs"])


def _shown(value: object) -> object:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(one)}" for name, one in value.items())
    return " to ".join(map(str, value)) if isinstance(value, list) else value


def middle(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The median of each of several figures."""
    return {name: median(row[name] for row in rows) for name in rows[0]}
