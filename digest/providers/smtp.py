"""Mail over SMTP: one recipient per message, over connections that are kept."""

from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from time import monotonic

from digest.domain.delivery import DeliveryReason
from digest.ports import HandOver, Message, Recipient, Refusal, Sender
from digest.providers.answers import is_about_us, refusal_of
from digest.providers.mailbox_syntax import needs_smtputf8
from digest.providers.smtp_connection import ConnectFailedError, Relay, open_connection
from digest.providers.smtp_session import Answer, Envelope, Session, SessionLostError, Stage
from digest.providers.tally import LONGEST_HAND_OVER, Tally
from digest.rendering.mime import Encoder

MOST_FRUITLESS_SESSIONS = 2
"""New sessions in a row that ended without a last word on any message; then the batch waits for later."""


class SmtpProvider:
    """Hands messages to a relay.

    ===============================================  ==================================================================
    what happens                                     what it is
    ===============================================  ==================================================================
    2xx after the final dot                          accepted
    5xx to RCPT, DATA or the message                 refused; ``INVALID_ADDRESS`` where the mailbox is dead, else
                                                     ``REFUSED``; but *again* for throttling in disguise
    4xx to RCPT, DATA or the message                 *again*
    421, 4xx to MAIL, connection closed before the   a new connection for those not given yet; *again* once that
    final dot                                        no longer helps
    silence before the final dot, no connection      *again*, all that are left
    closed or silent after the final dot             *unknown* (RFC 1047), the rest goes on unless it was silence
    address beyond ASCII and no SMTPUTF8             refused, ``INVALID_ADDRESS``
    login refused, sender refused, relaying denied,  alarm; all that are left *again*
    certificate not trusted, 5xx greeting
    ===============================================  ==================================================================

    Threads share a provider, never a connection: each hand-over takes one from the idle ones or opens its own.

    Args:
        url: ``smtp://user:pass@host:port`` (STARTTLS where offered) or ``smtps://…``.
        sender: who the mail is from; also the envelope sender without ``return_path``.
        timeout: seconds that any single wait on the network may take.
        batch_size: recipients of one hand-over.
        messages_per_connection: then a new one is opened; large receivers close or slow down long ones.
        return_path: recipient key -> envelope sender of that message (VERP), so that a bounce tells whose it is.
        sign: message -> message with a DKIM signature.
    """

    name = "smtp"

    def __init__(  # noqa: PLR0913 # each is a choice of its own
        self,
        url: str,
        sender: Sender,
        *,
        timeout: float = 25.0,
        batch_size: int = 50,
        messages_per_connection: int = 100,
        return_path: Callable[[str], str] | None = None,
        sign: Callable[[bytes], bytes] | None = None,
    ) -> None:
        self.batch_size = batch_size
        self._relay = Relay.from_url(url)
        self._our_name = sender.address.rpartition("@")[2]
        self._return_path = return_path or (lambda _: sender.address)
        self._sign = sign or (lambda source: source)
        self._timeout = timeout
        self._messages_per_connection = messages_per_connection
        self._encoder = Encoder(sender)
        self._idle: deque[Session] = deque()

    def hand_over(self, message: Message, recipients: Sequence[Recipient], now: datetime) -> HandOver:
        """Give the message once per recipient; see :class:`digest.ports.Provider`."""
        tally = Tally(recipients)
        tally.refuse_unsendable()
        encoded = self._encoder.encode(message)
        latest, fruitless = monotonic() + LONGEST_HAND_OVER, 0
        while tally.waiting and fruitless < MOST_FRUITLESS_SESSIONS:
            try:
                session = self._session()
            except ConnectFailedError as failure:
                tally.answers["no connection"] += 1
                tally.alarm = f"smtp: {failure}" if failure.needs_operator else ""
                break
            was_idle = session.answered > 0
            if not self._send_over(session, tally, lambda one: self._sign(encoded.for_recipient(one, now)), latest):
                break
            fruitless = 0 if was_idle or session.answered else fruitless + 1
        return tally.result()

    def close(self) -> None:
        """End the idle sessions."""
        while self._idle:
            self._idle.pop().close()

    def _session(self) -> Session:
        try:
            return self._idle.pop()
        except IndexError:
            return Session(open_connection(self._relay, self._our_name, self._timeout))

    def _envelope(self, recipient: Recipient) -> Envelope:
        return Envelope(self._return_path(recipient.key), recipient.address)

    def _send_over(
        self, session: Session, tally: Tally, source_for: Callable[[Recipient], bytes], latest: float
    ) -> bool:
        """Send to those waiting until none is left or the session ends; whether another session may help."""
        was_idle = session.answered > 0
        waiting = _sendable(session, tally)
        while waiting:
            left = self._messages_per_connection - session.answered
            if left <= 0:
                session.close()
            if session.closed:
                return True
            if monotonic() > latest:
                break
            recipient = waiting.popleft()
            following = self._envelope(waiting[0]) if waiting and left > 1 else None
            try:
                answer = session.send(self._envelope(recipient), source_for(recipient), following)
            except SessionLostError as lost:
                return _record_loss(tally, recipient, lost, was_idle=was_idle)
            if not _record(tally, recipient, answer, session):
                break
        if session.rest():
            self._idle.append(session)
        return not tally.alarm and session.closed


def _sendable(session: Session, tally: Tally) -> deque[Recipient]:
    """Those waiting, but for the ones that this relay can't be given."""
    for recipient in list(tally.waiting.values()):
        if needs_smtputf8(recipient.address) and not session.smtputf8:
            tally.refuse(recipient, Refusal(DeliveryReason.INVALID_ADDRESS, "the relay does not offer SMTPUTF8"))
    return deque(tally.waiting.values())


def _record(tally: Tally, recipient: Recipient, answer: Answer, session: Session) -> bool:
    """Settle the recipient by the answer; whether to go on over this session or another."""
    tally.answers[str(answer.code)] += 1
    if answer.accepted:
        tally.accept([recipient])
        return True
    if session.closed:  # 421: the server ends the session, the message is certainly not taken
        tally.move_to_end(recipient)
        return True
    refusal = refusal_of(answer.code, answer.text)
    if is_about_us(answer.code, answer.text) or (answer.stage is Stage.MAIL and refusal is not None):
        tally.alarm = f"smtp: {answer.code} {answer.text}"
        return False
    if answer.stage is Stage.MAIL:  # said of the connection or of us, not of the reader
        tally.move_to_end(recipient)
        session.close()
    elif refusal is None:
        tally.postpone([recipient])
    else:
        tally.refuse(recipient, refusal)
    return True


def _record_loss(tally: Tally, recipient: Recipient, lost: SessionLostError, *, was_idle: bool) -> bool:
    """Settle the recipient whose answer did not come; whether another session may help.

    A session that was idle may have died unseen, so its silence says nothing about the server.
    """
    tally.answers["none"] += 1
    if lost.given:
        tally.lose([recipient])
    else:
        tally.move_to_end(recipient)
    return was_idle or not lost.silent
