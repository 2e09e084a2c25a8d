"""Nudges: asking the workers for work that the database holds anyway."""

from collections.abc import Sequence

import structlog
from celery import Celery
from kombu.exceptions import OperationalError

log = structlog.get_logger()


def nudge(app: Celery, queue: str, ids: Sequence[int]) -> None:
    """Ask the workers to do these; without a broker the next tick finds them in the database."""
    try:
        for each in ids:
            app.send_task(f"digest.{queue}", args=[each])
    except OperationalError:
        log.warning("broker_unreachable", queue=queue, waiting=len(ids))
