"""Talks to a chat-completions API: one request, one answer, within a deadline, never more than once by itself."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from time import monotonic
from typing import Any

import httpx2

from digest.domain.errors import BadInputError
from digest.ports import NotWrittenError

LONGEST_ANSWER = 1_000_000
"""Bytes."""
LONGEST_WAIT = 3600.0
"""Seconds; also how long to leave a service alone that refuses our key or our request."""
_FINISHED = frozenset({"stop", None, ""})
Message = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model said.

    Attributes:
        content: its words; empty where it gave none.
        fault: why they are not the answer: refused, cut, filtered. Empty when they are.
        tokens: what question and answer cost.
    """

    content: str
    fault: str
    tokens: int


class ChatService:
    """One model of one service. Safe to share between threads.

    Args:
        base_url: up to the version, without ``/chat/completions``.
        key: sent as bearer token; never shown, never logged.
        model: as the service names it.
        seconds: how long a whole answer may take.
    """

    def __init__(self, base_url: str, key: str, model: str, seconds: float = 60.0) -> None:
        if not key.isascii() or not key.isprintable():
            raise BadInputError("DIGEST_CHAT_API_KEY", "", "must be one line of ASCII, as the service showed it.")
        self.model = model
        self._address = f"{base_url.rstrip('/')}/chat/completions"
        self._seconds = seconds
        self._client = httpx2.Client(
            timeout=httpx2.Timeout(seconds, connect=min(seconds, 10.0)),
            headers={"Authorization": f"Bearer {key.strip()}"},
            follow_redirects=False,
        )

    def ask(self, messages: Sequence[Message], response_format: Mapping[str, Any], max_tokens: int) -> Completion:
        """The model's answer.

        Raises:
            NotWrittenError: there was none; says how long to wait where the service does.
        """
        body = {
            "model": self.model,
            "messages": list(messages),
            "response_format": response_format,
            "max_tokens": max_tokens,
            "temperature": 0.2,
        }
        try:
            status, headers, answer = self._post(body)
        except httpx2.HTTPError as error:
            raise NotWrittenError(f"the writer's service: {type(error).__name__}") from error
        if status != HTTPStatus.OK:
            raise NotWrittenError(f"the writer's service answered {status}", _wait(status, headers))
        return _completion(answer)

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def _post(self, body: Mapping[str, Any]) -> tuple[int, httpx2.Headers, bytes]:
        """Status, headers and body; a service that drips is given up at the deadline."""
        until = monotonic() + self._seconds
        received = bytearray()
        with self._client.stream("POST", self._address, json=body) as response:
            for chunk in response.iter_bytes():
                received += chunk
                if len(received) > LONGEST_ANSWER:
                    raise NotWrittenError("the writer's service answered without end")
                if monotonic() > until:
                    raise NotWrittenError("the writer's service did not finish in time")
            return response.status_code, response.headers, bytes(received)


def _wait(status: int, headers: Mapping[str, str]) -> float | None:
    """Seconds to leave the service alone; None where it doesn't say and a usual wait will do."""
    asked = headers.get("Retry-After", "").strip()
    if asked.isascii() and asked.isdecimal() and len(asked) < len(str(10**9)):
        return min(float(asked), LONGEST_WAIT)
    ours = status < HTTPStatus.INTERNAL_SERVER_ERROR and status not in {
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.CONFLICT,
        HTTPStatus.TOO_MANY_REQUESTS,
    }
    return LONGEST_WAIT if ours else None


def _completion(answer: bytes) -> Completion:
    try:
        document = json.loads(answer)
        choice, used = document["choices"][0], (document.get("usage") or {}).get("total_tokens", 0)
        message = choice["message"]
        content, refusal = message.get("content") or "", message.get("refusal") or ""
        finish = choice.get("finish_reason")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise NotWrittenError("the writer's service gave no completion") from error
    fault = "the model refused" if refusal else ""
    if finish not in _FINISHED:
        fault = "the answer was cut" if finish == "length" else f"the answer ended as {str(finish)[:40]}"
    return Completion(content if isinstance(content, str) else "", fault, used if isinstance(used, int) else 0)
