"""What comes back by mail: delivery reports (RFC 3464 in RFC 6522) and complaints (RFC 5965), in our vocabulary.

Anybody can write such a message. Believed is only what carries a token we signed: in the return path it came to, and
for complaints, which go elsewhere, in the message they enclose. Everything else about it may be a lie or broken.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import Message
from email.utils import parsedate_to_datetime
from hashlib import sha256

from digest.domain.event import EventKind, ProviderEvent
from digest.links import BadTokenError, Links
from digest.providers.answers import Fault, fault_of, status_in, without_addresses
from digest.providers.return_path import ReturnPath

PROVIDER = "smtp"
LONGEST_REPORT = 2**20
"""Bytes that are looked at; a report encloses headers or one message at most."""
MOST_PARTS = 50
_KEPT = 4000
"""Characters of the report's own fields that are stored; never the enclosed message, which names the reader."""
_RETURNED_TO = ("Delivered-To", "X-Original-To", "Envelope-To", "X-Envelope-To", "To")
_ACTIONS = {
    "delivered": EventKind.DELIVERED,
    "relayed": EventKind.DELIVERED,
    "expanded": EventKind.DELIVERED,
    "delayed": EventKind.DEFERRED,
}
"""RFC 3464 §2.3.3; ``failed`` takes its status to tell which of three it is."""
_FAULTS = {Fault.ADDRESS: EventKind.BOUNCED, Fault.MAILBOX: EventKind.SOFT_BOUNCED}
_COMPLAINTS = {
    "abuse": EventKind.COMPLAINED,
    "fraud": EventKind.COMPLAINED,
    "virus": EventKind.COMPLAINED,
    "opt-out": EventKind.UNSUBSCRIBED,
    "opt-out-list": EventKind.UNSUBSCRIBED,
}
"""RFC 5965 §7.3; ``not-spam`` and what is not here is ``OTHER``."""
_UNSUBSCRIBE = re.compile(r"/unsubscribe/([A-Za-z0-9._-]{1,200})>")
_SKEW, _OLDEST = timedelta(days=1), timedelta(days=30)


@dataclass(frozen=True, slots=True)
class _When:
    """The instant to go by, and the Date in the message's own words, which stay the same when it is read again."""

    instant: datetime
    named: str


def parse_report(source: bytes, return_path: ReturnPath, links: Links, received_at: datetime) -> list[ProviderEvent]:
    """The facts in one message from the bounce mailbox; empty where there is none we can believe.

    An event's identity is made from what it says, so that a message read twice is one event.

    Args:
        source: the message as it came; hostile at worst, never executed, never followed.
        return_path: reads the tokens of return paths.
        links: reads the tokens of unsubscribe links.
        received_at: aware; stands in where the message names no instant, or an impossible one.
    """
    try:
        message = message_from_bytes(source[:LONGEST_REPORT])
        parts = [part for part, _ in zip(message.walk(), range(MOST_PARTS), strict=False)]
    except RecursionError:  # nested deeper than any report; Python's parser calls itself once a level
        return []
    at = _when(message, received_at)
    for part in parts:
        kind = part.get_content_type()
        if kind == "message/feedback-report":
            return _complaint(message, part, parts, (return_path, links), at)
        if kind == "message/delivery-status":
            return _delivery_report(message, part, parts, return_path, at)
    return []


def _delivery_report(
    message: Message, status: Message, parts: list[Message], return_path: ReturnPath, at: _When
) -> list[ProviderEvent]:
    key = return_path.key_in(_values(message, _RETURNED_TO)) or _enclosed_key(parts, return_path)
    if key is None:
        return []
    return [_delivery_event(key, block, at) for block in _blocks(status) if _field(block, "Action")]


