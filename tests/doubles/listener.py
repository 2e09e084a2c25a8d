"""Another program that listens for news, on loopback, and keeps what it heard."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Listener:
    """What was posted, headers and bodies, and which paths were asked for; ``status`` is what it answers."""

    url: str = ""
    status: int = 200
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def news(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.bodies]


@contextmanager
def listening() -> Iterator[Listener]:
    """A listener in a thread of its own until the block ends."""
    heard = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the base class finds it by this name
            heard.headers.append({name.lower(): value for name, value in self.headers.items()})
            heard.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(heard.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:  # likewise
            heard.asked.append(self.path)
            self.send_response(heard.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    heard.url = f"http://127.0.0.1:{server.server_address[1]}/news"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
