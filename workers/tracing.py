"""A span for every task, which goes on from whoever asked for it; nothing is recorded unless tracing was started."""

from collections.abc import Callable
from typing import Any

from celery import Celery
from celery.signals import before_task_publish, task_postrun, task_prerun
from opentelemetry import propagate, trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

SPAN = "digest_span"
"""Where a running task's request keeps its span."""


def trace_tasks(app: Celery) -> None:
    """Follow the tasks of this app."""

    def mine(name: str) -> bool:
        return name in app.tasks

    before_task_publish.connect(_sending(mine), weak=False)
    task_prerun.connect(_starting(mine), weak=False)
    task_postrun.connect(_ending, weak=False)


def _sending(mine: Callable[[str], bool]) -> Callable[..., None]:
    def send(*, sender: str, headers: dict[str, Any], **_: object) -> None:
        if mine(sender):
            propagate.inject(headers)

    return send


def _starting(mine: Callable[[str], bool]) -> Callable[..., None]:
    def start(*, task: Any, **_: object) -> None:  # noqa: ANN401 - Celery's
        if not mine(task.name):
            return
        headers = {name: value for name in ("traceparent", "tracestate") if (value := task.request.get(name))}
        span = trace.get_tracer("digest.workers").start_span(
            task.name, context=propagate.extract(headers), kind=SpanKind.CONSUMER
        )
        # Arguments are ids; nothing else is ever sent with a task.
        span.set_attribute("digest.ids", [str(one) for one in task.request.args or ()])
        setattr(task.request, SPAN, span)

    return start


def _ending(*, task: Any, state: str, **_: object) -> None:  # noqa: ANN401 - Celery's
    span: Span | None = getattr(task.request, SPAN, None)
    if span is not None:
        if state == "FAILURE":
            span.set_status(Status(StatusCode.ERROR))
        span.end()
