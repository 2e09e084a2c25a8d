"""SendGrid's Event Webhook: whether a post is really SendGrid's, and what it reports, in our vocabulary."""

import json
import re
from binascii import Error as BadBase64Error
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import structlog
from cryptography.exceptions import UnsupportedAlgorithm
from sendgrid.helpers.eventwebhook import EventWebhook

from digest.domain.errors import BadInputError
from digest.domain.event import EventKind, ProviderEvent
from digest.providers.answers import Fault, fault_of, status_in, without_addresses
from digest.providers.sendgrid_request import RECIPIENT_ARGUMENT

PROVIDER = "sendgrid"
CLOCK_SKEW = timedelta(minutes=5)
"""How far SendGrid's clock may run ahead of ours."""
_log = structlog.get_logger(__name__)
_TIMESTAMP = re.compile(r"[0-9]{1,11}")
_LONGEST_KEY = 100
_LONGEST_NUMBER = 40

_KINDS = {
    "processed": EventKind.PROCESSED,
    "deferred": EventKind.DEFERRED,
    "delivered": EventKind.DELIVERED,
    "dropped": EventKind.DROPPED,
    "spamreport": EventKind.COMPLAINED,
    "unsubscribe": EventKind.UNSUBSCRIBED,
    "group_unsubscribe": EventKind.UNSUBSCRIBED,
    "open": EventKind.OPENED,
    "click": EventKind.CLICKED,
}
"""``bounce`` is not here: which of two kinds it is takes more than its name. What is not here is ``OTHER``."""

_NOT_THE_READER = frozenset({"content", "frequency or volume too high", "reputation", "technical", "technical failure"})
"""Values of ``bounce_classification`` that say nothing about the address."""
_UNTOLD = frozenset({Fault.OTHER, Fault.ADDRESS})
"""Of an expired message: what it was put off for is not known to be the sender's fault."""

_IDENTITY = ("event", "type", "timestamp", "sg_message_id", "status", "reason", "response", "attempt", "url")


def verify_signature(
    body: bytes,
    signature: str | None,
    timestamp: str | None,
    public_key: str,
    now: datetime,
    max_age: timedelta,
) -> bool:
    """Whether SendGrid signed exactly these bytes, not too long ago. Never raises: whatever is odd is False.

    Args:
        body: the request body, untouched: its line breaks are signed too.
        signature: header ``X-Twilio-Email-Event-Webhook-Signature``, None when absent.
        timestamp: header ``X-Twilio-Email-Event-Webhook-Timestamp``, Unix seconds.
        public_key: base64 of the DER key, as the settings page of SendGrid shows it; empty: nothing verifies.
        now: aware.
        max_age: how old the time stamp may be; SendGrid repeats a post for 24 hours.
    """
    if not (public_key and signature and timestamp and _TIMESTAMP.fullmatch(timestamp)):
        return False
    age = now - datetime.fromtimestamp(int(timestamp), UTC)
    if not -CLOCK_SKEW <= age <= max_age:
        return False
    try:
        return bool(EventWebhook(public_key.strip()).verify_signature(body.decode("utf-8"), signature, timestamp))
    except (ValueError, TypeError, AttributeError, BadBase64Error, UnsupportedAlgorithm):
        # Bytes that are no UTF-8, a signature that is no base64, a key that is none or of another kind.
        return False


def _number(digits: str) -> int | str:
    """A number, or its digits where Python would refuse to read so many: one odd field spoils no post."""
    return int(digits) if len(digits) <= _LONGEST_NUMBER else digits


def entries_of(body: bytes) -> list[Any]:
    """What a post holds, before any of it is looked at.

    Raises:
        BadInputError: the body is not JSON, or neither an object nor an array.
    """
    try:
        document: Any = json.loads(body, parse_int=_number)
    except (ValueError, RecursionError) as error:
        raise BadInputError("body", "", "must be a JSON array of events.") from error
    entries = [document] if isinstance(document, dict) else document
    if not isinstance(entries, list):
        raise BadInputError("body", "", "must be a JSON array of events.")
    return entries


