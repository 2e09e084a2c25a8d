"""What a mail server's refusal means: RFC 5321 replies, RFC 3463 status codes, and where the large ones differ."""

import re
from enum import StrEnum

from digest.domain.delivery import DeliveryReason
from digest.domain.event import EventKind
from digest.ports import Refusal

LONGEST_DETAIL = 200


class Fault(StrEnum):
    """Whose fault a refusal is, which decides what follows from it."""

    ADDRESS = "address"
    """The mailbox does not exist or takes no mail any more."""
    MAILBOX = "mailbox"
    """The mailbox exists and could not take this message: full, too small, off for now."""
    SENDER = "sender"
    """Policy, reputation, authentication or content; says nothing about the reader."""
    THROTTLED = "throttled"
    """Too much at once, whatever the code says."""
    OTHER = "other"


_STATUS = re.compile(r"(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?![\d.]*\d)")

_BY_STATUS = {
    **dict.fromkeys(("1.1", "1.2", "1.3", "1.6", "1.10", "2.1", "4.4"), Fault.ADDRESS),
    **dict.fromkeys(("2.2", "2.3", "3.4", "4.7"), Fault.MAILBOX),
}
_BY_SUBJECT = {"3": Fault.MAILBOX, "6": Fault.SENDER, "7": Fault.SENDER}
"""RFC 3463 §3: 3 is the receiving system, 6 the content, 7 security and policy."""
_ABOUT_US = frozenset({"6", "7"})
"""Subjects that are ours in a 4.x.x too: a 4.7.32 is a DMARC fault of the sender, for all readers."""

_THROTTLES = re.compile(
    # QQ answers 550 to what passes in minutes.
    r"frequency limited|mailbox unavailable or access denied"
    # NetEase: addresses, connections and quotas; 554 DT:SPM asks for another try in two minutes.
    r"|\bHL:(REP|ICC|IFC|MEP)\b|\bMI:(DMC|SFQ)\b|\bRP:DRC\b|\bDT:(RBL|SPM)\b",
    re.IGNORECASE,
)
_NO_SUCH_MAILBOX = re.compile(
    r"mailbox not found|(no such|unknown|invalid) (user|recipient|mailbox|address)"
    r"|(user|recipient|mailbox|address) (is )?(unknown|not found|does not exist|doesn't exist)",
    re.IGNORECASE,
)
_NOT_OURS_TO_RELAY = re.compile(
    r"relay(ing)?\b.*\b(denied|not permitted|prohibited)|not allowed to relay", re.IGNORECASE
)
_ADDRESSES = re.compile(r"[^\s<>()\[\]\"',;:=]+@[^\s<>()\[\]\"',;:=]+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def status_in(text: str) -> str:
    """The first RFC 3463 status in a reply, ``5.1.1``; empty when there is none."""
    found = _STATUS.search(text)
    return found[0] if found else ""


def fault_of(status: str, text: str) -> Fault:
    """Whose fault a refusal is.

    Args:
        status: RFC 3463 status, or empty.
        text: the server's words; where they contradict the status they count.
    """
    if _THROTTLES.search(text):
        return Fault.THROTTLED
    kind, _, detail = status.partition(".")
    if kind == "4" and detail.partition(".")[0] not in _ABOUT_US:
        return Fault.MAILBOX
    if known := _BY_STATUS.get(detail) or _BY_SUBJECT.get(detail.partition(".")[0]):
        return known
    return Fault.ADDRESS if _NO_SUCH_MAILBOX.search(text) else Fault.OTHER


_SYNTAX_CODES = frozenset({501, 551, 553, 555})
"""Replies to RCPT that mean the address itself: syntax, moved, name not allowed, parameters (RFC 5321 §4.2.2)."""


def refusal_of(code: int, text: str) -> Refusal | None:
    """The refusal that a reply to RCPT or to the message amounts to; None when it may be given again.

    4xx may; 5xx may not, but for throttling in disguise. A dead mailbox is ``INVALID_ADDRESS``, all else ``REFUSED``:
    this brief did not go. What it says of the mailbox is its ``bounce``.
    """
    fault = fault_of(status_in(text), text)
    if code < 500 or fault is Fault.THROTTLED:  # noqa: PLR2004 # RFC 5321 §4.2.1: the first digit is the verdict
        return None
    dead = fault is Fault.ADDRESS or (fault is Fault.OTHER and code in _SYNTAX_CODES)
    reason = DeliveryReason.INVALID_ADDRESS if dead else DeliveryReason.REFUSED
    return Refusal(reason, without_addresses(f"{code} {text}"), _bounce(fault))


def _bounce(fault: Fault) -> EventKind | None:
    """A syntax code alone may be about how we wrote the command, so it is no bounce."""
    return {Fault.ADDRESS: EventKind.BOUNCED, Fault.MAILBOX: EventKind.SOFT_BOUNCED}.get(fault)


def is_about_us(code: int, text: str) -> bool:
    """Whether a reply to RCPT says that the server does not let us send at all: log in first, or no relaying."""
    return code == 530 or (code >= 500 and bool(_NOT_OURS_TO_RELAY.search(text)))  # noqa: PLR2004 # RFC 4954 §6


def reply_text(words: bytes | str) -> str:
    """The words of a reply as they may be kept."""
    return without_addresses(words.decode("utf-8", "replace") if isinstance(words, bytes) else words)


def without_addresses(text: str) -> str:
    """A server's words on one line, shortened, every address in them masked: they are stored and shown."""
    return _ADDRESSES.sub("***", _CONTROLS.sub(" ", text)).strip()[:LONGEST_DETAIL]
