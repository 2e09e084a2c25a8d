"""Mail over SendGrid's v3 Mail Send: up to a thousand recipients in one request."""

from collections import deque
from collections.abc import Sequence
from datetime import datetime
from http import HTTPStatus
from time import monotonic

import httpx2

from digest.domain.delivery import DeliveryReason
from digest.domain.errors import BadInputError
from digest.ports import HandOver, Message, Recipient, Refusal, Sender
from digest.providers.mailbox_syntax import needs_smtputf8
from digest.providers.retry_after import wait_asked_for
from digest.providers.sendgrid_answers import (
    Groups,
    alarm_of,
    clean_receipt,
    complaints_of,
    halved,
    leaves_doubt,
    says_not_now,
    settle_bad_request,
)
from digest.providers.sendgrid_request import Envelope, without_twins
from digest.providers.tally import LONGEST_HAND_OVER, Tally
from digest.providers.waits import Waits

MOST_REQUESTS = 200
"""Requests of one hand-over while refused readers are being found; then the rest waits for later."""
MOST_BYTES = 10_000_000
"""Of one request. The documented limits disagree (20 and 30 MB); well below both."""
FALLBACK_WAIT = 10.0
"""Seconds that all workers wait after a 429 which does not say how long."""
LONGEST_CONNECT = 10.0
SPEAKS_FOR = 30.0
"""Seconds for which an answer over plain HTTP proves that somebody is there."""


