"""Nudges: asking the workers for work that the database holds anyway."""

from collections.abc import Sequence
from contextlib import suppress
from queue import Full, Queue
from threading import Event, Thread

import structlog
from celery import Celery
from kombu.exceptions import OperationalError

SOON_SECONDS = 5.0
PAUSE_SECONDS = 0.1
"""Between two nudges: at most ten a second, so that a crowd's do not slow its own answers."""
MOST_WAITING = 50

log = structlog.get_logger()


class Nudges:
    """Nudges for those who must not wait: taken at once and passed on by a thread of their own, few at a time.

    A nudge costs more than a row, so in a crowd most are left out: the next tick finds what they were about.

    Args:
        queue: whose workers are asked.
    """

    def __init__(self, app: Celery, queue: str) -> None:
        self._app, self._queue = app, queue
        self._waiting: Queue[int] = Queue(MOST_WAITING)
        self._pause = Event()
        self._thread = Thread(target=self._pass_on, name=f"nudges-{queue}", daemon=True)

    def start(self) -> "Nudges":
        """Begin to pass on, until the process ends."""
        self._thread.start()
        return self

    def __call__(self, ids: Sequence[int]) -> None:
        """Take these in; returns at once."""
        with suppress(Full):
            for each in ids:
                self._waiting.put_nowait(each)

    @property
    def waiting(self) -> int:
        """How many are yet to be passed on."""
        return self._waiting.qsize()

    def _pass_on(self) -> None:
        while True:
            nudge(self._app, self._queue, [self._waiting.get()])
            self._pause.wait(PAUSE_SECONDS)


def nudge(app: Celery, queue: str, ids: Sequence[int]) -> bool:
    """Ask the workers to do these; without a broker a later tick finds them in the database.

    Returns:
        whether the broker took them.
    """
    try:
        for each in ids:
            app.send_task(f"digest.{queue}", args=[each])
    except OperationalError:
        log.warning("broker_unreachable", queue=queue, waiting=len(ids))
        return False
    return True


def nudge_later(app: Celery, queue: str, work_id: int, seconds: float | None) -> None:
    """Ask again in a moment, where that is sooner than the ticks are sure to; they find all the rest."""
    if seconds is None or seconds > SOON_SECONDS:
        return
    with suppress(OperationalError):
        app.send_task(f"digest.{queue}", args=[work_id], countdown=seconds)
