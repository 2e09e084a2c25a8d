"""A load on a web server on this machine: requests at their own times, as visitors come, or as fast as it answers."""

import time as stopwatch
from asyncio import Queue, TaskGroup, sleep
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import accumulate, repeat
from random import Random
from statistics import quantiles
from urllib.parse import urlencode

from httpcore2 import AsyncConnectionPool, NetworkError, ProtocolError, TimeoutException

CONNECTIONS = 64
"""As many as one visitor after the other finds open; more are made where all are in use, as a proxy would."""
PATIENCE_SECONDS = 10.0
FORM = "application/x-www-form-urlencoded"
HEADERS: Mapping[bytes | str, bytes | str] = {"Content-Type": FORM, "Accept-Encoding": "gzip"}
"""As browsers say."""
PERCENT = 100
SEED = 8


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
    """Those who send forms to the server at ``url``."""

    url: str
    pool: AsyncConnectionPool

    async def send(self, post: Post, answers: Answers, due: float) -> None:
        """Send one form; anything but 200 is a failure."""
        headers = {**HEADERS, "X-Forwarded-For": post.network}
        timeout = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), PATIENCE_SECONDS)}
        body = urlencode(post.fields).encode()
        try:
            answer = await self.pool.request(
                "POST", self.url + post.path, headers=headers, content=body, extensions=timeout
            )
        except (NetworkError, ProtocolError, TimeoutException):
            answers.failed += 1
            return
        answers.failed += answer.status != HTTPStatus.OK
        answers.seconds.append(stopwatch.perf_counter() - due)


def visitors(url: str) -> Visitors:
    """Visitors of the server at ``url``; their connections are kept open between requests."""
    return Visitors(url, AsyncConnectionPool(max_connections=None, max_keepalive_connections=CONNECTIONS))


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
