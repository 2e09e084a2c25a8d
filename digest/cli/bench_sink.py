"""A mail server that takes everything and keeps nothing, as fast as Python can: a process of its own for a benchmark.

Speaks as much of RFC 5321 as a client needs, with PIPELINING (RFC 2920). Each line on standard input is answered with
how many messages it has taken. Loopback only.
"""

import asyncio
import sys

END = b"\r\n.\r\n"
GREETING = b"220 sink.example.com ESMTP\r\n"
EXTENSIONS = b"250-sink.example.com\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE 52428800\r\n"


class Count:
    """How many messages were taken, by all connections."""

    messages = 0


class Sink(asyncio.Protocol):
    """One connection."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._waiting = bytearray()
        self._reads_text = False
        self._searched = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet."""
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a mail server needs a stream")
        self._out = transport
        transport.write(GREETING)

    def data_received(self, data: bytes) -> None:
        """Answer whatever is complete, in one write."""
        self._waiting += data
        answers = bytearray()
        while (answer := self._text() if self._reads_text else self._command()) is not None:
            answers += answer
        if answers:
            self._out.write(answers)

    def _text(self) -> bytes | None:
        found = self._waiting.find(END, self._searched)
        if found < 0:
            self._searched = max(0, len(self._waiting) - len(END))
            return None
        del self._waiting[: found + len(END)]
        self._reads_text, self._searched = False, 0
        self._count.messages += 1
        return b"250 2.0.0 taken\r\n"

    def _command(self) -> bytes | None:
        end = self._waiting.find(b"\r\n")
        if end < 0:
            return None
        verb = bytes(self._waiting[:4]).upper()
        del self._waiting[: end + 2]
        if verb == b"QUIT":
            self._out.write(b"221 2.0.0 bye\r\n")
            self._out.close()
            return None
        self._reads_text = verb == b"DATA"
        return {b"EHLO": EXTENSIONS, b"DATA": b"354 go ahead\r\n"}.get(verb, b"250 2.0.0 ok\r\n")


async def serve(port: int) -> None:
    """Take mail until the process is ended."""
    loop, count = asyncio.get_running_loop(), Count()

    def tell() -> None:
        if not sys.stdin.readline():
            loop.remove_reader(sys.stdin)
        else:
            sys.stdout.write(f"{count.messages}\n")
            sys.stdout.flush()

    loop.add_reader(sys.stdin, tell)
    server = await loop.create_server(lambda: Sink(count), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
