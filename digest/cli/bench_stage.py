"""A whole installation for a benchmark: database, broker, provider's double, worker processes, a list of one zone."""

import time as stopwatch
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from celery import Celery
from kombu.entity import Exchange, Queue
from sqlalchemy import text

from digest.bootstrap import Application
from digest.cli.bench_database import run_alone, scratch_application
from digest.cli.bench_list import fill_zone, plan_and_compile, set_morning
from digest.cli.bench_processes import BenchError, process, wait_until
from digest.cli.bench_servers import broker_server
from digest.cli.bench_usage import server_seconds, session_peak_mb, session_seconds
from digest.cli.context import utc_now
from digest.settings import PREFIX, Settings, load_settings
from digest.store.sending import set_paused

DIGEST = ("-c", "from digest.main import main; main()")
LEAD = timedelta(minutes=5)
LONGEST = 3600.0
TICKS = Queue("tick", Exchange("tick"), routing_key="tick")  # type: ignore[no-untyped-call] # kombu is typed in part


@dataclass(frozen=True, slots=True)
class Stage:
    """An installation whose workers wait for a morning.

    Attributes:
        app: for looking at the database and for what happens ahead of the instant.
        subscribers: all of them due at one instant.
        broker: reaches the workers.
        parts: process id of each part, by what it is.
        environment: the settings of every process of the installation.
    """

    app: Application
    subscribers: int
    broker: Celery
    parts: dict[str, int]
    environment: Mapping[str, str]

    def prepare(self, send_at: datetime) -> float:
        """Plan and compile a morning of that instant, with the sending switched off; seconds that this took."""
        set_morning(self.app, send_at)
        with self.app.sessions.begin() as session:
            set_paused(session, paused=True, now=utc_now())
        began = stopwatch.perf_counter()
        planned = plan_and_compile(self.app, send_at - LEAD)
        took = stopwatch.perf_counter() - began
        if planned != self.subscribers:
            raise BenchError(f"{planned} deliveries were planned for {self.subscribers} subscribers")
        # What autovacuum does between planning and the instant.
        run_alone(self.app.engine, "ANALYZE")
        return took

    def switch_on(self) -> None:
        """Allow the sending of whatever is due."""
        with self.app.sessions.begin() as session:
            set_paused(session, paused=False, now=utc_now())

    def release(self) -> None:
        """Switch the sending on and give the scheduler its turn, as beat does."""
        self.switch_on()
        self.broker.send_task("digest.tick", queue=TICKS)

    def send(self) -> float:
        """Seconds from the release until the last batch is recorded.

        Raises:
            BenchError: not every delivery was sent.
        """
        began = stopwatch.perf_counter()
        self.release()
        self.wait_for_the_last()
        took = stopwatch.perf_counter() - began
        self.check()
        return took

    def wait_for_the_last(self) -> None:
        """Until no batch waits for anything."""
        wait_until(lambda: not self._is_open(), "the morning did not end", LONGEST)

    def _is_open(self) -> bool:
        with self.app.engine.connect() as connection:
            return bool(connection.scalar(text(OPEN)))

    def check(self) -> None:
        """Raise BenchError unless the ledger says of everybody that their brief was sent."""
        if (sent := self.sent()) != self.subscribers:
            raise BenchError(f"{sent} of {self.subscribers} deliveries were sent")

    def sent(self) -> int:
        """How many the ledger says were sent."""
        with self.app.engine.connect() as connection:
            return connection.scalar(text(SENT)) or 0

    def cpu_seconds(self) -> dict[str, float]:
        """CPU time that each part has used so far."""
        parts = {name: session_seconds(pid) for name, pid in self.parts.items()}
        return parts | {"postgresql": server_seconds(self.app.engine)}

    def used_since(self, before: Mapping[str, float]) -> dict[str, float]:
        """CPU microseconds a subscriber since then, by part."""
        return micros(before, self.cpu_seconds(), self.subscribers)

    def peak_rss_mb(self, part: str = "workers") -> float:
        """The most memory that any one process of this part has held."""
        return round(session_peak_mb(self.parts[part]), 1)


@contextmanager
def stage(subscribers: int, workers: int, provider: Mapping[str, str], parts: Mapping[str, int]) -> Iterator[Stage]:
    """An installation until the block ends.

    Args:
        subscribers: how many.
        workers: processes that send.
        provider: the settings that name it.
        parts: processes that run already, for counting what they use.
    """
    with ExitStack() as stack:
        values = {
            "BROKER_URL": stack.enter_context(broker_server(load_settings())),
            "DATABASE_URL": load_settings().database_url,
            "SECRET_KEYS": "a-secret-of-a-benchmark-only",
            "BASE_URL": "http://localhost:8025",
            **provider,
        }
        settings = Settings(_env_file=None, **{name.lower(): value for name, value in values.items()})  # type: ignore[arg-type] # as the environment gives them
        app = stack.enter_context(scratch_application(settings))
        fill_zone(app, subscribers, utc_now())
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="bench-")))
        values["DATABASE_URL"] = app.settings.database_url
        environment = {f"{PREFIX}{name}": value for name, value in values.items()}
        hands = stack.enter_context(_workers(workers, environment, folder / "workers.log"))
        yield Stage(app, subscribers, hands.broker, {"workers": hands.pid, **parts}, environment)


@dataclass(frozen=True, slots=True)
class _Hands:
    """Worker processes that run."""

    pid: int
    broker: Celery


@contextmanager
def _workers(number: int, environment: Mapping[str, str], log: Path) -> Iterator[_Hands]:
    """``digest worker`` with that many processes, ready for work."""
    arguments = [*DIGEST, "worker", "--queues", "tick,compile,send", "--concurrency", str(number)]
    address = environment[f"{PREFIX}BROKER_URL"]
    with process(arguments, environment, log) as started, Celery("bench", broker=address) as broker:
        wait_until(lambda: bool(broker.control.ping(timeout=0.5)), f"no worker answered, see {log},")
        yield _Hands(started.pid, broker)


def micros(before: Mapping[str, float], after: Mapping[str, float], pieces: int) -> dict[str, float]:
    """CPU microseconds a piece of work between two counts, by part."""
    return a_piece({name: after[name] - before[name] for name in after}, pieces)


def a_piece(parts: Mapping[str, float], pieces: int) -> dict[str, float]:
    """CPU microseconds a piece of work, by part."""
    return {name: round(1e6 * seconds / pieces, 1) for name, seconds in parts.items()}


OPEN = "SELECT EXISTS (SELECT 1 FROM batches WHERE state IN ('planned', 'ready', 'sending', 'unknown'))"
SENT = """
SELECT count(*) FROM deliveries d JOIN batches b ON b.id = d.batch_id
 WHERE coalesce(d.state, b.state) = 'sent'
"""
