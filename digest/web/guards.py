"""What holds for every request: its place under the path prefix, security headers, and no body longer than a form."""

from collections.abc import Mapping, Sequence

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LONGEST_BODY = 64 * 1024
"""Bytes; the longest form a reader can fill in is a few kilobytes."""
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; frame-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
}
PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
TLS_HEADERS = {"Strict-Transport-Security": "max-age=31536000"}


def with_origins(policy: str, origins: Sequence[str]) -> str:
    """The policy with other origins let in that a challenge's widget needs: its script, its frame, its requests."""
    names = ("script-src", "style-src", "frame-src", "connect-src")
    rules = [f"{rule} {' '.join(origins)}" if rule.partition(" ")[0] in names else rule for rule in policy.split("; ")]
    return "; ".join(rules)


class SecurityHeaders:
    """ASGI middleware: adds the headers that an answer does not set itself.

    Args:
        tls: whether browsers are held to it.
        also: origins of a challenge's widget.
    """

    def __init__(self, app: ASGIApp, *, tls: bool, also: Sequence[str] = ()) -> None:
        self.app = app
        policy = {"Content-Security-Policy": with_origins(CONTENT_POLICY, also)} if also else {}
        self.headers = Headers(HEADERS | (TLS_HEADERS if tls else {}) | policy).raw

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, with the headers added."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(one for one in self.headers if one[0] not in own)]
            await send(message)

        await self.app(scope, receive, guarded if scope["type"] == "http" else send)


class BodyLimit:
    """ASGI middleware: a body longer than its path's limit in bytes is answered with 413, however it is sent."""

    def __init__(self, app: ASGIApp, *, limits: Mapping[str, int], limit: int = LONGEST_BODY) -> None:
        self.app, self.limits, self.limit = app, limits, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, as long as the body keeps within the limit."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        received, limit = 0, self.limits.get(_route(scope), self.limit)

        async def limited() -> Message:
            nonlocal received
            if announced.isdecimal() and int(announced) > limit:
                raise HTTPException(413)
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise HTTPException(413)
            return message

        await self.app(scope, limited, send)


def _route(scope: Scope) -> str:
    path: str = scope.get("path", "")
    return path.removeprefix(scope.get("root_path", ""))


class PathPrefix:
    """ASGI middleware: the site lies under ``prefix``; a path that a proxy has taken it off is served as well."""

    def __init__(self, app: ASGIApp, *, prefix: str) -> None:
        self.app, self.prefix = app, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, which routes by what follows the prefix."""
        await self.app(self._placed(scope) if self.prefix else scope, receive, send)

    def _placed(self, scope: Scope) -> Scope:
        path = scope.get("path")
        return {**scope, "root_path": self.prefix, "path": f"{path}/" if path == self.prefix else path}


class KnownHosts:
    """ASGI middleware: a request for another host gets 400, so that nothing can be made to speak in its name.

    Probes come to an address of the machine, not to a host by name, and say nothing about readers.
    """

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str]) -> None:
        self.app = app
        self.guarded = TrustedHostMiddleware(app, allowed_hosts=hosts, www_redirect=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, where the Host header is known."""
        app = self.app if scope.get("path") in PROBES else self.guarded
        await app(scope, receive, send)
