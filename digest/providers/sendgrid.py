"""Mail over SendGrid's v3 Mail Send: up to a thousand recipients in one request."""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from time import monotonic
from typing import Any

import httpx2

from digest.domain.delivery import DeliveryReason
from digest.domain.errors import BadInputError
from digest.ports import HandOver, Message, Recipient, Refusal, Sender
from digest.providers.answers import without_addresses
from digest.providers.mailbox_syntax import needs_smtputf8
from digest.providers.retry_after import wait_asked_for
from digest.providers.sendgrid_request import body_of, mail_of, without_twins
from digest.providers.tally import LONGEST_HAND_OVER, Tally

MOST_REQUESTS = 200
"""Requests of one hand-over while refused readers are being found; then the rest waits for later."""
MOST_BYTES = 15_000_000
"""The documented limits disagree (20 and 30 MB); well below both."""
NOT_GIVEN = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.LocalProtocolError,
    httpx2.UnsupportedProtocol,
    httpx2.WriteTimeout,
)
"""Failures before the last byte of the request left: half a request is none."""
_INDEX = re.compile(r"personalizations[.\[](\d+)")
_CREDENTIALS = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class Complaint:
    """One entry of an error answer: what is wrong, and with which field of the request."""

    message: str
    field: str

    @property
    def index(self) -> int | None:
        """The place of the personalization it is about; None where it is about none."""
        found = _INDEX.match(self.field)
        return int(found[1]) if found else None


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
    408, connection refused, request not sent   *again*, all
    413, body too large                         halved; refused when it holds one recipient
    429                                         *again* after X-RateLimit-Reset or Retry-After
    503 with Retry-After                        *again* then: the service itself says it did not take the request
    any other 5xx                               *unknown*, all: there is no idempotency key, and a gateway also answers
                                                502, 503 and 504 when the connection behind it broke after acceptance
    timeout, reset after the request was sent   *unknown*, all
    address beyond ASCII, not sendable          refused, ``INVALID_ADDRESS``
    ==========================================  =======================================================================

    After *again*, *unknown* or an alarm nothing more is tried in that hand-over. There is no retry below this one.

    The package ``sendgrid`` is not used to send: its client waits for ever by default, opens a connection per request
    and logs the key at DEBUG, and its helpers reverse personalizations, so that an error's index points elsewhere. A
    test holds our request against what the helpers build.

    Args:
        api_key: sent as bearer token, never shown.
        host: ``https://api.sendgrid.com`` or a region's.
        sender: who the mail is from.
        timeout: seconds that any single wait on the network may take.
    """

    name = "sendgrid"
    batch_size = 1000

    def __init__(self, api_key: str, host: str, sender: Sender, timeout: float = 25.0) -> None:
        key = api_key.strip()
        if not key.isascii() or not key.isprintable():
            raise BadInputError("DIGEST_SENDGRID_API_KEY", "", "must be one line of ASCII, as SendGrid showed it.")
        self._sender = sender
        self._address = f"{host.rstrip('/')}/v3/mail/send"
        self._client = httpx2.Client(
            timeout=httpx2.Timeout(timeout, connect=min(timeout, 10.0)),
            headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
        )

    def hand_over(self, message: Message, recipients: Sequence[Recipient], now: datetime) -> HandOver:
        """Give the message to SendGrid for all recipients; see :class:`digest.ports.Provider`."""
        tally = Tally(recipients)
        tally.refuse_unsendable()
        for recipient in [one for one in tally.waiting.values() if needs_smtputf8(one.address)]:
            tally.refuse(recipient, Refusal(DeliveryReason.INVALID_ADDRESS, "needs SMTPUTF8, which SendGrid lacks"))
        groups = deque(part for group in without_twins(tally.waiting.values()) for part in _parts(group))
        latest = monotonic() + LONGEST_HAND_OVER
        for _ in range(MOST_REQUESTS):
            if not groups or monotonic() > latest:
                break
            group = groups.popleft()
            more = self._hand_over_group(message, group, tally, now)
            if more is None:
                break
            groups.extendleft(reversed(more))
        return tally.result()

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def _hand_over_group(
        self, message: Message, group: list[Recipient], tally: Tally, now: datetime
    ) -> list[list[Recipient]] | None:
        """Send one request and settle what its answer settles.

        Returns:
            the groups to try next in its place; None to try nothing more.
        """
        body = body_of(mail_of(message, group, self._sender))
        if len(body) > MOST_BYTES:
            return _halved(group, tally, "the message is too large")
        try:
            answer = self._client.post(self._address, content=body)
        except NOT_GIVEN:
            return None
        except httpx2.RequestError:
            tally.lose(group)
            return None
        return _settle(answer, group, tally, now)


def _parts(group: list[Recipient]) -> list[list[Recipient]]:
    size = SendGridProvider.batch_size
    return [group[at : at + size] for at in range(0, len(group), size)]


def _settle(
    answer: httpx2.Response, group: list[Recipient], tally: Tally, now: datetime
) -> list[list[Recipient]] | None:
    if answer.is_success:
        tally.accept(group, clean_receipt(answer.headers.get("X-Message-Id", "")))
        return []
    if answer.status_code == HTTPStatus.BAD_REQUEST:
        return _settle_bad_request(complaints_of(answer), group, tally)
    if answer.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return _halved(group, tally, "413 the message is too large")
    _settle_whole(answer, group, tally, now)
    return None


def _settle_whole(answer: httpx2.Response, group: list[Recipient], tally: Tally, now: datetime) -> None:
    """Answers that say the same of everyone; who is not settled here is *again*."""
    tally.after_seconds = wait_asked_for(answer.headers, now)
    code = answer.status_code
    said_no_for_now = code in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.REQUEST_TIMEOUT} or (
        code == HTTPStatus.SERVICE_UNAVAILABLE and "Retry-After" in answer.headers
    )
    if answer.is_server_error and not said_no_for_now:
        tally.lose(group)
    elif not said_no_for_now:
        words = "; ".join(complaint.message for complaint in complaints_of(answer))
        what = "the API key was refused" if code in _CREDENTIALS else "the request was refused"
        tally.alarm = f"sendgrid: {code} {what}: {words}".rstrip(": ")


def _settle_bad_request(
    complaints: list[Complaint], group: list[Recipient], tally: Tally
) -> list[list[Recipient]] | None:
    named = {complaint.index: complaint for complaint in complaints if complaint.index is not None}
    found = {index: complaint for index, complaint in named.items() if index < len(group)}
    if found:
        for index, complaint in found.items():
            tally.refuse(group[index], _refusal(complaint))
        return [rest] if (rest := [one for index, one in enumerate(group) if index not in found]) else []
    about_all = [one for one in complaints if one.field and not one.field.startswith("personalizations")]
    if any(one.field.partition(".")[0] == "from" for one in about_all):
        tally.alarm = f"sendgrid: 400 the sender was refused: {about_all[0].message}"
        return None
    if about_all:
        for recipient in group:
            tally.refuse(recipient, _refusal(about_all[0]))
        return []
    return _halved(group, tally, f"400 {complaints[0].message}" if complaints else "400")


def _refusal(complaint: Complaint) -> Refusal:
    is_address = complaint.index is not None and ".to" in complaint.field
    reason = DeliveryReason.INVALID_ADDRESS if is_address else DeliveryReason.REFUSED
    return Refusal(reason, f"400 {complaint.field}: {complaint.message}")


def _halved(group: list[Recipient], tally: Tally, detail: str) -> list[list[Recipient]]:
    if len(group) == 1:
        tally.refuse(group[0], Refusal(DeliveryReason.REFUSED, detail))
        return []
    middle = len(group) // 2
    return [group[:middle], group[middle:]]


def complaints_of(answer: httpx2.Response) -> list[Complaint]:
    """The entries of an error answer, addresses masked; none where its body is not what the API documents."""
    try:
        document: Any = answer.json()
    except ValueError:
        return []
    entries = document.get("errors") if isinstance(document, dict) else None
    return [
        Complaint(without_addresses(str(entry.get("message") or "")), without_addresses(str(entry.get("field") or "")))
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict)
    ]


def clean_receipt(text: str) -> str:
    """The receipt as one printable word."""
    return "".join(c for c in text if c.isascii() and c.isprintable() and c not in ", ")
