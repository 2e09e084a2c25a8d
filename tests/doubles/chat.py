"""A chat-completions service on loopback, as strict as its documentation about what it is sent.

It answers from a script: each request takes the next behaviour, and the last one stays.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

KEY = "sk-test-key-that-must-not-be-shown"
MODEL = "test-model"
PATH = "/v1/chat/completions"
ROLES = {"system", "user", "assistant"}
FIELDS = {"model", "messages", "response_format", "max_tokens", "temperature"}


@dataclass
class Answer:
    """One behaviour: what comes back, or that nothing does."""

    status: int = 200
    body: bytes | None = None
    content: str | None = None
    refusal: str | None = None
    finish: str = "stop"
    tokens: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    drips: bool = False


Behaviour = Answer | Callable[[dict[str, Any]], Answer]


@dataclass
class ChatService:
    """The running double: its address, what it was asked, what it will answer."""

    base_url: str
    script: list[Behaviour] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    released: Event = field(default_factory=Event)

    def will(self, *behaviours: Behaviour) -> None:
        """Answer so from now on, in this order; the last one stays."""
        self.script[:] = behaviours

    def next(self, request: dict[str, Any]) -> Answer:
        behaviour = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return behaviour if isinstance(behaviour, Answer) else behaviour(request)

    @property
    def words(self) -> list[str]:
        """What the user messages of each request said, joined."""
        return ["\n".join(m["content"] for m in one["messages"] if m["role"] == "user") for one in self.asked]


def says(document: object, **answer: Any) -> Answer:  # noqa: ANN401 - the fields of an answer
    """A completion whose content is this JSON document."""
    return Answer(content=json.dumps(document, ensure_ascii=False), **answer)


def faults_of(request: dict[str, Any]) -> str:
    """What the service's documentation does not allow in a request; empty when all is well."""
    if unknown := set(request) - FIELDS:
        return f"Unrecognized request argument supplied: {', '.join(sorted(unknown))}"
    if request.get("model") != MODEL:
        return f"The model {request.get('model')!r} does not exist"
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages must be a non-empty array"
    for message in messages:
        if set(message) != {"role", "content"} or message["role"] not in ROLES or not message["content"]:
            return f"Invalid message: {message}"
    shape = request.get("response_format", {})
    if shape.get("type") == "json_schema":
        return _schema_fault(shape.get("json_schema", {}))
    return "" if shape.get("type") == "json_object" and "json" in json.dumps(messages).lower() else "response_format"


def _schema_fault(named: dict[str, Any]) -> str:
    if not named.get("name") or named.get("strict") is not True:
        return "json_schema needs a name, and strict"
    open_objects = [o for o in _objects(named["schema"]) if o.get("additionalProperties") is not False]
    loose = [o for o in _objects(named["schema"]) if set(o.get("required", [])) != set(o.get("properties", {}))]
    return "in strict mode every object names all its properties and no other" if open_objects or loose else ""


def _objects(schema: object) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from _objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _objects(value)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service: ChatService

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Authorization"] != f"Bearer {KEY}":
            self.give(401, _error("Incorrect API key provided", "invalid_api_key"), {})
        elif self.path != PATH or self.headers["Content-Type"] != "application/json":
            self.give(404, _error("Unknown request URL", "invalid_request_error"), {})
        elif fault := faults_of(request):
            self.give(400, _error(fault, "invalid_request_error"), {})
        else:
            self.service.asked.append(request)
            self.answer(self.service.next(request))

    def answer(self, answer: Answer) -> None:
        if answer.hangs:
            self.service.released.wait(20)
            self.close_connection = True
            return
        body = answer.body if answer.body is not None else _completion(answer)
        if answer.drips:
            self.drip(body)
        else:
            self.give(answer.status, body, answer.headers)

    def give(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def drip(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) + 10_000))
        self.end_headers()
        while not self.service.released.wait(0.02):
            try:
                self.wfile.write(b" ")
            except OSError:
                return


@contextmanager
def chat_service(*answers: Behaviour) -> Iterator[ChatService]:
    """A service on a free port of loopback, for as long as the block lasts."""
    service = ChatService("", list(answers))
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"service": service}))
    service.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.daemon_threads = True
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield service
    finally:
        service.released.set()
        server.shutdown()
        server.server_close()


def _completion(answer: Answer) -> bytes:
    message = {"role": "assistant", "content": answer.content, "refusal": answer.refusal}
    used = {"prompt_tokens": answer.tokens - 100, "completion_tokens": 100, "total_tokens": answer.tokens}
    choice = {"index": 0, "message": message, "finish_reason": answer.finish}
    document = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": MODEL}
    return json.dumps({**document, "choices": [choice], "usage": used}).encode()


def _error(message: str, code: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": code, "param": None, "code": code}}).encode()
