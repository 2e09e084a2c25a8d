"""Processes beside this one, for reading many documents: one interpreter keeps no more than one core busy."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Self, TypeVar

MOST = 3
_KIND = "forkserver"
"""A fork of this process would copy its threads' locks and its connections, and may wait for them for ever."""
Result = TypeVar("Result")


def spare_cores() -> int:
    """How many processes beside this one have a core, :data:`MOST` at most; 0 where there is no fork server."""
    is_there = _KIND in multiprocessing.get_all_start_methods()
    return min(MOST, (os.cpu_count() or 1) - 1) if is_there else 0


class SideProcesses:
    """Implements :class:`digest.ports.Runner`.

    Args:
        number: how many; with 0 the work is done by this process itself.
    """

    def __init__(self, number: int) -> None:
        self._pool = _started(number) if number else None

    def __call__(self, work: Callable[[], Result]) -> Result:
        """Do it beside this process and wait; here, where the others have died."""
        if self._pool is None:
            return work()
        try:
            return self._pool.submit(work).result()
        except BrokenProcessPool:
            return work()

    def __enter__(self) -> Self:
        """For a ``with`` block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let the processes end."""
        if self._pool is not None:
            self._pool.shutdown()


def _started(number: int) -> ProcessPoolExecutor:
    pool = ProcessPoolExecutor(number, multiprocessing.get_context(_KIND), initializer=_leave_interrupts)
    # All of them start with the first piece of work.
    pool.submit(os.getpid).result()
    return pool


def _leave_interrupts() -> None:
    """Ctrl-C is for the process that waits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
