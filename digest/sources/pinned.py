"""HTTP connections that go to the address that was checked, within one deadline for everything.

The name is looked up once, at the moment of connecting, and that answer is connected to: there is no second look-up
that could say something else (DNS rebinding). Host header, SNI and certificate stay those of the name.
"""

import ssl
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import httpcore2
import httpx2

from digest.domain.errors import TryAgainError
from digest.sources.public_hosts import Resolve, addresses_of


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of a fetch, on a clock that only goes forward.

    Attributes:
        at: in seconds of ``clock``.
        clock: seconds from any starting point.
    """

    at: float
    clock: Callable[[], float]

    def left(self) -> float:
        """Seconds left; raises TryAgainError where there are none."""
        seconds = self.at - self.clock()
        if seconds <= 0:
            raise TryAgainError("the server did not finish in time")
        return seconds


@dataclass(frozen=True, slots=True)
class Guard:
    """What every connection of a fetch has to respect.

    Attributes:
        resolve: looks names up.
        allow_private: private addresses are allowed, for development.
        deadline: for all connections together.
        network: opens the sockets.
    """

    resolve: Resolve
    allow_private: bool
    deadline: Deadline
    network: httpcore2.NetworkBackend


class PinnedNetwork(httpcore2.NetworkBackend):
    """Opens connections for the pool: looks the name up, checks the answer, connects to it."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the deadline is the time-out
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """A connection to the first checked address that answers."""
        guard = self._guard
        addresses = addresses_of(host, port, guard.resolve, allow_private=guard.allow_private)
        options = list(socket_options or ())
        for number, address in enumerate(addresses, start=1):
            patience = guard.deadline.left() / (len(addresses) - number + 1)
            try:
                stream = guard.network.connect_tcp(address, port, patience, local_address, options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if number == len(addresses):
                    raise
            else:
                return _TimedStream(stream, guard.deadline)
        raise httpcore2.ConnectError("no address answered")


class _TimedStream(httpcore2.NetworkStream):
    """A stream whose every wait ends at the deadline, so that a server that drips bytes can't hold it open."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 - see above
        return self._stream.read(max_bytes, self._deadline.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._stream.write(buffer, self._deadline.left())

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, self._deadline.left())
        return _TimedStream(secured, self._deadline)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - as httpcore declares it
        return self._stream.get_extra_info(info)


class _Body(httpx2.SyncByteStream):
    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._response.iter_stream())

    def close(self) -> None:
        self._response.close()


class PinnedTransport(httpx2.BaseTransport):
    """An httpx2 transport over :class:`PinnedNetwork`; keeps no connection, uses no proxy."""

    def __init__(self, guard: Guard, ssl_context: ssl.SSLContext) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=ssl_context, max_keepalive_connections=0, network_backend=PinnedNetwork(guard)
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; httpcore2's exceptions and ours come through as they are."""
        url = request.url
        response = self._pool.handle_request(
            httpcore2.Request(
                request.method,
                httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                extensions=request.extensions,
            )
        )
        return httpx2.Response(
            response.status, headers=response.headers, stream=_Body(response), extensions=response.extensions
        )

    def close(self) -> None:
        """Close what is still open."""
        self._pool.close()
