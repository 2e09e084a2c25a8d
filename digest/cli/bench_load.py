"""A load on a web server on this machine: requests at their own times, as visitors come, or as fast as it answers."""

import time as stopwatch
from asyncio import Queue, Runner, TaskGroup, sleep
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import accumulate, repeat
from random import Random
from statistics import quantiles
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

from uvicorn import Config

from digest.cli.bench_connections import Connections

PATIENCE_SECONDS = 10.0
REQUEST = (
    "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    "Accept-Encoding: gzip\r\nX-Forwarded-For: {network}\r\nContent-Length: {length}\r\n\r\n"
)
"""As browsers say, through a proxy."""
PERCENT = 100
SEED = 8
HTTP = 80
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Post:
    """One form that is sent.

    Attributes:
        network: the visitor's address, as a trusted proxy would tell it.
    """

    path: str
    fields: dict[str, str]
    network: str = "127.0.0.1"


@dataclass(slots=True)
class Answers:
    """What came of a load: the seconds from when each request was due to its answer, and how many were refused."""

    seconds: list[float] = field(default_factory=list)
    failed: int = 0

    def milliseconds(self, percentile: int) -> float:
        """The latency that this many per cent of the answers kept within."""
        return round(1000 * quantiles(self.seconds, n=PERCENT, method="inclusive")[percentile - 1], 1)


@dataclass(frozen=True, slots=True)
class Visitors:
    """Those who send forms to the server at ``host``, a name with its port."""

    host: str
    connections: Connections

    async def send(self, post: Post, answers: Answers, due: float) -> None:
        """Send one form; anything but 200 is a failure."""
        body = urlencode(post.fields)
        head = REQUEST.format(path=post.path, host=self.host, network=post.network, length=len(body))
        try:
            status = await self.connections.ask((head + body).encode("ascii"))
        except OSError:
            answers.failed += 1
            return
        answers.failed += status != HTTPStatus.OK
        answers.seconds.append(stopwatch.perf_counter() - due)


def visitors(url: str) -> Visitors:
    """Visitors of the server at ``url``; their connections are kept open between requests."""
    parts = urlsplit(url)
    return Visitors(parts.netloc, Connections(str(parts.hostname), parts.port or HTTP, PATIENCE_SECONDS))


def run_load(load: Coroutine[Any, Any, T]) -> T:
    """Run it to its end on the loop that the web server has, which takes less of the machine than asyncio's own."""
    with Runner(loop_factory=Config("").get_loop_factory()) as runner:
        return runner.run(load)


async def at_a_rate(crowd: Visitors, posts: Iterator[Post], rate: float, seconds: float) -> Answers:
    """Requests that come at random moments, ``rate`` of them a second on average (a Poisson process).

    Each is sent when it is due, however slow the ones before it are, and its wait is counted from then.
    """
    answers, began = Answers(), stopwatch.perf_counter()
    async with TaskGroup() as tasks:
        for after in moments(rate, seconds):
            await sleep(began + after - stopwatch.perf_counter())
            tasks.create_task(crowd.send(next(posts), answers, began + after))
    return answers


def moments(rate: float, seconds: float) -> Sequence[float]:
    """When requests come, in seconds from the beginning; the same ones every time."""
    chance = Random(SEED)  # noqa: S311 - arrivals, no secrets
    gaps = (chance.expovariate(rate) for _ in repeat(None, round(rate * seconds)))
    return list(accumulate(gaps))


async def as_fast_as_it_can(crowd: Visitors, posts: Sequence[Post], at_once: int) -> float:
    """How many of the posts are answered in a second, when ``at_once`` visitors send one after the other.

    Raises:
        RuntimeError: one was refused, so that the figure would be that of refusals.
    """
    waiting: Queue[Post] = Queue()
    for post in posts:
        waiting.put_nowait(post)
    answers, began = Answers(), stopwatch.perf_counter()

    async def visit() -> None:
        while not waiting.empty():
            await crowd.send(waiting.get_nowait(), answers, stopwatch.perf_counter())

    async with TaskGroup() as tasks:
        for _ in range(at_once):
            tasks.create_task(visit())
    if answers.failed:
        raise RuntimeError(f"{answers.failed} of {len(posts)} requests were not answered with 200")
    return len(posts) / (stopwatch.perf_counter() - began)
