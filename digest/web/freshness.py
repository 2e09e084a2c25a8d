"""Conditional requests (RFC 9110 §13): who has a page already is told so, and gets no bytes."""

from hashlib import blake2b

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

OF_THE_BODY = ("content-length", "content-type", "content-encoding")
"""Headers that an answer without a body leaves out."""


def is_held(asked: str, tag: str) -> bool:
    """Whether an If-None-Match names the tag, compared weakly as RFC 9110 §13.1.2 wants it."""
    held = [one.strip().removeprefix("W/") for one in asked.split(",")]
    return asked.strip() == "*" or tag.removeprefix("W/") in held


class Conditional:
    """ASGI middleware: gives every public answer a weak ETag of its body, and answers 304 to those who hold it.

    It is weak because what stands outside of it may zip the body.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does; what is not public passes untouched."""
        if scope["type"] != "http" or scope["method"] not in {"GET", "HEAD"}:
            await self.app(scope, receive, send)
            return
        asked = Headers(scope=scope).get("if-none-match", "")
        held: list[Message] = []

        async def judged(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_public(message):
                held.append(message)
                return
            if not held:
                await send(message)
                return
            held.append(message)
            if not message.get("more_body"):
                await _tell(held, asked, send)

        await self.app(scope, receive, judged)


def _is_public(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    return start["status"] == 200 and headers.get("cache-control", "").startswith("public")  # noqa: PLR2004 - OK


async def _tell(held: list[Message], asked: str, send: Send) -> None:
    start, body = held[0], b"".join(part.get("body", b"") for part in held[1:])
    headers = MutableHeaders(scope=start)
    headers["ETag"] = f'W/"{blake2b(body, digest_size=12).hexdigest()}"'
    if is_held(asked, headers["ETag"]):
        start["status"], body = 304, b""
        for name in OF_THE_BODY:
            del headers[name]
    await send(start)
    await send({"type": "http.response.body", "body": body})
