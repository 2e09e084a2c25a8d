"""Web page, worker and scheduler in one process: what ``digest run`` starts."""

from collections.abc import Iterator
from contextlib import contextmanager
from socket import AF_INET, AF_INET6, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, socket
from threading import Thread

from celery import Celery
from celery.beat import EmbeddedService

from digest.domain.errors import BadInputError

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


def open_port(host: str, port: int) -> socket:
    """A socket that listens, taken before anything is started or promised.

    Raises:
        BadInputError: somebody else has the port, or it can't be had.
    """
    family = AF_INET6 if ":" in host else AF_INET
    taken = socket(family, SOCK_STREAM)
    taken.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
    try:
        taken.bind((host, port))
    except OSError as error:
        taken.close()
        why = error.strerror or type(error).__name__
        raise BadInputError(
            "port", f"{host}:{port}", f"can't be had ({why.lower()}): choose another with PORT=…"
        ) from error
    return taken
