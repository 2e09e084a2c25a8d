"""How far a long command is: a bar for people at a terminal, a line now and then for a log."""

import sys
import time as stopwatch
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from digest.cli.output import warn

EVERY_SECONDS = 10.0
"""How often a log is told."""

Tell = Callable[[float, int], None]
"""Called with the share that is done, 0 to 1, and the rows so far."""


@contextmanager
def progress(what: str) -> Iterator[Tell]:
    """Tell how far it is, on standard error, with an estimate of what is left."""
    if not sys.stderr.isatty():
        yield _Log(what).tell
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rows]:,} rows"),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(elapsed_when_finished=False),
    )
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=60) as bar:
        task = bar.add_task(what, total=1.0, rows=0)
        yield lambda share, rows: bar.update(task, completed=share, rows=rows)


class _Log:
    """Lines for a log; a command that is done within seconds says none."""

    def __init__(self, what: str) -> None:
        self._what, self._began = what, stopwatch.monotonic()
        self._told = self._began

    def tell(self, share: float, rows: int) -> None:
        """Say how far it is, if it is time to."""
        now = stopwatch.monotonic()
        if now - self._told < EVERY_SECONDS or not 0 < share < 1:
            return
        self._told = now
        left = (now - self._began) * (1 - share) / share
        warn(f"{self._what}: {rows:,} rows, {share:.0%}, about {left:.0f} s left")
