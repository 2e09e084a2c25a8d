"""A message and its recipients as the body of one v3 Mail Send request: content once, per reader only what differs."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from digest.ports import Message, Recipient, Sender
from digest.rendering.mime import clean, phrase, unsubscribe_headers

RECIPIENT_ARGUMENT = "dg_recipient"
MESSAGE_ARGUMENT = "dg_message"
"""Custom arguments share a namespace with the fields of events, hence the prefix; they are kept for long, hence no
address in them."""
TRACKING_OFF = {
    "click_tracking": {"enable": False, "enable_text": False},
    "subscription_tracking": {"enable": False},
}
"""Click tracking rewrites confirm and unsubscribe links; subscription tracking puts its own List-Unsubscribe in."""


def mail_of(
    message: Message, recipients: Sequence[Recipient], sender: Sender, *, counts_opens: bool = False
) -> dict[str, Any]:
    """The request as the v3 API documents it; personalizations in the order of ``recipients``.

    The message's markers serve as substitution tags: SendGrid replaces them in both contents, no template needed. The
    From name is given as it is, beyond ASCII too.
    """
    return {
        "from": {"email": sender.address, "name": clean(sender.name)}
        if clean(sender.name)
        else {"email": sender.address},
        "subject": clean(message.subject),
        "content": [
            {"type": "text/plain", "value": message.text},
            {"type": "text/html", "value": message.html},
        ],
        "headers": {
            "List-Id": _list_id(sender),
            "Auto-Submitted": "auto-generated",
            "Content-Language": message.language.tag,
        },
        "categories": [message.kind],
        "custom_args": {MESSAGE_ARGUMENT: message.key},
        "tracking_settings": TRACKING_OFF | {"open_tracking": {"enable": counts_opens}},
        "personalizations": [_personalization(message, recipient) for recipient in recipients],
    }


class Envelope:
    """A message ready to be asked for any number of times: what all readers share is encoded once.

    Args:
        message: what is sent.
        sender: who it is from.
        counts_opens: SendGrid puts its pixel in.
    """

    def __init__(self, message: Message, sender: Sender, *, counts_opens: bool = False) -> None:
        self._message = message
        self._head = _encoded(mail_of(message, [], sender, counts_opens=counts_opens)).removesuffix(b"]}")
        self._own: dict[str, dict[str, Any]] = {}

    def body(self, group: Sequence[Recipient]) -> bytes:
        """The request for these recipients, in their order."""
        # All in one: orjson takes a kilobyte for each call, which costs more than what it writes into it.
        everyone = memoryview(_encoded([self._own_of(recipient) for recipient in group]))
        return b"".join((self._head, everyone[1:], b"}"))

    def _own_of(self, recipient: Recipient) -> dict[str, Any]:
        own = self._own.get(recipient.key)
        if own is None:
            own = self._own[recipient.key] = _personalization(self._message, recipient)
        return own


def _encoded(value: dict[str, Any] | list[dict[str, Any]]) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:
        # A lone surrogate, which no UTF-8 can hold and a feed may.
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def without_twins(recipients: Iterable[Recipient]) -> list[list[Recipient]]:
    """The recipients in groups without a repeated address, in any case: a repetition and SendGrid refuses them all."""
    everyone = list(recipients)
    if len({recipient.address.lower() for recipient in everyone}) == len(everyone):
        return [everyone] if everyone else []
    groups: list[dict[str, Recipient]] = [{}]
    for recipient in everyone:
        mailbox = recipient.address.lower()
        group = next((group for group in groups if mailbox not in group), None)
        if group is None:
            group = {}
            groups.append(group)
        group[mailbox] = recipient
    return [list(group.values()) for group in groups if group]


def _personalization(message: Message, recipient: Recipient) -> dict[str, Any]:
    own: dict[str, Any] = {
        "to": [{"email": recipient.address}],
        "custom_args": {RECIPIENT_ARGUMENT: recipient.key},
    }
    if message.slots:
        own["substitutions"] = {marker: recipient.values[name] for name, marker in message.slots.items()}
    if recipient.unsubscribe_url is not None:
        own["headers"] = unsubscribe_headers(recipient.unsubscribe_url)
    return own


def _list_id(sender: Sender) -> str:
    """RFC 2919 as one unfolded ASCII line: header values beyond ASCII are the caller's to encode."""
    shown = phrase(sender.list_name, "List-Id").replace("\r\n", "") if clean(sender.list_name) else ""
    return f"{shown} <{sender.list_id}>".strip()
