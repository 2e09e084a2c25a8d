"""What processes have used: CPU time, which tells more than the clock on a machine that others use too, and memory."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine, text

from digest.cli.bench_processes import BenchError

PROCESSES = Path("/proc")
PARENT, SESSION, OWN_TIMES, WITH_CHILDREN = 1, 3, slice(11, 13), slice(11, 15)
"""Fields of ``/proc/PID/stat`` after the name: see proc(5)."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process as the kernel counts it."""

    pid: int
    name: str
    fields: tuple[str, ...]

    def seconds(self, which: slice = OWN_TIMES) -> float:
        """CPU time so far, in user and kernel mode."""
        return sum(map(int, self.fields[which])) / os.sysconf("SC_CLK_TCK")


def _all() -> Iterator[Process]:
    for folder in PROCESSES.glob("[0-9]*"):
        if (found := _read(int(folder.name))) is not None:
            yield found


def _read(pid: int) -> Process | None:
    try:
        words = (PROCESSES / str(pid) / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    head, _, rest = words.rpartition(")")
    return Process(pid, head.partition("(")[2], tuple(rest.split()))


def session_seconds(leader: int) -> float:
    """CPU seconds of a process started in a session of its own, with those it started."""
    return sum(one.seconds(WITH_CHILDREN) for one in _all() if int(one.fields[SESSION]) == leader)


def session_peak_mb(leader: int) -> float:
    """The most memory that any one process of this session has held, in MiB."""
    return max((_peak_kb(one.pid) for one in _all() if int(one.fields[SESSION]) == leader), default=0) / 1024


def _peak_kb(pid: int) -> int:
    try:
        lines = (PROCESSES / str(pid) / "status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def server_seconds(engine: Engine) -> float:
    """CPU seconds of a PostgreSQL on this machine, with all its processes; 0 where it runs elsewhere."""
    with engine.connect() as connection:
        pid = connection.scalar(text("SELECT pg_backend_pid()"))
    backend = _read(pid) if pid else None
    if backend is None or backend.name != "postgres":
        return 0.0
    parent = int(backend.fields[PARENT])
    main = _read(parent)
    if main is None:
        raise BenchError("PostgreSQL ended during the benchmark")
    return main.seconds(WITH_CHILDREN) + sum(one.seconds() for one in _all() if int(one.fields[PARENT]) == parent)
