"""Web page, worker and scheduler in one process: what ``digest run`` starts."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn
from celery import Celery
from celery.beat import EmbeddedService
from fastapi import FastAPI

THREADS = 4
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
    beat = EmbeddedService(app, thread=True)
    thread.start()
    beat.start()
    try:
        yield
    finally:
        beat.stop()
        worker.stop()
        thread.join(STOP_SECONDS)


def serve(web: FastAPI, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM; returns normally on both."""
    # Whose X-Forwarded-For is believed is for our own setting to say, not for uvicorn's default.
    config = uvicorn.Config(
        web, host=host, port=port, log_level="warning", access_log=False, proxy_headers=False, server_header=False
    )
    server = uvicorn.Server(config)
    # uvicorn raises the signal again once it has stopped; that second one must not kill what is still to be closed.
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
