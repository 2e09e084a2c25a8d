"""Briefs into a mail server that takes everything, due to recorded, beside their finished bytes on plain sockets."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import undefer

from digest.bootstrap import Application, sender_of
from digest.cli.bench_compile import reader
from digest.cli.bench_processes import (
    BenchError,
    answer_of,
    free_port,
    listens,
    process,
    program,
    seconds_together,
    tell,
    wait_until,
)
from digest.cli.bench_report import Run
from digest.cli.bench_stage import Stage, a_piece, stage
from digest.cli.context import utc_now
from digest.rendering.mime import Encoded
from digest.steps.send_batches import message_of
from digest.store.tables import Brief

POSTFIX = "smtp-sink"
DIFFERENT = 400
"""Messages of each language that are kept ready; the baseline takes them in turns, for memory's sake."""


@dataclass(frozen=True, slots=True)
class Taker:
    """The mail server: postfix's sink where it is installed, else our own.

    Attributes:
        count: how many messages it has taken; None where it does not say.
    """

    name: str
    port: int
    pid: int
    started: Any

    def count(self) -> int | None:
        """How many messages it has taken so far; None where it does not say."""
        if self.name == POSTFIX:
            return None
        tell(self.started, "count")
        return int(answer_of(self.started))


@contextmanager
def taker() -> Iterator[Taker]:
    """A mail server until the block ends."""
    port = free_port()
    path = which(POSTFIX)
    start = (
        program([path, "-u", "nobody", f"127.0.0.1:{port}", "128"])
        if path
        else process(["-m", "digest.cli.bench_sink", str(port)])
    )
    with start as started:
        wait_until(lambda: listens(port), "the mail server did not start")
        yield Taker(POSTFIX if path else "own sink", port, started.pid, started)


@dataclass(slots=True)
class Mailing:
    """The work that the bench measures.

    Attributes:
        folder: where the finished messages lie.
        cpu: of each run, CPU microseconds a message by part.
        baseline_cpu: likewise of the baseline.
        kilobytes: of a message on the wire, on average.
    """

    stage: Stage
    taker: Taker
    workers: int
    folder: Path
    cpu: list[dict[str, float]] = field(default_factory=list)
    baseline_cpu: list[dict[str, float]] = field(default_factory=list)
    kilobytes: float = 0.0

    def run(self) -> Run:
        """A morning through the engine, then as many finished messages over as many connections."""
        return Run(self.send(), self.write())

    def send(self) -> float:
        """Messages a second from due to recorded."""
        taken = self.taker.count()
        self.stage.prepare(utc_now().replace(second=0, microsecond=0))
        before = self.stage.cpu_seconds()
        took = self.stage.send()
        self.cpu.append(self.stage.used_since(before))
        if taken is not None and self.taker.count() != taken + self.stage.subscribers:
            raise BenchError(f"the mail server did not take {self.stage.subscribers} messages")
        return self.stage.subscribers / took

    def write(self) -> float:
        """Finished messages a second over plain sockets, one connection for each worker."""
        file = self.folder / "mails.json"
        mails = finished(self.stage.app)
        self.kilobytes = round(sum(len(mail["text"]) for mail in mails) / len(mails) / 1000, 1)
        file.write_text(json.dumps(mails), encoding="ascii")
        share = -(-self.stage.subscribers // self.workers)
        task = {"file": str(file), "port": self.taker.port, "messages": share}
        before = self.stage.cpu_seconds()
        took, used = seconds_together("digest.cli.bench_pipeline", [task] * self.workers)
        parts = {"writers": used, "sink": self.stage.cpu_seconds()["sink"] - before["sink"]}
        self.baseline_cpu.append(a_piece(parts, share * self.workers))
        return share * self.workers / took


@contextmanager
def mailing(subscribers: int, workers: int) -> Iterator[Mailing]:
    """An installation with that many worker processes; a first morning is over, so everything is warm."""
    with taker() as server, TemporaryDirectory(prefix="bench-") as folder:
        provider = {"PROVIDER": "smtp", "SMTP_URL": f"smtp://127.0.0.1:{server.port}"}
        with stage(subscribers, workers, provider, {"sink": server.pid}) as place:
            work = Mailing(place, server, workers, Path(folder))
            work.send()
            work.cpu.clear()
            yield work


def finished(app: Application) -> list[dict[str, str]]:
    """Messages as the engine makes them, for the first readers of each language in turns."""
    with app.sessions() as session:
        words = select(Brief).options(undefer(Brief.html), undefer(Brief.text)).order_by(Brief.id)
        briefs = list(session.scalars(words))
    sender = sender_of(app.settings)
    encoded = [(Encoded(message_of(brief), sender), brief.language) for brief in briefs]
    return [
        {
            "sender": sender.address,
            "recipient": (recipient := reader(app, number, language)).address,
            "text": mail.for_recipient(recipient, utc_now()).decode("ascii"),
        }
        for number in range(1, DIFFERENT + 1)
        for mail, language in encoded
    ]
