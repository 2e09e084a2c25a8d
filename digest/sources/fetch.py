"""Documents from the web, fetched as a guest of servers that may be slow, wrong or hostile."""

import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from functools import cache
from urllib.parse import urlsplit

import httpcore2
import httpx2

from digest.domain.errors import GoneError, PermanentError, TryAgainError, shown
from digest.ports import Fetched
from digest.sources.inflate import inflated
from digest.sources.pinned import Deadline, Guard, PinnedTransport
from digest.sources.public_hosts import Resolve, resolve
from digest.sources.web_address import web_address

MOST_REDIRECTS = 5
ROBOT = "daily-brief"
"""The name by which robots.txt may speak of us."""
USER_AGENT = f"{ROBOT} feed reader"
_OPEN_PORTS = {None, 80, 443}
_PERMANENT_REDIRECTS = {301, 308}
_REDIRECTS = {302, 303, 307} | _PERMANENT_REDIRECTS
_FINE = {200, 203}
_PASSING = {408, 425, 429}
"""The 4xx answers that say “later” and not “no” (RFC 9110 §15.5.9, RFC 8470, RFC 6585)."""

_NETWORK_ERRORS = (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError)
_ACCEPT = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml, "
    "application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, */*;q=0.1"
)


Permit = Callable[[str], None]
"""Raises for an address that may not be visited."""


@dataclass(frozen=True, slots=True)
class _Hop:
    """Where a redirect leads, and whether for good."""

    target: str
    permanent: bool


@cache
def _trust() -> ssl.SSLContext:
    # Reading the system's authorities takes tens of milliseconds, and they are the same for every fetcher.
    return ssl.create_default_context()


