"""Connections of a load, kept open between requests, which cost the machine as little as they can."""

from asyncio import Future, Protocol, get_running_loop, timeout
from asyncio import Transport as ByteStream
from collections import deque
from dataclasses import dataclass, field
from typing import cast

from httptools import HttpParserError, HttpResponseParser


class Connection(Protocol):
    """One HTTP/1.1 connection; one request at a time.

    Attributes:
        is_open: whether another request may go over it.
    """

    def __init__(self) -> None:
        self.is_open = False
        self._stream: ByteStream | None = None
        self._answer: Future[int] | None = None
        self._parser = HttpResponseParser(self)

    def connection_made(self, transport: object) -> None:
        """Called by the loop."""
        self._stream, self.is_open = cast("ByteStream", transport), True

    def data_received(self, data: bytes) -> None:
        """Called by the loop."""
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            self._fail(ConnectionError(f"no HTTP answer: {error}"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop."""
        self._fail(exc or ConnectionError("the server closed the connection"))

    def on_message_complete(self) -> None:
        """Called by the parser at the end of an answer's body."""
        self.is_open = self._parser.should_keep_alive()
        status = self._parser.get_status_code()
        self._parser = HttpResponseParser(self)
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(status)

    async def ask(self, request: bytes) -> int:
        """Send a whole request; returns the status of the answer, once its body is here.

        Raises:
            OSError: no answer came.
        """
        if self._stream is None or not self.is_open:
            raise ConnectionError("the connection is closed")
        self._answer = get_running_loop().create_future()
        self._stream.write(request)
        return await self._answer

    def close(self) -> None:
        """End the connection."""
        self.is_open = False
        if self._stream is not None:
            self._stream.close()

    def _fail(self, error: Exception) -> None:
        self.close()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)


@dataclass(slots=True)
class Connections:
    """Connections to one server; as many are opened as requests are on their way at once."""

    host: str
    port: int
    patience_seconds: float
    _idle: deque[Connection] = field(default_factory=deque)

    async def ask(self, request: bytes) -> int:
        """Send a whole request over an idle connection or a new one; returns the status of the answer.

        Raises:
            OSError: no answer came in time.
        """
        connection: Connection | None = None
        try:
            async with timeout(self.patience_seconds):
                connection = await self._connection()
                status = await connection.ask(request)
        except OSError:
            if connection is not None:
                connection.close()
            raise
        if connection.is_open:
            self._idle.append(connection)
        return status

    def close(self) -> None:
        """End those that are idle."""
        while self._idle:
            self._idle.pop().close()

    async def _connection(self) -> Connection:
        # The last one used: those that nobody needs grow old, and the server closes them.
        while self._idle:
            if (found := self._idle.pop()).is_open:
                return found
        _, opened = await get_running_loop().create_connection(Connection, self.host, self.port)
        return opened
