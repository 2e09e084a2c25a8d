"""One connection to a mail server: opened, secured, logged in, and one message at a time sent over it (RFC 5321)."""

import smtplib
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self
from urllib.parse import unquote, urlsplit

from digest.domain.errors import BadInputError
from digest.providers.answers import is_about_us, refusal_of, without_addresses

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_DEFAULT_PORTS = {"smtps": 465, "smtp": 587}


@dataclass(frozen=True, slots=True)
class Relay:
    """Where mail is handed over.

    Attributes:
        tls_first: TLS from the first byte (``smtps``); otherwise STARTTLS where the server offers it.
    """

    host: str
    port: int
    tls_first: bool
    user: str = ""
    password: str = field(default="", repr=False)

    @classmethod
    def from_url(cls, url: str) -> Self:
        """The relay of ``smtp://user:pass@host:port`` or ``smtps://…``; user and password percent-encoded.

        Raises:
            BadInputError: the address can't be used; the message does not repeat it, for it holds the password.
        """
        mend = "must be smtp://user:pass@host:port or smtps://…, user and password percent-encoded ASCII."
        try:
            parts = urlsplit(url)
            port = parts.port or _DEFAULT_PORTS[parts.scheme]
        except (ValueError, KeyError) as error:
            raise BadInputError("DIGEST_SMTP_URL", "", mend) from error
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        if not parts.hostname or not (user + password).isascii():
            raise BadInputError("DIGEST_SMTP_URL", "", mend)
        return cls(parts.hostname, port, parts.scheme == "smtps", user, password)


class Stage(StrEnum):
    """At which step of a message an answer came."""

    MAIL = "mail"
    RCPT = "rcpt"
    DATA = "data"
    END = "end"
    """After the final dot: the answer that hands responsibility over (RFC 5321 §6.1)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply that settled a message, and at which step it came."""

    stage: Stage
    code: int
    text: str

    @property
    def accepted(self) -> bool:
        """The server has taken the message."""
        return self.stage is Stage.END and self.code // 100 == 2  # noqa: PLR2004 # RFC 5321 §4.2.1


class ConnectFailedError(Exception):
    """No session came about, so nothing was given.

    Args:
        detail: what happened, without secrets.
        needs_operator: waiting will not mend it.
    """

    def __init__(self, detail: str, *, needs_operator: bool = False) -> None:
        super().__init__(detail)
        self.needs_operator = needs_operator


class SessionLostError(Exception):
    """The connection broke or fell silent during a message.

    Args:
        given: the final dot may have reached the server, so it may have taken the message (RFC 1047).
        silent: nothing came for as long as we wait, rather than the end of the connection.
    """

    def __init__(self, *, given: bool, silent: bool) -> None:
        super().__init__("given" if given else "not given")
        self.given = given
        self.silent = silent


class Session:
    """An open session. Not for two threads at once.

    Attributes:
        answered: how many messages the server has given a last word on.
        closed: the session is over.
    """

    def __init__(self, smtp: smtplib.SMTP, envelope_from: str) -> None:
        self._smtp = smtp
        self._envelope_from = envelope_from
        self.smtputf8 = smtp.has_extn("smtputf8")
        self.answered = 0
        self.closed = False

    def send(self, address: str, source: bytes) -> Answer:
        """Give one message for one recipient; the answer that settles it.

        Raises:
            SessionLostError: no such answer came.
        """
        try:
            answer = self._before_body(address)
            if answer is not None:
                return self._leave(answer)
            self._smtp.send(_dot_stuffed(source))
        except (smtplib.SMTPException, OSError) as error:
            raise self._lost(error, given=False) from error
        # The dot goes by itself: until it is on its way the server can't have taken the message, after it it may have.
        try:
            self._smtp.send(b".\r\n")
            code, words = self._smtp.getreply()
        except (smtplib.SMTPException, OSError) as error:
            raise self._lost(error, given=True) from error
        if code // 100 not in {2, 4, 5}:
            raise self._lost(None, given=True)
        self.answered += 1
        return self._leave(Answer(Stage.END, code, _text(words)))

    def close(self) -> None:
        """End the session, politely where the other side still listens."""
        if not self.closed:
            self.closed = True
            try:
                self._smtp.quit()
            except (smtplib.SMTPException, OSError):
                self._smtp.close()

    def _before_body(self, address: str) -> Answer | None:
        """MAIL, RCPT and DATA; None when the server waits for the message."""
        options = () if address.isascii() else ("SMTPUTF8", "BODY=8BITMIME")
        for stage in (Stage.MAIL, Stage.RCPT, Stage.DATA):
            code, words = self._say(stage, address, options)
            if code // 100 not in {2, 3, 4, 5}:
                raise smtplib.SMTPServerDisconnected("no SMTP reply")
            if code // 100 != (3 if stage is Stage.DATA else 2):
                return Answer(stage, code, _text(words))
        return None

    def _say(self, stage: Stage, address: str, options: Sequence[str]) -> tuple[int, bytes]:
        if stage is Stage.MAIL:
            return self._smtp.mail(self._envelope_from, options)
        return self._smtp.rcpt(address) if stage is Stage.RCPT else self._smtp.docmd("DATA")

    def _leave(self, answer: Answer) -> Answer:
        """Ready the session for the next message, or end it where the server is about to (421, RFC 5321 §3.8)."""
        if answer.code == 421:  # noqa: PLR2004
            self.close()
        elif answer.stage in {Stage.RCPT, Stage.DATA}:
            self.answered += 1
            self._smtp.rset()
        return answer

    def _lost(self, error: Exception | None, *, given: bool) -> SessionLostError:
        self.closed = True
        self._smtp.close()
        # smtplib turns a timeout into SMTPServerDisconnected and keeps it as the context.
        silent = isinstance(error, TimeoutError) or isinstance(getattr(error, "__context__", None), TimeoutError)
        return SessionLostError(given=given, silent=silent)


