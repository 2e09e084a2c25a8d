"""Nudges: asking the workers for work that the database holds anyway."""

from collections.abc import Sequence
from contextlib import suppress

import structlog
from celery import Celery
from kombu.exceptions import OperationalError

SOON_SECONDS = 5.0

log = structlog.get_logger()


def nudge(app: Celery, queue: str, ids: Sequence[int]) -> None:
    """Ask the workers to do these; without a broker the next tick finds them in the database."""
    try:
        for each in ids:
            app.send_task(f"digest.{queue}", args=[each])
    except OperationalError:
        log.warning("broker_unreachable", queue=queue, waiting=len(ids))


def nudge_later(app: Celery, queue: str, work_id: int, seconds: float | None) -> None:
    """Ask again in a moment, where that is sooner than the ticks are sure to; they find all the rest."""
    if seconds is None or seconds > SOON_SECONDS:
        return
    with suppress(OperationalError):
        app.send_task(f"digest.{queue}", args=[work_id], countdown=seconds)
