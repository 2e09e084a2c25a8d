"""A real HTTP server on loopback, a network that leads public addresses to it, and the case files."""

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpcore2
import pytest

FEEDS = Path(__file__).parent / "feeds"
CASES = Path(__file__).parent / "cases"
SEEN_AT = datetime(2027, 6, 10, tzinfo=UTC)


@dataclass
class Answer:
    """What the server says to one request."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    chunks: Iterable[bytes] | None = None
    """Sent one by one instead of ``body``, and then the connection is closed."""


@dataclass
class Site:
    """A web server under the test's control: path -> answer, or a function of the request's headers."""

    port: int
    answers: dict[str, Answer | Callable[[dict[str, str]], Answer]] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.site.requests.append((self.path, headers))
        found = self.site.answers.get(self.path, Answer(404))
        answer = found(headers) if callable(found) else found
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.chunks is None and "Content-Length" not in answer.headers:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.close_connection = True
        try:
            for chunk in answer.chunks or [answer.body]:
                self.wfile.write(chunk)
                self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            return

    def log_message(self, *_: object) -> None:
        """Tests print nothing."""


@contextmanager
def serve(wrap: Callable[[socket.socket], socket.socket] | None = None) -> Iterator[Site]:
    site = Site(0)
    handler = type("Handler", (_Handler,), {"site": site})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if wrap:
        server.socket = wrap(server.socket)
    site.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    with serve() as running:
        yield running


class LeadsTo(httpcore2.NetworkBackend):
    """The internet of a test: every address leads to one loopback port, and each connection asked for is recorded."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._real = httpcore2.SyncBackend()
        self.asked: list[tuple[str, int]] = []

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        self.asked.append((host, port))
        return self._real.connect_tcp("127.0.0.1", self._port, timeout, local_address, socket_options)
