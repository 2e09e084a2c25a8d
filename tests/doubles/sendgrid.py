"""SendGrid's v3 Mail Send on loopback: takes what the reference allows, refuses the rest, fails when told to.

By hand: ``python tests/doubles/sendgrid.py --port 8026 --key SG.test --fail 429:0.01 --drop-after 0.005``, then
``GET /stats``. In tests: ``with SendGridDouble() as double``, with ``double.script`` for what comes next.
"""

import argparse
import json
import random
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.doubles.sendgrid_rules import Complaint, complaints_about

MOST_BYTES = 30 * 2**20
KEY = "SG.test-key"


@dataclass(frozen=True)
class Answer:
    """What the double does with one request instead of judging it.

    Attributes:
        status: answered without taking anything; 0: the request is judged.
        drop: ``before`` judging, or ``after`` taking it, the connection ends without an answer.
        hang: it says nothing until the double ends; what it was asked to take is taken.
    """

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    errors: Sequence[Complaint] = ()
    drop: str = ""
    hang: bool = False


JUDGE = Answer()


@dataclass(frozen=True)
class Delivered:
    """One reader's message as SendGrid would make it of an accepted request."""

    address: str
    subject: str
    sender: Mapping[str, str]
    html: str
    text: str
    headers: Mapping[str, str]
    custom_args: Mapping[str, str]
    request: str


@dataclass
class Rates:
    """How often a double that is run by hand fails; each between 0 and 1."""

    statuses: Mapping[int, float] = field(default_factory=dict)
    drop_before: float = 0.0
    drop_after: float = 0.0
    chance: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311 # no secret is drawn

    def next(self) -> Answer:
        for status, rate in self.statuses.items():
            if self.chance.random() < rate:
                wait = {"Retry-After": "1"} if status == 429 else {}
                return Answer(status=status, headers=wait)
        if self.chance.random() < self.drop_before:
            return Answer(drop="before")
        return Answer(drop="after") if self.chance.random() < self.drop_after else JUDGE


