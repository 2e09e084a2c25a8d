"""SendGrid's v3 Mail Send on loopback: takes what the reference allows, refuses the rest, fails when told to.

By hand: ``python -m tests.doubles.sendgrid_by_hand --port 8026 --fail 429:0.01 --drop-after 0.005 --events URL``, then
``GET /stats``. In tests: ``with SendGridDouble() as double``, with ``double.script`` for what comes next.
"""

import json
import random
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.message import Message
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.doubles.sendgrid_account import Records
from tests.doubles.sendgrid_rules import Complaint, complaints_about, parsed

MOST_BYTES = 30 * 2**20
KEY = "SG.test-key"


@dataclass(frozen=True)
class Answer:
    """What the double does with one request instead of judging it.

    Attributes:
        status: answered without taking anything; 0: the request is judged.
        page: a body in no form of the API's, as a gateway would give.
        drop: the connection ends without an answer: ``reading`` the request, ``before`` judging it, or ``after`` it.
        hang: it says nothing until the double ends; what it was asked to take is taken.
        delay_seconds: it takes its time first.
    """

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    errors: Sequence[Complaint] = ()
    page: str = ""
    drop: str = ""
    hang: bool = False
    delay_seconds: float = 0.0


JUDGE = Answer()


@dataclass(frozen=True)
class Delivered:
    """One reader's message as SendGrid would make it of an accepted request."""

    mail: Mapping[str, Any] = field(repr=False)
    own: Mapping[str, Any] = field(repr=False)
    request: str

    @property
    def address(self) -> str:
        return str(self.own["to"][0]["email"])

    @property
    def subject(self) -> str:
        return self._filled(str(self.own.get("subject", self.mail["subject"])))

    @property
    def sender(self) -> Mapping[str, str]:
        return dict(self.mail["from"])

    @property
    def headers(self) -> Mapping[str, str]:
        return {**self.mail.get("headers", {}), **self.own.get("headers", {})}

    @property
    def custom_args(self) -> Mapping[str, str]:
        return {**self.mail.get("custom_args", {}), **self.own.get("custom_args", {})}

    @cached_property
    def html(self) -> str:
        return self._content("text/html")

    @cached_property
    def text(self) -> str:
        return self._content("text/plain")

    def _content(self, kind: str) -> str:
        return self._filled(next((part["value"] for part in self.mail["content"] if part["type"] == kind), ""))

    def _filled(self, text: str) -> str:
        for tag, value in self.own.get("substitutions", {}).items():
            text = text.replace(tag, value)
        return text


@dataclass
class Rates:
    """How often a double fails by chance; each between 0 and 1."""

    statuses: Mapping[int, float] = field(default_factory=dict)
    drop_before: float = 0.0
    drop_after: float = 0.0
    hang: float = 0.0
    delay_seconds: float = 0.0
    chance: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311 # no secret is drawn

    def next(self) -> Answer:
        for status, rate in self.statuses.items():
            if self.chance.random() < rate:
                wait = {"Retry-After": "1"} if status == 429 else {}
                return Answer(status=status, headers=wait, delay_seconds=self.delay_seconds)
        drop = "before" if self.chance.random() < self.drop_before else ""
        drop = drop or ("after" if self.chance.random() < self.drop_after else "")
        hangs = not drop and self.hang > 0 and self.chance.random() < self.hang
        return Answer(drop=drop, hang=hangs, delay_seconds=self.delay_seconds)


@dataclass
class Throttle:
    """So many requests a second, and 429 with the documented headers beyond; seconds are the wall clock's."""

    per_second: int
    second: int = 0
    used: int = 0

    def headers(self, now: float) -> tuple[bool, dict[str, str]]:
        """Whether a request at ``now`` is one too many, and what every answer then says."""
        if int(now) != self.second:
            self.second, self.used = int(now), 0
        self.used += 1
        left = max(0, self.per_second - self.used)
        told = {"Limit": str(self.per_second), "Remaining": str(left), "Reset": str(self.second + 1)}
        return self.used > self.per_second, {f"X-RateLimit-{name}": value for name, value in told.items()}


