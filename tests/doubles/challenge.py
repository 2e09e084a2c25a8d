"""Turnstile's verification on loopback: one form POST of ``secret`` and ``response``; each response counts once."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

SECRET = "1x0000000000000000000000000000000AA"


@dataclass
class ChallengeDouble:
    """What it knows of responses, and what it was asked."""

    url: str
    solved: set[str] = field(default_factory=set)
    asked: list[dict[str, str]] = field(default_factory=list)

    def judge(self, form: dict[str, str]) -> dict[str, object]:
        self.asked.append(form)
        if not form.get("secret"):
            return {"success": False, "error-codes": ["missing-input-secret"]}
        if form["secret"] != SECRET:
            return {"success": False, "error-codes": ["invalid-input-secret"]}
        if form.get("response") not in self.solved:
            return {"success": False, "error-codes": ["invalid-input-response"]}
        self.solved.remove(form["response"])
        return {"success": True, "hostname": "brief.example.com", "error-codes": []}


@contextmanager
def running_challenge() -> Iterator[ChallengeDouble]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            is_form = self.headers["Content-Type"] == "application/x-www-form-urlencoded"
            form = {name: values[0] for name, values in parse_qs(body).items()} if is_form else {}
            answer = json.dumps(double.judge(form)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        double = ChallengeDouble(f"http://127.0.0.1:{server.server_port}/siteverify")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield double
        server.shutdown()
        thread.join()
