"""Many sources at once: threads that wait for servers side by side, and an end for all of them."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Lock

from digest.steps.collect_stories import Collected, Desk, fetch_source
from digest.steps.write_texts import write_texts
from digest.store.database import Sessions

THREADS = 16
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Shift:
    """How long and how wide many sources are collected.

    Attributes:
        clock: what the time is.
        pause: waits a number of seconds.
        within: no fetch starts later than this after the beginning; one that runs has its own limit.
        threads: how many fetches wait side by side.
    """

    clock: Callable[[], datetime]
    pause: Callable[[float], None]
    within: timedelta
    threads: int = THREADS


@dataclass(slots=True)
class _Round:
    """The sources still to be fetched, each with the instant before which it may not be, and what the others gave."""

    waiting: dict[int, datetime]
    running: dict[Future[Collected], int] = field(default_factory=dict)
    results: dict[int, Collected] = field(default_factory=dict)
    broken: list[BaseException] = field(default_factory=list)


def collect_all(sessions: Sessions, desk: Desk, sources: Sequence[tuple[int, str]], shift: Shift) -> list[Collected]:
    """Fetch these sources, given by id and name, side by side; then have the texts of what came written.

    Hosts are spared: of two sources on one host the second waits for its turn. What was not reached in time says so and
    stays due. A fault of the program itself is raised when all others are done.
    """
    start = shift.clock()
    end = start + shift.within
    this = _Round({source_id: start for source_id, _ in sources})
    desk = replace(desk, alone=Lock())
    with ThreadPoolExecutor(shift.threads, "collect") as pool:
        while this.running or (this.waiting and shift.clock() < end):
            _begin(sessions, desk, this, shift, end, pool)
            _take_results(this, shift)
    while write_texts(sessions, desk.editor, shift.clock()) and shift.clock() < end:
        continue
    if this.broken:
        raise this.broken[0]
    late = f"not reached within {shift.within.total_seconds():.0f} s; it stays due"
    return [this.results.get(source_id, Collected(name, error=late)) for source_id, name in sources]


def _begin(sessions: Sessions, desk: Desk, this: _Round, shift: Shift, end: datetime, pool: ThreadPoolExecutor) -> None:
    now = shift.clock()
    room = shift.threads - len(this.running) if now < end else 0
    ready = [source_id for source_id, not_before in this.waiting.items() if not_before <= now]
    for source_id in ready[:room]:
        del this.waiting[source_id]
        this.running[pool.submit(fetch_source, sessions, desk, source_id, now)] = source_id


def _take_results(this: _Round, shift: Shift) -> None:
    if not this.running:
        shift.pause(_LOOK_SECONDS)
        return
    done, _ = wait(this.running, _LOOK_SECONDS, FIRST_COMPLETED)
    for future in done:
        source_id = this.running.pop(future)
        if broken := future.exception():
            this.broken.append(broken)
        elif (until := future.result().put_off_until) is not None:
            this.waiting[source_id] = until
        else:
            this.results[source_id] = future.result()