class SendGridDouble:
    """The double, in threads of its own, from ``with`` to the end of the block.

    Attributes:
        script: answers to the requests to come, in order; after the last one every request is judged.
        always: answers every request once the script is used up.
        scopes: what the key may do.
        names_fields: whether a 400 says which field it is about.
        delivered: what was taken, in order; :meth:`pop_delivered` takes it out.
        counts: how many messages were taken per address.
        records: what it holds besides mail.
        taken_at: when each request was taken, in Unix seconds, and for how many readers.
        bodies: requests as they came; stays empty with ``keep=False``.
    """

    def __init__(
        self,
        port: int = 0,
        key: str = KEY,
        rates: Rates | None = None,
        throttle: Throttle | None = None,
        *,
        keep: bool = True,
    ) -> None:
        self.script: deque[Answer] = deque()
        self.always: Answer | None = None
        self.names_fields = True
        self.scopes = ["mail.send", "sender_verification_eligible", "2fa_required"]
        self.delivered: list[Delivered] = []
        self.counts: Counter[str] = Counter()
        self.taken_at: list[tuple[float, int]] = []
        self.bodies: list[bytes] = []
        self.requests = 0
        self.connections = 0
        self.statuses: Counter[int] = Counter()
        self.records = Records()
        self.ended = threading.Event()
        self._key, self._rates, self._throttle, self._keep = key, rates, throttle, keep
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

    def pop_delivered(self) -> list[Delivered]:
        """What was taken since the last call."""
        with self._lock:
            taken, self.delivered = self.delivered, []
        return taken

    def next_answer(self) -> Answer:
        """What becomes of the request that is coming."""
        with self._lock:
            self.requests += 1
            if self.script:
                return self.script.popleft()
            if self.always:
                return self.always
            is_over, told = self._throttle.headers(time.time()) if self._throttle else (False, {})
            if is_over:
                return Answer(429, headers=told, errors=[_error("too many requests")])
            return self._rates.next() if self._rates else JUDGE

    def note_body(self, body: bytes) -> None:
        if self._keep:
            self.bodies.append(body)

    def judge(self, headers: Message, body: bytes) -> Answer:
        """The API's own answer to a request; a 202 takes it."""
        if headers.get("Authorization") != f"Bearer {self._key}":
            return Answer(401, errors=[_error("The provided authorization grant is invalid, expired, or revoked")])
        if headers.get("Content-Type", "").partition(";")[0] != "application/json":
            return Answer(415, errors=[_error("Content-Type should be application/json.")])
        if len(body) > MOST_BYTES:
            return Answer(413, errors=[_error("The JSON payload you have included in your request is too large.")])
        mail = parsed(body)
        if complaints := complaints_about(mail):
            shown = complaints if self.names_fields else [one | {"field": None} for one in complaints]
            return Answer(400, errors=shown)
        return Answer(202, headers={"X-Message-Id": self._take(mail)})

    def scopes_for(self, headers: Message) -> tuple[int, dict[str, Any]]:
        """What ``GET /v3/scopes`` answers: the permissions of the key."""
        if headers.get("Authorization") != f"Bearer {self._key}":
            return 401, {"errors": [_error("The provided authorization grant is invalid, expired, or revoked")]}
        return 200, {"scopes": self.scopes}

    def keep(self, method: str, target: str, headers: Message, body: bytes) -> tuple[int, Any]:
        """The answer of the records to a request."""
        if headers.get("Authorization") != f"Bearer {self._key}":
            return 401, {"errors": [{"message": "authorization required", "field": None}]}
        with self._lock:
            return self.records.answer(method, target, dict(headers.items()), body)

    def count_status(self, status: int) -> None:
        with self._lock:
            self.statuses[status] += 1

    def _take(self, mail: dict[str, Any]) -> str:
        with self._lock:
            request = f"request{self.requests:08d}"
            everyone = mail["personalizations"]
            self.taken_at.append((time.time(), len(everyone)))
            self.counts.update([entry["email"] for own in everyone for entry in own["to"]])
            self.delivered += [Delivered(mail, own, request) for own in everyone]
        return request


def _error(message: str) -> Complaint:
    return {"message": message, "field": None, "help": None}


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
        shown = {"/stats": double.stats, "/taken": lambda: double.taken_at}
        if self.path in shown:
            self._write(200, {"Content-Type": "application/json"}, json.dumps(shown[self.path]()).encode())
        elif self.path == "/v3/scopes":
            status, answer = double.scopes_for(self.headers)
            self._write(status, {"Content-Type": "application/json"}, json.dumps(answer).encode())
        else:
            self._keep_records(b"")

    def do_DELETE(self) -> None:  # likewise
        self._keep_records(b"")

    def do_HEAD(self) -> None:  # likewise
        self._write(405, {"Allow": "POST"}, b"")

    def do_POST(self) -> None:  # likewise
        double = self.server.double
        if self.path != "/v3/mail/send":
            self._keep_records(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
            return
        told = double.next_answer()
        if told.drop == "reading":
            _end(self.connection, socket.SHUT_RD)
            self._hang_up()
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        double.note_body(body)
        if told.delay_seconds:
            double.ended.wait(told.delay_seconds)
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
        errors = json.dumps({"errors": list(answer.errors)}).encode() if answer.errors else answer.page.encode()
        self._write(answer.status, answer.headers, errors)

    def _keep_records(self, body: bytes) -> None:
        """Everything but mail: the script comes first, then the key, then the records."""
        double = self.server.double
        told = double.next_answer()
        if told.drop == "after":
            double.keep(self.command, self.path, self.headers, body)
        if told.drop:
            self._hang_up()
            return
        status, document = (
            (told.status, {"errors": list(told.errors)})
            if told.status
            else double.keep(self.command, self.path, self.headers, body)
        )
        double.count_status(status)
        text = b"" if document is None else json.dumps(document).encode()
        self._write(status, {**told.headers, "Content-Type": "application/json"}, text)

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


def _end(connection: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    try:
        connection.shutdown(how)
    except OSError:
        return  # the other side was faster
