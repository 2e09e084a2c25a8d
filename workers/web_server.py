"""The site served over HTTP: by this process, or by several that share the port."""

import gc
import os
import signal
from multiprocessing import parent_process
from socket import AF_INET, AF_INET6, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, socket
from threading import Thread

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from digest.domain.errors import BadInputError
from workers.http_protocol import ShortHeads

STARTS_WITHIN_SECONDS = 60


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


def serve(web: FastAPI, listening: socket) -> None:
    """Serve until SIGINT or SIGTERM; returns normally on both."""
    keep_for_good()
    server = uvicorn.Server(_config(web))
    # uvicorn raises the signal again once it has stopped; that second one must not kill what is still to be closed.
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[listening])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def serve_by(processes: int, site: str, listening: socket) -> None:
    """Serve by so many processes until SIGINT or SIGTERM; one that dies is replaced.

    Args:
        site: ``module:function`` that makes the site, in each of them.
    """
    config = _config(site)
    config.workers = processes
    # It answers only once it has imported everything; uvicorn's five seconds would end it before that, again and again.
    config.timeout_worker_healthcheck = STARTS_WITHIN_SECONDS
    Multiprocess(config, sockets=[listening]).run()


def keep_for_good() -> None:
    """Keep all that was made so far out of the collector's sight: it would look through it every few requests."""
    gc.collect()
    gc.freeze()


def end_with_the_keeper() -> None:
    """Have this process end as if told to once the one that keeps it is gone, or it would hold the port for ever."""
    keeper = parent_process()
    if keeper is not None:

        def follow() -> None:
            keeper.join()
            os.kill(os.getpid(), signal.SIGTERM)

        Thread(target=follow, name="follows its keeper", daemon=True).start()


def _config(web: FastAPI | str) -> uvicorn.Config:
    # Whose X-Forwarded-For is believed is for our own setting to say, not for uvicorn's default.
    return uvicorn.Config(
        web,
        factory=isinstance(web, str),
        http=ShortHeads,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
    )