class SendGridProvider:
    """Hands messages to SendGrid. Safe to share between threads.

    ==========================================  =======================================================================
    what happens                                what it is
    ==========================================  =======================================================================
    2xx                                         accepted, all; receipt is X-Message-Id
    400 that names personalizations             those refused, the rest sent again: a 400 sends to nobody
    400 that names the sender                   alarm, all *again*
    400 that names another field                refused, all: the message itself can't be sent
    400 that names none                         halved until the refused one is found
    401, 403 and any other 3xx or 4xx           alarm, all *again*
    413, body too large                         halved; refused when it holds one recipient
    408, 429, 503 with Retry-After              *again* after X-RateLimit-Reset or Retry-After, for all workers together
    500, 503 in the API's words or without any  *again*: the service says that it has not done it
    any other 5xx                               *unknown*, all: there is no idempotency key, and a gateway answers so
                                                when the connection behind it broke after acceptance
    connection failed, request not all sent     *again*, all: half a request is none
    timeout, reset after the request was sent   *unknown*, all
    nobody speaks (plain HTTP)                  *again*, all: asked before anything is given
    address beyond ASCII, not sendable          refused, ``INVALID_ADDRESS``
    ==========================================  =======================================================================

    After *again*, *unknown* or an alarm nothing more is tried in that hand-over. There is no retry below this one, and
    redirects are not followed: the key is for this host alone.

    Over TLS the handshake shows that somebody is there before a request leaves. Over plain HTTP a mute server takes the
    bytes into a buffer and looks just like one that took the mail and is slow to say so; hence a HEAD first, unless the
    host has answered within the last half minute.

    Args:
        api_key: sent as bearer token, never shown.
        host: ``https://api.sendgrid.com`` or a region's.
        sender: who the mail is from.
        counts_opens: SendGrid's pixel goes into briefs, and into no other mail.
        waits: what all workers know of the waits that SendGrid asked for; None: this provider's own.
        timeout: seconds that any single wait on the network may take.
        most_bytes: size of one request.
    """

    name = "sendgrid"
    batch_size = 1000

    def __init__(  # noqa: PLR0913 - four say who sends where; the rest is what differs from usual
        self,
        api_key: str,
        host: str,
        sender: Sender,
        waits: Waits | None = None,
        *,
        counts_opens: bool = False,
        timeout: float = 25.0,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        key = api_key.strip()
        if not key.isascii() or not key.isprintable():
            raise BadInputError("DIGEST_SENDGRID_API_KEY", "", "must be one line of ASCII, as SendGrid showed it.")
        self._sender, self._waits, self._most_bytes = sender, waits or Waits(), most_bytes
        self._counts_opens = counts_opens
        self._address = f"{host.rstrip('/')}/v3/mail/send"
        self._is_plain = self._address.lower().startswith("http://")
        self._spoke_at = float("-inf")
        self._client = httpx2.Client(
            timeout=httpx2.Timeout(timeout, connect=min(timeout, LONGEST_CONNECT)),
            headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            follow_redirects=False,
        )

    def hand_over(self, message: Message, recipients: Sequence[Recipient], now: datetime) -> HandOver:
        """Give the message to SendGrid for all recipients; see :class:`digest.ports.Provider`."""
        tally = Tally(recipients)
        if (wait := self._waits.left(self.name, now)) > 0:
            tally.delay("sendgrid asked to wait", wait)
            return tally.result()
        tally.refuse_unsendable()
        for recipient in [one for one in tally.waiting.values() if needs_smtputf8(one.address)]:
            tally.refuse(recipient, Refusal(DeliveryReason.INVALID_ADDRESS, "needs SMTPUTF8, which SendGrid lacks"))
        if tally.waiting and self._somebody_is_there():
            counts_opens = self._counts_opens and message.kind == "brief"
            envelope = Envelope(message, self._sender, counts_opens=counts_opens)
            self._hand_over_groups(envelope, tally, now)
        return tally.result()

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def _somebody_is_there(self) -> bool:
        if not self._is_plain or monotonic() - self._spoke_at < SPEAKS_FOR:
            return True
        try:
            self._client.head(self._address, timeout=min(LONGEST_CONNECT, self._client.timeout.read or LONGEST_CONNECT))
        except httpx2.RequestError:
            return False
        self._spoke_at = monotonic()
        return True

    def _hand_over_groups(self, envelope: Envelope, tally: Tally, now: datetime) -> None:
        twinless = without_twins(tally.waiting.values())
        groups = deque(
            group[start : start + self.batch_size]
            for group in twinless
            for start in range(0, len(group), self.batch_size)
        )
        latest = monotonic() + LONGEST_HAND_OVER
        for _ in range(MOST_REQUESTS):
            if not groups or monotonic() > latest:
                return
            more = self._hand_over_group(envelope, groups.popleft(), tally, now)
            if more is None:
                return
            groups.extendleft(reversed(more))

    def _hand_over_group(
        self, envelope: Envelope, group: list[Recipient], tally: Tally, now: datetime
    ) -> Groups | None:
        """Send one request and settle what its answer settles.

        Returns:
            the groups to try next in its place; None to try nothing more.
        """
        body = envelope.body(group)
        if len(body) > self._most_bytes:
            return halved(group, tally, "the message is too large")
        sent = _Sent()
        try:
            answer = self._client.post(self._address, content=body, extensions={"trace": sent.note})
        except httpx2.RequestError:
            tally.answers["none"] += 1
            if sent.is_whole:
                tally.lose(group)
            return None
        self._spoke_at = monotonic()
        tally.answers[str(answer.status_code)] += 1
        return self._settle(answer, group, tally, now)

    def _settle(self, answer: httpx2.Response, group: list[Recipient], tally: Tally, now: datetime) -> Groups | None:
        if answer.is_success:
            tally.accept(group, clean_receipt(answer.headers.get("X-Message-Id", "")))
            return []
        if answer.status_code == HTTPStatus.BAD_REQUEST:
            return settle_bad_request(complaints_of(answer), group, tally)
        if answer.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return halved(group, tally, "413 the message is too large")
        tally.after_seconds, tally.alarm = wait_asked_for(answer.headers, now), alarm_of(answer)
        if leaves_doubt(answer):
            tally.lose(group)
        if says_not_now(answer):
            self._waits.ask(self.name, tally.after_seconds or FALLBACK_WAIT, now)
        return None


class _Sent:
    """Listens to the client for the moment at which the last byte of a request has left."""

    def __init__(self) -> None:
        self.is_whole = False

    def note(self, name: str, _: object) -> None:
        """One step of the connection."""
        self.is_whole = self.is_whole or name.endswith("send_request_body.complete")
