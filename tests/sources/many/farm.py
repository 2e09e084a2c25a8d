"""Many web servers on loopback, one port each: well, slow, dead, huge and lying ones. They count what they send."""

import asyncio
import hashlib
import socket
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import cycle

from tests.sources.many.documents import PLAIN, Charset, Document, bomb, document

_MIX = (
    ("fine", 76),
    ("slow", 6),
    ("lying", 8),
    ("refused", 2),
    ("missing", 2),
    ("broken", 2),
    ("silent", 1),
    ("endless", 1),
    ("announced", 1),
    ("bomb", 1),
)
"""Kinds in every hundred feeds. Of “refused” ones nothing listens, “silent” ones accept and say nothing."""
WHOLE = frozenset({"fine", "slow", "lying"})
_LIES = (
    Charset("gb18030", header="utf-8", declared="gb2312"),
    Charset("utf-8", header="iso-8859-1", declared=""),
    Charset("gbk", header="", declared=""),
    Charset("utf-8", header="", declared="gbk"),
    Charset("gbk", header="iso-8859-1", declared="gbk"),
)
_ENOUGH_TO_WAIT = 100
_SLOW_PARTS, _CHUNK = 8, 65_536
_STATUS = {"missing": "404 Not Found", "broken": "503 Service Unavailable"}


@dataclass
class Farm:
    """Who serves what, and what they sent.

    Attributes:
        kinds: of each feed.
        urls: of each feed.
        titles: that a reader can have, of each feed.
        servers: those that listen.
        shut: ports that nobody listens on and nobody else is given.
        sent: bytes of answers, heads included, by kind.
        answers: by status, “200” or “304” say.
    """

    kinds: Sequence[str]
    urls: list[str] = field(default_factory=list)
    titles: list[Sequence[str]] = field(default_factory=list)
    shut: list[socket.socket] = field(default_factory=list)
    servers: list[asyncio.Server] = field(default_factory=list)
    sent: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)

    def reset(self) -> None:
        """Count anew."""
        self.sent.clear()
        self.answers.clear()


def kinds(feeds: int) -> list[str]:
    """The kind of each feed, the same mix for any number, evenly spread and every kind at least once.

    Of a few feeds none is silent: that one would be waited for longer than for all others.
    """
    mix = [(kind, share) for kind, share in _MIX[1:] if kind != "silent" or feeds >= _ENOUGH_TO_WAIT]
    counts = {kind: max(1, round(share * feeds / 100)) for kind, share in mix}
    counts[_MIX[0][0]] = max(1, feeds - sum(counts.values()))
    places = ((place + 0.5) / count for count in counts.values() for place in range(count))
    names = (kind for kind, count in counts.items() for _ in range(count))
    return [kind for _, kind in sorted(zip(places, names, strict=True))]


@contextmanager
def farm(feeds: int, items: int, now: datetime, *, drip: float) -> Iterator[Farm]:
    """Servers for that many feeds in a thread of its own until the block ends.

    Args:
        items: in each feed.
        now: when the newest items are from.
        drip: seconds that a slow server takes for one answer.
    """
    running = Farm(kinds(feeds))
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(_open(running, items, now, drip), loop).result()
        yield running
    finally:
        asyncio.run_coroutine_threadsafe(_end(running), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        for port in running.shut:
            port.close()


async def _open(running: Farm, items: int, now: datetime, drip: float) -> None:
    lies = cycle(_LIES)
    for number, kind in enumerate(running.kinds):
        charset = next(lies) if kind == "lying" else PLAIN
        served = bomb() if kind == "bomb" else document(number, items, now, charset)
        running.titles.append(served.titles if kind in WHOLE else ())
        running.urls.append(f"http://127.0.0.1:{await _port(running, kind, served, drip)}/feed/{number}.xml")


async def _port(running: Farm, kind: str, served: Document, drip: float) -> int:
    if kind == "refused":
        running.shut.append(socket.socket())
        running.shut[-1].bind(("127.0.0.1", 0))
        return int(running.shut[-1].getsockname()[1])

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await _answer(running, kind, served, drip, reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    running.servers.append(server)
    return int(server.sockets[0].getsockname()[1])


async def _answer(
    running: Farm,
    kind: str,
    served: Document,
    drip: float,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    asked = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")

    async def send(part: bytes) -> None:
        writer.write(part)
        await writer.drain()
        running.sent[kind] += len(part)

    if kind == "silent":
        await reader.read()
        return
    tag = f'"{hashlib.sha256(served.body).hexdigest()[:16]}"'
    status = _STATUS.get(kind, "304 Not Modified" if f"If-None-Match: {tag}".lower() in asked.lower() else "200 OK")
    running.answers[status[:3]] += 1
    length = {"announced": 2_000_000_000, "endless": None}.get(kind, len(served.body) if status[0] == "2" else 0)
    headers = {**served.headers, "ETag": tag, "Connection": "close"} | (
        {} if length is None else {"Content-Length": length}
    )
    head = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    await send("\r\n".join(head).encode())
    if status == "200 OK":
        await _body(kind, served, drip, send)


async def _body(kind: str, served: Document, drip: float, send: Callable[[bytes], Awaitable[None]]) -> None:
    if kind in {"endless", "announced"}:
        while True:
            await send(bytes(_CHUNK))
    if kind != "slow":
        await send(served.body)
        return
    step = -(-len(served.body) // _SLOW_PARTS)
    for start in range(0, len(served.body), step):
        await asyncio.sleep(drip / _SLOW_PARTS)
        await send(served.body[start : start + step])


async def _end(running: Farm) -> None:
    for server in running.servers:
        server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
