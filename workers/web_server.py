"""The site served over HTTP: by this process, or by several that share the port."""

import signal
from socket import socket

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from workers.http_protocol import ShortHeads

STARTS_WITHIN_SECONDS = 60


def serve(web: FastAPI, listening: socket) -> None:
    """Serve until SIGINT or SIGTERM; returns normally on both."""
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
