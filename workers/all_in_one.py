"""Web page, worker and scheduler in one process: what ``digest run`` starts."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from celery import Celery
from celery.beat import EmbeddedService

THREADS = 4
IN_MEMORY = "workers.beat:SteadyScheduler"
"""Keeps no file beside the program: when the last tick was is for the database to say."""
STOP_SECONDS = 10


@contextmanager
def background(app: Celery) -> Iterator[None]:
    """Runs a worker and a beat in threads of this process; stops both on the way out."""
    # A pool's threads have no current app and take the default one, which knows no task of ours.
    app.set_default()
    # app.Worker would take over the signal handlers, which are the web server's here.
    worker = app.WorkController(
        pool_cls="threads",
        concurrency=THREADS,
        loglevel="WARNING",
        quiet=True,
        without_heartbeat=True,
        without_mingle=True,
        without_gossip=True,
    )
    thread = Thread(target=worker.start, name="worker", daemon=True)
    beat = EmbeddedService(app, thread=True, scheduler_cls=IN_MEMORY)
    thread.start()
    beat.start()
    try:
        yield
    finally:
        beat.stop()
        worker.stop()
        thread.join(STOP_SECONDS)
