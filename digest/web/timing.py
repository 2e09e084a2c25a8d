"""How long answers take, by route: a histogram of this process, which is scraped by itself, and a span for traces."""

from collections.abc import Callable

from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind
from prometheus_client import CollectorRegistry, Histogram
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Upper bounds in seconds."""
ELSEWHERE = "other"
"""Stands for every path that is no route, so that strangers can't make new time series."""
SERVER_ERROR = 500


def latency_histogram(registry: CollectorRegistry) -> Histogram:
    """The histogram of answers, in a registry."""
    return Histogram(
        "digest_web_seconds",
        "How long answers took, to the end of their body.",
        labelnames=["method", "route", "status"],
        buckets=BOUNDS,
        registry=registry,
    )


class Timed:
    """ASGI middleware: measures each answer by its route's template; the path may hold a token."""

    def __init__(self, app: ASGIApp, *, histogram: Histogram, stopwatch: Callable[[], float]) -> None:
        self.app, self.histogram, self.stopwatch = app, histogram, stopwatch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = self.stopwatch(), SERVER_ERROR

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        came = propagate.extract(Headers(scope=scope))
        tracer = trace.get_tracer("digest.web")
        # What an exception says may hold an address, so the span does not repeat it.
        with tracer.start_as_current_span(
            "answer", came, kind=SpanKind.SERVER, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                await self.app(scope, receive, noted)
            finally:
                method, route = _method(scope), _route(scope)
                span.update_name(f"{method} {route}")
                span.set_attributes({"http.route": route, "http.response.status_code": status})
                took = self.stopwatch() - began
                self.histogram.labels(method, route, f"{status // 100}xx").observe(took)


def _method(scope: Scope) -> str:
    method: str = scope["method"]
    return method if method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} else ELSEWHERE


def _route(scope: Scope) -> str:
    route = scope.get("route")
    return str(getattr(route, "path", ELSEWHERE)) if route is not None else ELSEWHERE
