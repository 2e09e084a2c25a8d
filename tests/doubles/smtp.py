"""A mail server on loopback that does on purpose what real ones do by accident."""

import asyncio
import contextlib
import email
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from types import TracebackType
from typing import Any, AnyStr, Self

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

ACCEPTED = "250 2.0.0 queued"


@dataclass
class Behaviour:
    """What the server does other than accept.

    Attributes:
        recipients: address -> reply to RCPT.
        messages: what it answers to the message of an address.
        senders: replies to MAIL, one per MAIL, until used up.
        close_after: 421 and the end of the connection once that many messages came over it.
        drop_before: addresses whose RCPT ends the connection without a word.
        drop_after: addresses whose message is taken, and the connection ends before the answer.
        silent_at: ``rcpt`` or ``end``: it says nothing more from there on.
    """

    recipients: dict[str, str] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    senders: list[str] = field(default_factory=list)
    close_after: int | None = None
    drop_before: set[str] = field(default_factory=set)
    drop_after: set[str] = field(default_factory=set)
    silent_at: str = ""


@dataclass
class Taken:
    """A message the server answers for."""

    envelope_from: str
    address: str
    source: bytes

    @property
    def parsed(self) -> EmailMessage:
        return email.message_from_bytes(self.source, policy=SMTP_POLICY)


class SmtpDouble:
    """The server, in a thread of its own, from ``with`` to the end of the block.

    Args:
        smtputf8: whether it offers SMTPUTF8.
        pipelining: whether it offers PIPELINING (RFC 2920).
        password: the one that user ``relay`` must give; none is asked for when it is empty.
        tls: offered with STARTTLS.
        tls_first: spoken from the first byte (``smtps``) instead.
    """

    def __init__(
        self,
        *,
        smtputf8: bool = False,
        pipelining: bool = True,
        password: str = "",
        tls: ssl.SSLContext | None = None,
        tls_first: bool = False,
    ) -> None:
        self.behaviour = Behaviour()
        self.taken: list[Taken] = []
        self.connections = 0
        self.largest_connection = 0
        self.secured: list[bool] = []
        self.pipelining = pipelining
        self.largest_group = 0
        self._smtputf8, self._password, self._tls, self._tls_first = smtputf8, password, tls, tls_first
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self.port = 0

    @property
    def url(self) -> str:
        login = f"relay:{self._password}@" if self._password else ""
        scheme = "smtps" if self._tls_first else "smtp"
        return f"{scheme}://{login}localhost:{self.port}"

    @property
    def asks_for_login(self) -> bool:
        return bool(self._password)

    @property
    def counts(self) -> Counter[str]:
        """How many messages were taken per address."""
        return Counter(taken.address for taken in self.taken)

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(timeout=10)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        asyncio.run_coroutine_threadsafe(self._shut(), self._loop).result(timeout=10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()

    async def _open(self) -> None:
        self._server = await self._loop.create_server(
            self._connection, "127.0.0.1", 0, ssl=self._tls if self._tls_first else None
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def _shut(self) -> None:
        assert self._server is not None
        self._server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _connection(self) -> SMTP:
        self.connections += 1
        return _Protocol(
            self,
            _Handler(self),
            hostname="relay.example.com",
            ident="double",
            loop=self._loop,
            enable_SMTPUTF8=self._smtputf8,
            tls_context=None if self._tls_first else self._tls,
            auth_require_tls=False,
            authenticator=self._authenticate if self.asks_for_login else None,
        )

    def _authenticate(
        self, _server: SMTP, _session: Session, _envelope: Envelope, _how: str, data: object
    ) -> AuthResult:
        right = isinstance(data, LoginPassword) and data == LoginPassword(b"relay", self._password.encode())
        return AuthResult(success=right, handled=False)


class _Protocol(SMTP):
    """Closes after 421, as RFC 5321 §3.8 says a server does."""

    def __init__(self, double: SmtpDouble, handler: "_Handler", **options: Any) -> None:  # noqa: ANN401 # aiosmtpd's
        super().__init__(handler, **options)
        self._double = double

    def data_received(self, data: bytes) -> None:
        """What comes in one read is what the client wrote together."""
        commands = [line[:4].upper() for line in data.split(b"\r\n")]
        together = sum(command in {b"RSET", b"MAIL", b"RCPT", b"DATA"} for command in commands)
        self._double.largest_group = max(self._double.largest_group, together)
        super().data_received(data)

    async def push(self, status: AnyStr) -> None:
        await super().push(status)
        if status[:3] in {"421", b"421"} and self.transport is not None:
            self.transport.close()

    def hang_up(self) -> None:
        assert isinstance(self.transport, asyncio.WriteTransport)
        self.transport.abort()


class _Handler:
    def __init__(self, double: SmtpDouble) -> None:
        self._double = double
        self._count = 0

    @property
    def _behaviour(self) -> Behaviour:
        return self._double.behaviour

    async def handle_EHLO(  # noqa: N802 # aiosmtpd finds its hooks by these names
        self, _server: SMTP, session: Session, _envelope: Envelope, name: str, lines: list[str]
    ) -> list[str]:
        session.host_name = name
        return [*lines[:-1], "250-PIPELINING", lines[-1]] if self._double.pipelining else lines

    async def handle_MAIL(  # noqa: N802 # likewise
        self, _server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self._behaviour.close_after is not None and self._count >= self._behaviour.close_after:
            return "421 4.7.0 too many messages in this connection"
        if self._behaviour.senders:
            return self._behaviour.senders.pop(0)
        if self._double.asks_for_login and not session.authenticated:
            return "530 5.7.0 authentication required"
        self._double.secured.append(session.ssl is not None)
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(  # noqa: N802 # likewise
        self, server: _Protocol, _session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self._behaviour.silent_at == "rcpt":
            await asyncio.Event().wait()
        if address in self._behaviour.drop_before:
            server.hang_up()
        if envelope.rcpt_tos:
            return "452 4.5.3 one recipient per message"
        if address in self._behaviour.recipients:
            return self._behaviour.recipients[address]
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 OK"

    async def handle_DATA(self, server: _Protocol, _session: Session, envelope: Envelope) -> str:  # noqa: N802 # likewise
        (address,) = envelope.rcpt_tos
        self._count += 1
        self._double.largest_connection = max(self._double.largest_connection, self._count)
        answer = self._behaviour.messages.get(address, ACCEPTED)
        if answer == ACCEPTED:
            assert isinstance(envelope.original_content, bytes)
            self._double.taken.append(Taken(envelope.mail_from or "", address, envelope.original_content))
        if self._behaviour.silent_at == "end":
            await asyncio.Event().wait()
        if address in self._behaviour.drop_after:
            server.hang_up()
        return answer


@contextlib.contextmanager
def mute_server(port: int = 0) -> Iterator[int]:
    """The port of a server that lets anybody connect and never says a word."""
    with contextlib.closing(_listening(port)) as listener:
        yield listener.getsockname()[1]


def _listening(port: int = 0) -> socket.socket:
    return socket.create_server(("127.0.0.1", port))
