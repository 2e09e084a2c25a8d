"""Briefs through SendGrid's double, from due to recorded, beside the least that anybody must do to post them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.client import HTTPConnection
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import undefer

from digest.bootstrap import Application, sender_of
from digest.cli.bench_processes import (
    CHECKOUT,
    BenchError,
    free_port,
    listens,
    process,
    seconds_together,
    wait_until,
)
from digest.cli.bench_report import Run
from digest.cli.bench_stage import Stage, a_piece, stage
from digest.cli.context import utc_now
from digest.domain.errors import BadInputError
from digest.providers.sendgrid_request import mail_of
from digest.steps.send_batches import message_of
from digest.store.tables import Brief

KEY = "SG.bench-key"
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Double:
    """SendGrid on loopback, in a process of its own."""

    port: int
    pid: int

    @property
    def settings(self) -> dict[str, str]:
        """What the engine has to know of it."""
        return {
            "PROVIDER": "sendgrid",
            "SENDGRID_API_KEY": KEY,
            "SENDGRID_HOST": f"http://127.0.0.1:{self.port}",
        }

    def ask(self, path: str) -> Any:  # noqa: ANN401 - any JSON value
        """What it says of itself."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path)
        found = json.loads(connection.getresponse().read())
        connection.close()
        return found


@contextmanager
def double() -> Iterator[Double]:
    """The double of the tests until the block ends.

    Raises:
        BadInputError: the program runs without its tests.
    """
    program = CHECKOUT / "tests" / "doubles" / "sendgrid_by_hand.py"
    if not program.exists():
        raise BadInputError("double", program.name, "is not here: run this benchmark in a checkout of the project.")
    port = free_port()
    arguments = ["-m", "tests.doubles.sendgrid_by_hand", "--port", str(port), "--key", KEY, "--every", "0.5"]
    with process(arguments) as started:
        wait_until(lambda: listens(port), "the double did not start")
        yield Double(port, started.pid)


@dataclass(slots=True)
class Sending:
    """The work that the bench measures.

    Attributes:
        cpu: of each run, CPU microseconds a brief by part.
        baseline_cpu: likewise of the baseline.
        beforehand: of each run, the rate of bodies that were built before the clock started.
    """

    stage: Stage
    double: Double
    workers: int
    cpu: list[dict[str, float]] = field(default_factory=list)
    baseline_cpu: list[dict[str, float]] = field(default_factory=list)
    beforehand: list[float] = field(default_factory=list)

    def run(self) -> Run:
        """A morning through the engine, then the same by the posters."""
        rate = self.send()
        baseline = self.post(beforehand=False)
        self.beforehand.append(self.post(beforehand=True))
        return Run(rate, baseline)

    def send(self) -> float:
        """Briefs a second from due to recorded."""
        taken = self.double.ask("/stats")["recipients"]
        self.stage.prepare(utc_now().replace(second=0, microsecond=0))
        before = self.stage.cpu_seconds()
        took = self.stage.send()
        self.cpu.append(self.stage.used_since(before))
        self._check(taken)
        return self.stage.subscribers / took

    def _check(self, taken: int) -> None:
        if (came := self.double.ask("/stats")["recipients"] - taken) != self.stage.subscribers:
            raise BenchError(f"{came} briefs came for {self.stage.subscribers} subscribers")

    def post(self, *, beforehand: bool) -> float:
        """Personalizations a second, by as many processes as there are workers."""
        tasks = [self._task(number, beforehand=beforehand) for number in range(self.workers)]
        before = self.stage.cpu_seconds()
        took, used = seconds_together("digest.cli.bench_posts", tasks)
        if not beforehand:
            parts = {"posters": used, "double": self.stage.cpu_seconds()["double"] - before["double"]}
            self.baseline_cpu.append(a_piece(parts, self.stage.subscribers))
        return self.stage.subscribers / took

    def _task(self, number: int, *, beforehand: bool) -> dict[str, Any]:
        share = -(-self.stage.subscribers // self.workers)
        first = 1 + number * share
        return {
            **task_of(self.stage.app),
            "readers": [first, min(first + share, self.stage.subscribers + 1)],
            "port": self.double.port,
            "key": KEY,
            "beforehand": beforehand,
        }


@contextmanager
def sending(subscribers: int, workers: int) -> Iterator[Sending]:
    """An installation with that many worker processes; a first morning is over, so everything is warm."""
    with double() as service, stage(subscribers, workers, service.settings, {"double": service.pid}) as place:
        work = Sending(place, service, workers)
        work.send()
        work.cpu.clear()
        yield work


def task_of(app: Application) -> dict[str, Any]:
    """What a poster has to know to ask for the same as the engine."""
    with app.sessions() as session:
        brief = session.scalars(select(Brief).options(undefer(Brief.html), undefer(Brief.text)).limit(1)).one()
    message = message_of(brief)
    leave, settings = app.links.unsubscribe(1), app.links.preferences(1)
    mail = mail_of(message, [], sender_of(app.settings))
    return {
        "mail": mail,
        "tags": [message.slots[name] for name in ("unsubscribe_url", "preferences_url", "subscribed_on")],
        "on": "2 December 2026",
        "base_url": app.links.base_url,
        "pages": [url.removeprefix(f"{app.links.base_url}/").partition("/")[0] for url in (leave, settings)],
        "signature": leave.rpartition(".")[2],
    }