class WebFetcher:
    """Implements :class:`digest.ports.Fetcher` over HTTP.

    Only http and https, ports 80 and 443, public addresses, no credentials, no cookies, no proxy; every redirect (5 at
    most) is checked like the first address and the connection is pinned to what was checked.

    Args:
        timeout: seconds for a whole fetch, redirects included. Only a name look-up is not interrupted by it.
        max_bytes: of the body, decompressed.
        allow_private: private addresses and any port are allowed, for development.
        user_agent: who fetches.
        resolve: looks names up.
        network: opens the connections.
        ssl_context: whom to trust; the system's authorities unless given.
        clock: seconds on a clock that only goes forward.
    """

    def __init__(  # noqa: PLR0913 - four settings; the rest is for whoever stands in for the network
        self,
        timeout: float = 20.0,
        max_bytes: int = 5_000_000,
        *,
        allow_private: bool = False,
        user_agent: str = USER_AGENT,
        resolve: Resolve = resolve,
        network: httpcore2.NetworkBackend | None = None,
        ssl_context: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._allow_private = allow_private
        self._headers = {"User-Agent": user_agent, "Accept": _ACCEPT, "Accept-Encoding": "gzip, deflate"}
        self._resolve = resolve
        self._network = network or httpcore2.SyncBackend()
        self._ssl_context = ssl_context or _trust()
        self._clock = clock

    def fetch(self, url: str, etag: str = "", last_modified: str = "") -> Fetched:
        """The document at ``url`` after redirects, or ``not_modified``.

        Args:
            url: absolute http(s) address.
            etag: as received with the last document that was read without a fault; sent back with the next one.
            last_modified: likewise.

        Raises:
            GoneError: the server says that it is gone for good (410).
            PermanentError: the address can't be fetched, the server says no (4xx), or the body is too large.
            TryAgainError: the network or the server failed this time.
        """
        known = {"If-None-Match": etag, "If-Modified-Since": last_modified}
        validators = {name: value for name, value in known.items() if value.isascii() and value.strip()}
        return self.follow(url, validators)

    def follow(self, url: str, validators: Mapping[str, str] | None = None, permit: Permit | None = None) -> Fetched:
        """As :meth:`fetch`, with headers of the caller's, and every address of the way shown to ``permit`` first."""
        deadline = Deadline(self._clock() + self._timeout, self._clock)
        guard = Guard(self._resolve, self._allow_private, deadline, self._network)
        here, moved_to, still = url, "", True
        for _ in range(MOST_REDIRECTS + 1):
            address = self._checked(here)
            if permit:
                permit(address)
            answer = self._get(address, validators or {}, guard)
            if isinstance(answer, Fetched):
                return replace(answer, moved_to=moved_to)
            here, still = answer.target, still and answer.permanent
            moved_to = here if still else moved_to
        raise PermanentError(f"{shown(url)} redirects more than {MOST_REDIRECTS} times")

    def _checked(self, url: str) -> str:
        address = web_address(url)
        if not address:
            raise PermanentError(f"{shown(url)} can't be fetched: use an http or https address without a password")
        if urlsplit(address).port not in _OPEN_PORTS and not self._allow_private:
            raise PermanentError(f"{shown(url)} can't be fetched: only ports 80 and 443 are open to feeds")
        return address

    def _get(self, url: str, validators: Mapping[str, str], guard: Guard) -> Fetched | _Hop:
        """One hop: the document, or where it redirects to. A client per hop has no cookies to bring along.

        No time-out is set here because the guard's deadline bounds every wait.
        """
        transport = PinnedTransport(guard, self._ssl_context)
        with httpx2.Client(transport=transport, headers=self._headers, trust_env=False, timeout=None) as client:
            try:
                with client.stream("GET", url, headers=validators) as response:
                    return self._answer(url, response, asked=bool(validators))
            except _NETWORK_ERRORS as error:
                reason = str(error) or type(error).__name__
                raise TryAgainError(f"{shown(url)} could not be fetched: {reason}") from error
            except httpx2.InvalidURL as error:
                raise PermanentError(f"{shown(url)} can't be fetched: {error}") from error

    def _answer(self, url: str, response: httpx2.Response, *, asked: bool) -> Fetched | _Hop:
        status, headers = response.status_code, response.headers
        if status in _REDIRECTS and "Location" in headers:
            target = web_address(headers["Location"], url)
            if not target:
                raise PermanentError(f"{shown(url)} redirects to {shown(headers['Location'])}, which can't be fetched")
            return _Hop(target, status in _PERMANENT_REDIRECTS)
        if status == httpx2.codes.NOT_MODIFIED and asked:
            return Fetched(url, b"", not_modified=True)
        if status not in _FINE:
            raise _refusal(url, response)
        return Fetched(
            url,
            self._body(response),
            content_type=headers.get("Content-Type", ""),
            etag=headers.get("ETag", ""),
            last_modified=headers.get("Last-Modified", ""),
        )

    def _body(self, response: httpx2.Response) -> bytes:
        announced = response.headers.get("Content-Length", "")
        if announced.isdecimal() and int(announced[:20]) > self._max_bytes:
            raise PermanentError(f"the document is larger than {self._max_bytes} bytes")
        return inflated(response.iter_raw(), response.headers.get("Content-Encoding", ""), self._max_bytes)


def _refusal(url: str, response: httpx2.Response) -> PermanentError | TryAgainError:
    status = response.status_code
    message = f"{shown(url)} answered {status} {response.reason_phrase}".rstrip()
    if status == httpx2.codes.GONE:
        return GoneError(message)
    if response.is_client_error and status not in _PASSING:
        return PermanentError(message)
    return TryAgainError(message, _retry_after(response))


def _retry_after(response: httpx2.Response) -> float | None:
    """Seconds the server asks to wait (RFC 9110 §10.2.3); a date is measured against the server's own clock."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value[:9])
    try:
        wait = parsedate_to_datetime(value) - parsedate_to_datetime(response.headers.get("Date", ""))
    except (ValueError, TypeError):
        return None
    return max(0.0, wait.total_seconds())
