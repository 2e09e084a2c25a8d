"""What SendGrid's answers mean for the readers of a request, by RFC 9110 §15 and the v3 reference."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx2

from digest.domain.delivery import DeliveryReason
from digest.domain.event import EventKind
from digest.ports import Recipient, Refusal
from digest.providers.answers import without_addresses
from digest.providers.tally import Tally

Groups = list[list[Recipient]]
_INDEX = re.compile(r"personalizations[.\[](\d+)")
_CREDENTIALS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_NOT_NOW = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.REQUEST_TIMEOUT})
_GATEWAYS = frozenset({HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT})
"""Answers of somebody in between who lost the API's own, which may have been a yes."""
_FIRST_BEYOND_THE_STANDARD = 512
"""From here on gateways say in words of their own what they lost, 520 to 527 for instance."""


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


def says_not_now(answer: httpx2.Response) -> bool:
    """Whether the service asks to come back later, and has taken nothing."""
    asks = answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE and "Retry-After" in answer.headers
    return answer.status_code in _NOT_NOW or asks


def leaves_doubt(answer: httpx2.Response) -> bool:
    """Whether a 5xx may stand for a request that was taken after all.

    The API's own 500 or 503 says that the request was not fulfilled (RFC 9110 §15.6.1, §15.6.4). A gateway's 502, 504
    or page of its own, only says that it has no answer to pass on.
    """
    if not answer.is_server_error or says_not_now(answer):
        return False
    if answer.status_code in _GATEWAYS or answer.status_code >= _FIRST_BEYOND_THE_STANDARD:
        return True
    return bool(answer.content.strip()) and not complaints_of(answer)


def alarm_of(answer: httpx2.Response) -> str:
    """What the operator has to mend; empty where nothing."""
    if answer.is_server_error or says_not_now(answer):
        return ""
    words = "; ".join(complaint.message for complaint in complaints_of(answer))
    what = "the API key was refused" if answer.status_code in _CREDENTIALS else "the request was refused"
    return f"sendgrid: {answer.status_code} {what}: {words}".rstrip(": ")


def settle_bad_request(complaints: list[Complaint], group: list[Recipient], tally: Tally) -> Groups | None:
    """A 400 sends to nobody: refuse those it names; returns the groups to try next, None after an alarm."""
    named = {one.index: one for one in complaints if one.index is not None and one.index < len(group)}
    if named:
        for index, complaint in named.items():
            tally.refuse(group[index], _refusal(complaint))
        return [rest] if (rest := [one for index, one in enumerate(group) if index not in named]) else []
    about_all = [one for one in complaints if one.field and not one.field.startswith("personalizations")]
    if any(one.field.partition(".")[0] == "from" for one in about_all):
        tally.alarm = f"sendgrid: 400 the sender was refused: {about_all[0].message}"
        return None
    if about_all:
        _refuse_all(group, tally, _refusal(about_all[0]))
        return []
    return halved(group, tally, f"400 {complaints[0].message}" if complaints else "400")


def halved(group: list[Recipient], tally: Tally, detail: str) -> Groups:
    """The two halves of a group; a single reader, who can't be halved, is refused."""
    if len(group) == 1:
        tally.refuse(group[0], Refusal(DeliveryReason.REFUSED, detail))
        return []
    middle = len(group) // 2
    return [group[:middle], group[middle:]]


def clean_receipt(text: str) -> str:
    """The receipt as one printable word."""
    return "".join(c for c in text if c.isascii() and c.isprintable() and c not in ", ")


def _refuse_all(group: Iterable[Recipient], tally: Tally, refusal: Refusal) -> None:
    for recipient in group:
        tally.refuse(recipient, refusal)


def _refusal(complaint: Complaint) -> Refusal:
    is_address = complaint.index is not None and ".to" in complaint.field
    detail = f"400 {complaint.field}: {complaint.message}"
    if not is_address:
        return Refusal(DeliveryReason.REFUSED, detail)
    # Soft: it is one service's view of how an address is written, and no server's word on the mailbox.
    return Refusal(DeliveryReason.INVALID_ADDRESS, detail, EventKind.SOFT_BOUNCED)