def parse_events(body: bytes, received_at: datetime) -> list[ProviderEvent]:
    """The facts in a verified post, in its order; an entry that is no object is passed over.

    An event's identity is made from what it says (recipient key, else address; kind, instant, message, status, reason),
    not from ``sg_event_id``: the same event has been seen to come again under another id, and some events have none.
    So equal facts have one identifier, and two clicks or two deferrals of one message have two. An event about no
    recipient is told apart by all of its content.

    Raises:
        BadInputError: the body is not JSON, or neither an object nor an array.
    """
    entries = entries_of(body)
    found = [event for entry in entries if (event := _read(entry, received_at)) is not None]
    if len(found) < len(entries):
        _log.warning("events_passed_over", provider=PROVIDER, count=len(entries) - len(found))
    return found


def _read(entry: object, received_at: datetime) -> ProviderEvent | None:
    """The event; None for what is no object, or nested deeper than it can be written down again."""
    try:
        return _event(entry, received_at) if isinstance(entry, dict) else None
    except RecursionError:
        return None


def _event(entry: Mapping[str, Any], received_at: datetime) -> ProviderEvent:
    recipient_key = _word(entry.get(RECIPIENT_ARGUMENT))
    address = _word(entry.get("email"))
    return ProviderEvent(
        provider=PROVIDER,
        identifier=_identifier(entry, recipient_key, address),
        kind=kind_of(entry),
        occurred_at=_instant(entry.get("timestamp")) or received_at,
        recipient_key=recipient_key if recipient_key and len(recipient_key) <= _LONGEST_KEY else None,
        address=address,
        detail=_detail(entry),
        # Escaped: PostgreSQL takes neither NUL nor half a surrogate pair.
        raw=json.dumps(entry, ensure_ascii=True),
    )


def kind_of(entry: Mapping[str, Any]) -> EventKind:
    """What an event says, by its ``event``; a bounce also by its ``type``, status and words."""
    name = entry.get("event")
    if name == "bounce":
        return _bounce(entry)
    return _KINDS.get(name, EventKind.OTHER) if isinstance(name, str) else EventKind.OTHER


def _bounce(entry: Mapping[str, Any]) -> EventKind:
    """What a bounce says of the reader.

    SendGrid calls address faults ``bounce`` and faults of message or sender ``blocked``; expired ones were only ever
    put off. A status or reason that says otherwise (4.x, full, policy, throttling) counts: a dead address is for good.
    """
    if str(entry.get("bounce_classification") or "").strip().lower() in _NOT_THE_READER:
        return EventKind.BLOCKED
    reason = str(entry.get("reason") or "")
    status = status_in(str(entry.get("status") or "")) or status_in(reason)
    fault, named = fault_of(status, reason), entry.get("type", "bounce")
    if fault is Fault.MAILBOX or (fault in _UNTOLD and named == "expired"):
        return EventKind.SOFT_BOUNCED
    dead = fault is Fault.ADDRESS or (fault is Fault.OTHER and entry.get("type") == "bounce")
    return EventKind.BOUNCED if dead and named == "bounce" else EventKind.BLOCKED


def _detail(entry: Mapping[str, Any]) -> str:
    words = [entry.get(name) for name in ("type", "status", "reason", "response")]
    return without_addresses(" ".join(word for word in words if isinstance(word, str)))


def _word(value: object) -> str | None:
    """A string that can be stored; None for anything else."""
    return value if isinstance(value, str) and value and value.isprintable() else None


def _instant(value: object) -> datetime | None:
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    return datetime.fromtimestamp(int(text), UTC) if _TIMESTAMP.fullmatch(text) else None


def _identifier(entry: Mapping[str, Any], recipient_key: str | None, address: str | None) -> str:
    whom = recipient_key or (address or "").lower()
    named = {name: entry[name] for name in _IDENTITY if name in entry}
    whole = {name: value for name, value in entry.items() if name != "sg_event_id"}
    content = json.dumps([whom, named] if whom else whole, sort_keys=True)
    return sha256(content.encode("ascii")).hexdigest()
