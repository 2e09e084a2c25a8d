"""How long answers take, by route: a histogram of this process, or of all that share its port."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Upper bounds in seconds."""
ELSEWHERE = "other"
"""Stands for every path that is no route, so that strangers can't make new time series."""
SERVER_ERROR = 500
SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""The library's own variable; set before a process imports it, its counts lie in files of this folder."""


@contextmanager
def shared_latencies() -> Iterator[None]:
    """Have the processes that are started meanwhile count together, so that a scrape of any one tells of all."""
    with TemporaryDirectory(prefix="digest-latencies-") as folder:
        os.environ[SHARED] = folder
        try:
            yield
        finally:
            del os.environ[SHARED]


def is_shared() -> bool:
    """Whether this process is one of several that count together."""
    return SHARED in os.environ


def latency_histogram(registry: CollectorRegistry) -> Histogram:
    """The histogram of answers, in a registry."""
    if is_shared():
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call] # the library has no types there
    return Histogram(
        "digest_web_seconds",
        "How long answers took, to the end of their body.",
        labelnames=["method", "route", "status"],
        buckets=BOUNDS,
        registry=None if is_shared() else registry,
    )


@dataclass(slots=True)
class Sending:
    """Passes the messages of an answer on.

    Attributes:
        status: that of the answer; a failure of ours as long as none has begun.
    """

    send: Send
    status: int = SERVER_ERROR

    async def __call__(self, message: Message) -> None:
        """Pass one on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self.send(message)


class Timed:
    """ASGI middleware: measures each answer by its route's template; the path may hold a token."""

    def __init__(self, app: ASGIApp, *, histogram: Histogram, stopwatch: Callable[[], float]) -> None:
        self.app, self.histogram, self.stopwatch = app, histogram, stopwatch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, sending = self.stopwatch(), Sending(send)
        try:
            await self.app(scope, receive, sending)
        finally:
            took = self.stopwatch() - began
            self.histogram.labels(method_of(scope), route_of(scope), f"{sending.status // 100}xx").observe(took)


def method_of(scope: Scope) -> str:
    """The method of a request, or one word for those that HTTP does not know."""
    method: str = scope["method"]
    return method if method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} else ELSEWHERE


def route_of(scope: Scope) -> str:
    """The template of the route that took a request, once it was answered."""
    route = scope.get("route")
    return str(getattr(route, "path", ELSEWHERE)) if route is not None else ELSEWHERE
