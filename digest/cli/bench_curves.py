"""What a morning costs as the list, its briefs, its cadences and the workers become more; and what memory it takes."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pygal
from sqlalchemy import select, text

from digest.cli.bench_list import ZONE, set_morning
from digest.cli.bench_processes import free_port, listens, process, wait_until
from digest.cli.bench_sendgrid import sending
from digest.cli.bench_stage import DIGEST, LONGEST, Stage, micros
from digest.cli.bench_usage import session_peak_mb
from digest.cli.context import utc_now
from digest.domain.language import Language
from digest.domain.schedule import EVERY_DAY
from digest.domain.topics import MUTED, topic_tree
from digest.store.tables import CadenceRow

USUAL = 100_000
"""Subscribers on the axes of anything else."""


@dataclass(frozen=True, slots=True)
class Morning:
    """What a curve varies."""

    subscribers: int
    briefs: int = 2
    cadences: int = 1
    workers: int = 2


AXES: dict[str, Sequence[int]] = {
    "subscribers": (10_000, 100_000, 1_000_000),
    "briefs": (2, 20, 200),
    "cadences": (1, 8, 64),
    "workers": (1, 2),
}
"""Values of each, with the others as they are in :class:`Morning`; cadences of one instant differ in their weekdays."""


@dataclass(frozen=True, slots=True)
class Point:
    """One morning measured.

    Attributes:
        planning_us: microseconds a brief to plan and compile ahead.
        rate: briefs a second from due to recorded.
        cpu_us: CPU microseconds a brief of that, by part.
    """

    axis: str
    value: int
    planning_us: float
    rate: float
    cpu_us: dict[str, float]

    def row(self) -> dict[str, Any]:
        """As it is printed."""
        return asdict(self)


def curves(most: int) -> Iterator[Point]:
    """Each axis's mornings, none of more than ``most`` subscribers."""
    for axis, values in AXES.items():
        for value in values:
            morning = replace(Morning(min(most, USUAL)), **{axis: value})
            if morning.subscribers <= most:
                yield _measured(axis, value, morning)


def _measured(axis: str, value: int, morning: Morning) -> Point:
    with sending(morning.subscribers, morning.workers) as work:
        _spread(work.stage, morning)
        planning = work.stage.prepare(utc_now().replace(second=0, microsecond=0))
        before = work.stage.cpu_seconds()
        took = work.stage.send()
        cpu = micros(before, work.stage.cpu_seconds(), morning.subscribers)
    return Point(axis, value, round(1e6 * planning / morning.subscribers, 1), round(morning.subscribers / took), cpu)


def _spread(stage: Stage, morning: Morning) -> None:
    """Give the readers so many choices of topics, and so many cadences that are due at the same instant."""
    today = 1 << utc_now().astimezone(ZoneInfo(ZONE)).weekday()
    masks = [mask for mask in range(EVERY_DAY, 0, -1) if mask & today][: morning.cadences]
    # Muted ones, since each choice must find something in the day's news.
    muted = [f"{MUTED}{topic.name}" for topic in topic_tree()]
    choices = ["", *muted, *(",".join(pair) for pair in combinations(muted, 2))]
    with stage.app.sessions.begin() as session:
        first = session.scalars(select(CadenceRow)).one()
        ids = [first.id]
        for mask in masks[1:]:
            same = {"timezone": first.timezone, "send_time": first.send_time, "weekdays": mask}
            session.add(row := CadenceRow(**same, created_at=first.created_at))
            session.flush()
            ids.append(row.id)
    values = {"cadences": ids, "topics": choices[: morning.briefs // len(Language)]}
    with stage.app.engine.begin() as connection:
        connection.execute(text(SPREAD), values)


def plot(found: Sequence[Point], path: Path) -> None:
    """CPU time a brief, by part, over each axis; a file for each beside ``path``."""
    for axis in AXES:
        own = [point for point in found if point.axis == axis]
        chart = pygal.XY(title=f"CPU microseconds a brief over {axis}", x_title=axis, logarithmic=True, js=[])
        for part in own[0].cpu_us if own else ():
            chart.add(part, [(point.value, point.cpu_us[part]) for point in own])
        path.with_name(f"{path.stem}-{axis}{path.suffix}").write_bytes(chart.render())


def memory(subscribers: int, workers: int) -> dict[str, float]:
    """Peak MiB of the largest process of each part, over a morning that the workers plan, compile and send."""
    port = free_port()
    with ExitStack() as stack:
        place = stack.enter_context(sending(subscribers, workers)).stage
        environment = {**place.environment, "PORT": str(port)}
        parts = {part: stack.enter_context(process([*DIGEST, part], environment)).pid for part in ("web", "beat")}
        wait_until(lambda: listens(port), "the web process did not start")
        set_morning(place.app, utc_now().replace(second=0, microsecond=0))
        place.release()
        wait_until(lambda: place.sent() == subscribers, "the morning did not end", LONGEST)
        return {name: round(session_peak_mb(pid), 1) for name, pid in {**place.parts, **parts}.items()}


SPREAD = """
UPDATE subscribers
   SET cadence_id = (CAST(:cadences AS bigint[]))[1 + id % cardinality(CAST(:cadences AS bigint[]))],
       topics = (CAST(:topics AS text[]))[1 + (id / 2) % cardinality(CAST(:topics AS text[]))]
"""