class SendGridDouble:
    """The double, in threads of its own, from ``with`` to the end of the block.

    Attributes:
        script: answers to the requests to come, in order; after the last one every request is judged.
        always: answers every request once the script is used up.
        names_fields: whether a 400 says which field it is about.
        delivered: what was taken, in order; stays empty with ``keep=False``.
        counts: how many messages were taken per address.
        bodies: requests as they came.
    """

    def __init__(self, port: int = 0, key: str = KEY, rates: Rates | None = None, *, keep: bool = True) -> None:
        self.script: deque[Answer] = deque()
        self.always: Answer | None = None
        self.names_fields = True
        self.delivered: list[Delivered] = []
        self.counts: Counter[str] = Counter()
        self.bodies: list[bytes] = []
        self.requests = 0
        self.connections = 0
        self.statuses: Counter[int] = Counter()
        self.ended = threading.Event()
        self._key, self._rates, self._keep = key, rates, keep
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.double = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def host(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join(timeout=10)

    def stats(self) -> dict[str, Any]:
        """Counters for a look from outside."""
        return {
            "requests": self.requests,
            "connections": self.connections,
            "recipients": self.counts.total(),
            "twice": sum(count > 1 for count in self.counts.values()),
            "statuses": {str(status): count for status, count in self.statuses.items()},
        }

    def next_answer(self, body: bytes) -> Answer:
        """What becomes of the request that has just come."""
        with self._lock:
            self.requests += 1
            if self._keep:
                self.bodies.append(body)
            if self.script:
                return self.script.popleft()
            return self.always or (self._rates.next() if self._rates else JUDGE)

    def judge(self, headers: Message, body: bytes) -> Answer:
        """The API's own answer to a request; a 202 takes it."""
        if headers.get("Authorization") != f"Bearer {self._key}":
            return Answer(401, errors=[_error("The provided authorization grant is invalid, expired, or revoked")])
        if headers.get("Content-Type", "").partition(";")[0] != "application/json":
            return Answer(415, errors=[_error("Content-Type should be application/json.")])
        if len(body) > MOST_BYTES:
            return Answer(413, errors=[_error("The JSON payload you have included in your request is too large.")])
        if complaints := complaints_about(body):
            shown = complaints if self.names_fields else [one | {"field": None} for one in complaints]
            return Answer(400, errors=shown)
        return Answer(202, headers={"X-Message-Id": self._take(json.loads(body))})

    def count_status(self, status: int) -> None:
        with self._lock:
            self.statuses[status] += 1

    def _take(self, mail: dict[str, Any]) -> str:
        with self._lock:
            request = f"request{self.requests:08d}"
            for one in mail["personalizations"]:
                self.counts.update(entry["email"] for entry in one["to"])
                if self._keep:
                    self.delivered.append(_delivered(mail, one, request))
        return request


def _error(message: str) -> Complaint:
    return {"message": message, "field": None, "help": None}


def _delivered(mail: dict[str, Any], one: dict[str, Any], request: str) -> Delivered:
    content = {part["type"]: part["value"] for part in mail["content"]}
    filled = {kind: _filled(value, one.get("substitutions", {})) for kind, value in content.items()}
    return Delivered(
        address=one["to"][0]["email"],
        subject=_filled(one.get("subject", mail["subject"]), one.get("substitutions", {})),
        sender=mail["from"],
        html=filled.get("text/html", ""),
        text=filled.get("text/plain", ""),
        headers=mail.get("headers", {}) | one.get("headers", {}),
        custom_args=mail.get("custom_args", {}) | one.get("custom_args", {}),
        request=request,
    )


def _filled(text: str, substitutions: Mapping[str, str]) -> str:
    for tag, value in substitutions.items():
        text = text.replace(tag, value)
    return text


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = True
    request_queue_size = 128
    double: SendGridDouble

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 # passed on as they come
        super().__init__(*arguments)
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 # as the base class has it
        self.double.connections += 1
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 # likewise
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End connections that clients keep open, so that their threads end."""
        for connection in list(self._open):
            _end(connection)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:  # the base class finds it by this name
        double = self.server.double
        if self.path == "/stats":
            self._write(200, {"Content-Type": "application/json"}, json.dumps(double.stats()).encode())
        else:
            self._write(404, {}, b"")

    def do_POST(self) -> None:  # likewise
        double = self.server.double
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.path != "/v3/mail/send":
            self._write(404, {}, b"")
            return
        told = double.next_answer(body)
        if told.drop == "before":
            self._hang_up()
            return
        answer = told if told.status else double.judge(self.headers, body)
        double.count_status(answer.status)
        if told.hang:
            double.ended.wait()
        if told.hang or told.drop == "after":
            self._hang_up()
            return
        errors = json.dumps({"errors": list(answer.errors)}).encode() if answer.errors else b""
        self._write(answer.status, answer.headers, errors)

    def _write(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _hang_up(self) -> None:
        self.close_connection = True
        _end(self.connection)

    def log_message(self, *_: object) -> None:
        """Requests hold addresses; they are counted, not logged."""


def _end(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the other side was faster


def main() -> None:
    """Run by hand until interrupted."""
    parser = argparse.ArgumentParser(description="A SendGrid of one's own on loopback.")
    parser.add_argument("--port", type=int, default=8026)
    parser.add_argument("--key", default=KEY)
    parser.add_argument("--fail", action="append", default=[], metavar="STATUS:RATE", help="e.g. 429:0.01")
    parser.add_argument("--drop-before", type=float, default=0.0)
    parser.add_argument("--drop-after", type=float, default=0.0)
    given = parser.parse_args()
    statuses = {int(status): float(rate) for status, _, rate in (one.partition(":") for one in given.fail)}
    rates = Rates(statuses, given.drop_before, given.drop_after)
    with SendGridDouble(given.port, given.key, rates, keep=False) as double:
        print(f"{double.host}/v3/mail/send takes mail; {double.host}/stats counts it. Ctrl-C ends.", flush=True)  # noqa: T201
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            print(json.dumps(double.stats()))  # noqa: T201 # a command by hand


if __name__ == "__main__":
    main()