def open_session(relay: Relay, envelope_from: str, timeout: float) -> Session:
    """Connect, secure and log in.

    TLS is verified against the system's authorities (or ``SSL_CERT_FILE``). A password goes over TLS or loopback only.

    Raises:
        ConnectFailedError: in any other case.
    """
    smtp: smtplib.SMTP | None = None
    try:
        smtp = _connect(relay, envelope_from.rpartition("@")[2], timeout)
        _log_in(smtp, relay)
    except smtplib.SMTPResponseException as error:
        _drop(smtp)
        words = _text(error.smtp_error)
        refused = isinstance(error, smtplib.SMTPAuthenticationError) and error.smtp_code // 100 == 5  # noqa: PLR2004
        about_us = refused or is_about_us(error.smtp_code, words) or refusal_of(error.smtp_code, words) is not None
        raise ConnectFailedError(f"{error.smtp_code} {words}", needs_operator=about_us) from error
    except (smtplib.SMTPNotSupportedError, ssl.SSLCertVerificationError) as error:
        _drop(smtp)
        raise ConnectFailedError(str(error), needs_operator=True) from error
    except (smtplib.SMTPException, OSError) as error:
        _drop(smtp)
        raise ConnectFailedError(type(error).__name__) from error
    return Session(smtp, envelope_from)


def _connect(relay: Relay, our_name: str, timeout: float) -> smtplib.SMTP:
    context = ssl.create_default_context()
    if relay.tls_first:
        smtp: smtplib.SMTP = smtplib.SMTP_SSL(
            relay.host, relay.port, local_hostname=our_name, timeout=timeout, context=context
        )
    else:
        smtp = smtplib.SMTP(relay.host, relay.port, local_hostname=our_name, timeout=timeout)
    try:
        _greet(smtp, context, tls_now=relay.tls_first)
    except BaseException:
        smtp.close()
        raise
    return smtp


def _greet(smtp: smtplib.SMTP, context: ssl.SSLContext, *, tls_now: bool) -> None:
    smtp.ehlo_or_helo_if_needed()
    if not tls_now and smtp.has_extn("starttls"):
        smtp.starttls(context=context)
        smtp.ehlo()
    if smtp.sock is not None:
        # Commands are small and each waits for its answer: Nagle's algorithm would hold back the final dot.
        smtp.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _log_in(smtp: smtplib.SMTP, relay: Relay) -> None:
    if not relay.user:
        return
    if not isinstance(smtp.sock, ssl.SSLSocket) and relay.host not in _LOOPBACK:
        raise smtplib.SMTPNotSupportedError("the server offers no STARTTLS; the password was not sent in clear")
    smtp.login(relay.user, relay.password)


def _drop(smtp: smtplib.SMTP | None) -> None:
    if smtp is not None:
        smtp.close()


def _dot_stuffed(source: bytes) -> bytes:
    """The message as DATA wants it (RFC 5321 §4.5.2), without the final dot."""
    stuffed = source.replace(b"\r\n.", b"\r\n..")
    stuffed = b"." + stuffed if stuffed.startswith(b".") else stuffed
    return stuffed if stuffed.endswith(b"\r\n") else stuffed + b"\r\n"


def _text(words: bytes | str) -> str:
    plain = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
    return without_addresses(plain)