def _delivery_event(key: str, block: Message, at: _When) -> ProviderEvent:
    action = _field(block, "Action").lower()
    words = _field(block, "Diagnostic-Code")
    status = status_in(_field(block, "Status")) or status_in(words)
    kind = _ACTIONS.get(action, EventKind.OTHER)
    if action == "failed":
        kind = _failure(status, words)
    return _event(key, kind, at, without_addresses(f"{action} {status} {words}"))


def _failure(status: str, words: str) -> EventKind:
    """A failure that names no reason says nothing: a bar is for good, and the next brief will tell."""
    # A status without detail (5.0.0, 5.1.0) leaves the words; the words' own status is the receiving server's.
    return _FAULTS.get(fault_of(status_in(words) or status, words), EventKind.BLOCKED)


def _complaint(
    message: Message, report: Message, parts: list[Message], readers: tuple[ReturnPath, Links], at: _When
) -> list[ProviderEvent]:
    return_path, links = readers
    key = (
        return_path.key_in(_values(message, _RETURNED_TO))
        or _enclosed_key(parts, return_path)
        or _unsubscribe_key(parts, links)
    )
    if key is None:
        return []
    named = next((_field(block, "Feedback-Type") for block in _blocks(report) if block.get("Feedback-Type")), "")
    return [_event(key, _COMPLAINTS.get(named.strip().lower(), EventKind.OTHER), at, without_addresses(named))]


def _event(key: str, kind: EventKind, at: _When, detail: str) -> ProviderEvent:
    content = f"{key}\n{kind}\n{at.named}\n{detail}"
    return ProviderEvent(
        provider=PROVIDER,
        identifier=sha256(content.encode("utf-8", "replace")).hexdigest(),
        kind=kind,
        occurred_at=at.instant,
        recipient_key=key,
        detail=detail,
        raw=detail[:_KEPT],
    )


def _enclosed_key(parts: list[Message], return_path: ReturnPath) -> str | None:
    """The key in the return path of the enclosed message, whole or only its headers."""
    return return_path.key_in(value for part in _enclosed(parts) for value in _values(part, ("Return-Path",)))


def _unsubscribe_key(parts: list[Message], links: Links) -> str | None:
    """The reader in the signed unsubscribe link of the enclosed message; without a date, for the link has none."""
    for part in _enclosed(parts):
        for token in _UNSUBSCRIBE.findall(" ".join(_values(part, ("List-Unsubscribe",)))):
            try:
                return f"reader-{links.read_unsubscribe(token)}"
            except (BadTokenError, ValueError):
                continue
    return None


def _enclosed(parts: list[Message]) -> Iterator[Message]:
    for part in parts:
        kind = part.get_content_type()
        if kind == "message/rfc822":
            yield from _blocks(part)
        elif kind == "text/rfc822-headers":
            content = part.get_payload(decode=True)
            yield message_from_bytes(content if isinstance(content, bytes) else b"")


def _blocks(part: Message) -> list[Message]:
    """The messages or field blocks inside a part; none where it is not what its type says."""
    payload = part.get_payload()
    if isinstance(payload, list):
        return [block for block in payload if isinstance(block, Message)][:MOST_PARTS]
    # Feedback reports are plain fields, which the parser leaves as text (RFC 5965 §3.1).
    return [message_from_bytes(payload.encode("utf-8", "replace"))] if isinstance(payload, str) else []


def _values(message: Message, names: tuple[str, ...]) -> list[str]:
    return [str(value) for name in names for value in message.get_all(name, [])]


def _field(block: Message, name: str) -> str:
    return " ".join(str(block.get(name, "")).split())[:_KEPT]


def _when(message: Message, received_at: datetime) -> _When:
    """The Date of a report, where it is believable: the count of soft bounces goes by it."""
    named = _field(message, "Date")
    try:
        at = parsedate_to_datetime(named)
    except (ValueError, OverflowError):
        return _When(received_at, named)
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    is_likely = received_at - _OLDEST <= at <= received_at + _SKEW
    return _When(at if is_likely else received_at, named)
