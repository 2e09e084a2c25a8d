"""Texts by a model: a queue of its own, and never more at once than the settings allow."""

from datetime import datetime

import structlog
from celery import Celery

from digest.bootstrap import Application
from digest.steps.write_stories import take_stories, write_story
from workers.nudges import nudge
from workers.queues import WRITE
from workers.runtime import Runtime, utc_now

log = structlog.get_logger()


def register_writing(app: Celery, runtime: Runtime) -> None:
    """Give the app this task."""

    @app.task(name=f"digest.{WRITE}", shared=False)  # type: ignore[untyped-decorator] # Celery ships no types
    def write_one(story_id: int) -> None:
        application = runtime.application
        desk = application.writers_desk
        if desk is None:
            return
        outcome = write_story(application.sessions, desk, story_id, utc_now())
        log.info("story_written", story=story_id, outcome=outcome)
        dispatch_writing(app, application, utc_now())


def dispatch_writing(app: Celery, application: Application, now: datetime) -> None:
    """Ask for the next stories to be written, as many at once as may be."""
    desk = application.writers_desk
    if desk is not None:
        nudge(app, WRITE, take_stories(application.sessions, desk, now))
