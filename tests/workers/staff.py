"""Real workers of the real Celery app in threads of this process, and what they have done."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Event, Thread
from typing import Any

import redis
from celery import Celery
from celery.signals import task_failure, task_postrun

from digest.bootstrap import Application
from tests.steps.recording import RecordingProvider
from tests.steps.world import World
from tests.workers.waiting import LONGEST_SECONDS, eventually
from workers.queues import MEANING
from workers.tasks import take_tick


@dataclass
class Staff:
    """The application, its Celery app over a broker, and the clock that tasks read."""

    application: Application
    celery: Celery
    broker: redis.Redis
    provider: RecordingProvider
    now: datetime
    done: Counter[str] = field(default_factory=Counter)
    failed: list[object] = field(default_factory=list)

    @property
    def world(self) -> World:
        """The list, the stories and the ledger of the application."""
        own = self.application
        return World(own.sessions, own.press, self.provider, own.settings.policy)

    def later(self, **by: float) -> None:
        self.now += timedelta(**by)

    def tick(self) -> None:
        """One turn of the scheduler, here."""
        take_tick(self.celery, self.application, self.now)

    def waiting(self) -> dict[str, int]:
        """How many messages wait in the broker, by queue."""
        found = {name: self.broker.llen(name) for name in MEANING}
        return {name: number for name, number in found.items() if number}

    def publish(self, queue: str, ids: Sequence[int] = ()) -> None:
        """A message per id, or one without any."""
        for arguments in [[each] for each in ids] or [[]]:
            self.celery.send_task(f"digest.{queue}", args=arguments)

    def finish(self, queue: str, times: int) -> None:
        """Wait until so many tasks of a queue have ended."""
        self.until(lambda: self.done[f"digest.{queue}"] >= times)

    def until(self, reached: Callable[[], bool]) -> None:
        """Wait for it, but not beyond the first task that failed."""
        eventually(reached, alive=self.check)
        self.check()

    def check(self) -> None:
        """No task has failed."""
        assert self.failed == []

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """A worker with four threads until the block ends. One: all in a process would share one event loop."""
        ready = Event()

        def count(*, sender: Any, **_: object) -> None:  # noqa: ANN401 - a task
            self.done[sender.name] += 1

        def note(*, exception: BaseException, **_: object) -> None:
            self.failed.append(exception)

        quiet = {"without_heartbeat": True, "without_mingle": True, "without_gossip": True, "quiet": True}
        worker = self.celery.WorkController(
            pool_cls="threads", concurrency=4, loglevel="WARNING", ready_callback=lambda _: ready.set(), **quiet
        )
        thread = Thread(target=worker.start, name="worker under test")
        signals = ((task_postrun, count), (task_failure, note))
        for signal, receiver in signals:
            signal.connect(receiver, weak=False)
        self.celery.set_default()
        thread.start()
        try:
            assert ready.wait(LONGEST_SECONDS)
            yield
        finally:
            worker.stop()
            thread.join(LONGEST_SECONDS)
            for signal, receiver in signals:
                signal.disconnect(receiver)
        assert not thread.is_alive()
