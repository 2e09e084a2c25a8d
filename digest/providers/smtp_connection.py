"""A connection to a mail server: opened, secured and logged in (RFC 5321, RFC 3207, RFC 4954)."""

import os
import smtplib
import socket
import ssl
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self
from urllib.parse import unquote, urlsplit

from digest.domain.errors import BadInputError
from digest.providers.answers import is_about_us, refusal_of, reply_text

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


class ConnectFailedError(Exception):
    """No session came about, so nothing was given.

    Args:
        detail: what happened, without secrets.
        needs_operator: waiting will not mend it.
    """

    def __init__(self, detail: str, *, needs_operator: bool = False) -> None:
        super().__init__(detail)
        self.needs_operator = needs_operator


def open_connection(relay: Relay, our_name: str, timeout: float) -> smtplib.SMTP:
    """Connect, secure and log in.

    TLS is verified against the system's authorities (or ``SSL_CERT_FILE``). A password goes over TLS or loopback only.

    Args:
        relay: where to.
        our_name: what we call ourselves in EHLO.
        timeout: seconds that any single wait may take.

    Raises:
        ConnectFailedError: in any other case.
    """
    smtp: smtplib.SMTP | None = None
    try:
        smtp = _connect(relay, our_name, timeout)
        _log_in(smtp, relay)
    except smtplib.SMTPResponseException as error:
        _drop(smtp)
        words = reply_text(error.smtp_error)
        refused = isinstance(error, smtplib.SMTPAuthenticationError) and error.smtp_code // 100 == 5  # noqa: PLR2004
        about_us = refused or is_about_us(error.smtp_code, words) or refusal_of(error.smtp_code, words) is not None
        raise ConnectFailedError(f"{error.smtp_code} {words}", needs_operator=about_us) from error
    except (smtplib.SMTPNotSupportedError, ssl.SSLCertVerificationError) as error:
        _drop(smtp)
        raise ConnectFailedError(str(error), needs_operator=True) from error
    except (smtplib.SMTPException, OSError) as error:
        _drop(smtp)
        raise ConnectFailedError(type(error).__name__) from error
    return smtp


@lru_cache(maxsize=4)
def _trust(*_: str | None) -> ssl.SSLContext:
    """Whom TLS believes; kept, since reading the authorities takes longer than a hundred messages.

    Args:
        _: what tells OpenSSL where they are.
    """
    return ssl.create_default_context()


def _connect(relay: Relay, our_name: str, timeout: float) -> smtplib.SMTP:
    context = _trust(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
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
