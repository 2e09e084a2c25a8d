"""Messages over one open connection (RFC 5321), with no more waiting than the server asks for (PIPELINING, RFC 2920).

A message takes three commands and its text. A server that offers PIPELINING gets the commands in one write, and those
of the next message together with the final dot of this one, as RFC 2920 §3.1 allows: one round trip a message instead
of four. No more than one message is ever in doubt, for the text of the next goes only once this one is answered.
"""

import smtplib
from dataclasses import dataclass
from enum import StrEnum

from digest.providers.answers import reply_text


class Stage(StrEnum):
    """At which step of a message an answer came."""

    MAIL = "mail"
    RCPT = "rcpt"
    DATA = "data"
    END = "end"
    """After the final dot: the answer that hands responsibility over (RFC 5321 §6.1)."""


_BEFORE_TEXT = (Stage.MAIL, Stage.RCPT, Stage.DATA)
_EXPECTED = {Stage.MAIL: 2, Stage.RCPT: 2, Stage.DATA: 3}
_CLOSING = 421


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


@dataclass(frozen=True, slots=True)
class Envelope:
    """Return path and recipient of one message; bare addresses."""

    sender: str
    recipient: str


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
        smtputf8: whether the server takes addresses beyond ASCII (RFC 6531).
        pipelining: whether commands go in groups (RFC 2920).
    """

    def __init__(self, smtp: smtplib.SMTP) -> None:
        self._smtp = smtp
        self.smtputf8 = smtp.has_extn("smtputf8")
        self.pipelining = smtp.has_extn("pipelining")
        self.answered = 0
        self.closed = False
        self._announced: Envelope | None = None
        self._must_reset = False

    def send(self, envelope: Envelope, source: bytes, following: Envelope | None = None) -> Answer:
        """Give one message; the answer that settles it.

        Args:
            envelope: from and to whom.
            source: the message, lines ended by CRLF.
            following: the envelope that the next call will have; it goes ahead where the server allows it.

        Raises:
            SessionLostError: no such answer came.
        """
        try:
            refused = self._before_text(envelope)
            if refused is not None:
                return self._leave(refused)
            self._smtp.send(_dot_stuffed(source))
        except (smtplib.SMTPException, OSError) as error:
            raise self._lost(error, given=False) from error
        # The dot does not go with the text: until it is on its way the server can't have taken the message.
        try:
            self._smtp.send(b".\r\n" + self._announce(following))
            code, words = self._smtp.getreply()
        except (smtplib.SMTPException, OSError) as error:
            raise self._lost(error, given=True) from error
        if code // 100 not in {2, 4, 5}:
            raise self._lost(None, given=True)
        self.answered += 1
        return self._leave(Answer(Stage.END, code, reply_text(words)))

    def rest(self) -> bool:
        """Be kept for a later message; False when that can't be, for the next one was announced and will not come."""
        if self._announced is not None:
            self.closed = True
            self._smtp.close()
        return not self.closed

    def close(self) -> None:
        """End the session, politely where the other side still listens."""
        if self._announced is not None:
            self.rest()
        elif not self.closed:
            self.closed = True
            try:
                self._smtp.quit()
            except (smtplib.SMTPException, OSError):
                self._smtp.close()

    def _before_text(self, envelope: Envelope) -> Answer | None:
        """MAIL, RCPT and DATA; None when the server waits for the text."""
        if not self.pipelining:
            return self._step_by_step(envelope)
        if self._announced is None:
            self._smtp.send(self._announce(envelope))
        elif self._announced != envelope:
            raise smtplib.SMTPServerDisconnected("another message was announced")
        return self._read_group()

    def _announce(self, envelope: Envelope | None) -> bytes:
        """The commands of a message as one group, DATA last (RFC 2920 §3.1); empty without PIPELINING."""
        if envelope is None or not self.pipelining:
            return b""
        self._announced = envelope
        reset = [b"RSET"] if self._must_reset else []
        return b"".join(line + b"\r\n" for line in (*reset, *(_command(stage, envelope) for stage in _BEFORE_TEXT)))

    def _read_group(self) -> Answer | None:
        """The first refusal among the replies to a group; every reply is read, so that none is taken for another's."""
        if self._must_reset:
            self._reply()
            self._must_reset = False
        self._announced, first, waits_for_text = None, None, False
        for stage in _BEFORE_TEXT:
            answer = self._answer(stage)
            self._must_reset |= stage is Stage.MAIL and answer.code // 100 == _EXPECTED[stage]
            waits_for_text = stage is Stage.DATA and answer.code // 100 == _EXPECTED[stage]
            if answer.code // 100 != _EXPECTED[stage]:
                first = first or answer
            if answer.code == _CLOSING:
                break
        if first is not None and waits_for_text:
            # It takes the text though it refused the recipient: an empty one goes to nobody (RFC 2920 §3.1).
            self._smtp.send(b".\r\n")
            self._reply()
        if first is None:
            self._must_reset = False
        return first

    def _step_by_step(self, envelope: Envelope) -> Answer | None:
        if self._must_reset:
            self._smtp.send(b"RSET\r\n")
            self._reply()
            self._must_reset = False
        for stage in _BEFORE_TEXT:
            self._smtp.send(_command(stage, envelope) + b"\r\n")
            answer = self._answer(stage)
            if answer.code // 100 != _EXPECTED[stage]:
                self._must_reset = stage is not Stage.MAIL
                return answer
        return None

    def _answer(self, stage: Stage) -> Answer:
        code, words = self._reply()
        return Answer(stage, code, reply_text(words))

    def _reply(self) -> tuple[int, bytes]:
        code, words = self._smtp.getreply()
        if code // 100 not in {2, 3, 4, 5}:
            raise smtplib.SMTPServerDisconnected("no SMTP reply")
        return code, words

    def _leave(self, answer: Answer) -> Answer:
        """End the session where the server is about to (421, RFC 5321 §3.8)."""
        if answer.code == _CLOSING:
            self.closed = True
            self._smtp.close()
        elif answer.stage in {Stage.RCPT, Stage.DATA}:
            self.answered += 1
        return answer

    def _lost(self, error: Exception | None, *, given: bool) -> SessionLostError:
        self.closed = True
        self._smtp.close()
        # smtplib turns a timeout into SMTPServerDisconnected and keeps it as the context.
        silent = isinstance(error, TimeoutError) or isinstance(getattr(error, "__context__", None), TimeoutError)
        return SessionLostError(given=given, silent=silent)


def _command(stage: Stage, envelope: Envelope) -> bytes:
    if stage is Stage.DATA:
        return b"DATA"
    if stage is Stage.RCPT:
        return f"RCPT TO:<{envelope.recipient}>".encode()
    beyond_ascii = "" if envelope.recipient.isascii() else " SMTPUTF8 BODY=8BITMIME"
    return f"MAIL FROM:<{envelope.sender}>{beyond_ascii}".encode()


def _dot_stuffed(source: bytes) -> bytes:
    """The message as DATA wants it (RFC 5321 §4.5.2), without the final dot."""
    stuffed = source.replace(b"\r\n.", b"\r\n..")
    stuffed = b"." + stuffed if stuffed.startswith(b".") else stuffed
    return stuffed if stuffed.endswith(b"\r\n") else stuffed + b"\r\n"
