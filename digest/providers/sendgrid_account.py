"""What SendGrid keeps about people: its suppression lists, and its erasure job (v3 API)."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx2

from digest.domain.errors import PermanentError, TryAgainError
from digest.domain.event import EventKind
from digest.ports import Erasing, Held
from digest.providers.answers import without_addresses
from digest.providers.retry_after import wait_asked_for

PAGE = 500
"""The documented maximum."""
MOST_PAGES = 20_000
"""Ten million entries; beyond, the answer repeats itself."""
_BOOKS = {
    "bounces": ("/v3/suppression/bounces", EventKind.BOUNCED),
    "invalid_emails": ("/v3/suppression/invalid_emails", EventKind.DROPPED),
    "spam_reports": ("/v3/suppression/spam_reports", EventKind.COMPLAINED),
    "unsubscribes": ("/v3/suppression/unsubscribes", EventKind.UNSUBSCRIBED),
}
"""Blocks are left out: SendGrid tries these addresses again, and so do we."""
_GLOBAL = "/v3/asm/suppressions/global"
"""Where an entry of ``unsubscribes`` is taken out."""
_INVALID = re.compile(r"email_address (.+?) is not valid", re.IGNORECASE)
_SETTLED = {HTTPStatus.ACCEPTED, HTTPStatus.BAD_REQUEST}
_NOT_NOW = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.REQUEST_TIMEOUT})


class SendGridAccount:
    """The records of one account, or of a subuser by its own key.

    Args:
        api_key: needs the scopes for suppressions and, to erase, recipients' data; never shown.
        host: ``https://api.sendgrid.com`` or a region's.
    """

    name = "sendgrid"
    most_erased = 5000

    def __init__(self, api_key: str, host: str, *, timeout: float = 25.0) -> None:
        self._host = host.rstrip("/")
        headers = {"Authorization": f"Bearer {api_key.strip()}", "Accept": "application/json"}
        self._client = httpx2.Client(timeout=timeout, headers=headers, follow_redirects=False)

    def held(self) -> Iterator[Held]:
        """Every entry of the lists that hold mail back; see :class:`digest.ports.Account`."""
        for book, (path, kind) in _BOOKS.items():
            for entry in self._entries(path):
                yield Held(
                    book,
                    kind,
                    datetime.fromtimestamp(entry["created"], UTC),
                    str(entry["email"]),
                    "invalid" if kind is EventKind.DROPPED else without_addresses(str(entry.get("reason", ""))),
                )

    def let_go(self, held: Held) -> None:
        """Take the entry out; 404 says that somebody did already."""
        path = _GLOBAL if held.book == "unsubscribes" else _BOOKS[held.book][0]
        self._call("DELETE", f"{path}/{quote(held.address, safe='')}", {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_FOUND})

    def erase(self, addresses: Sequence[str], now: datetime) -> Erasing:
        """Ask for the job. One address that the API takes for none makes it refuse all, so it is found and left out."""
        job, refused, groups = "", set[str](), [list(dict.fromkeys(addresses))]
        while groups:
            group = groups.pop()
            answer = self._call("POST", "/v3/recipients/erasejob", _SETTLED, {"email_addresses": group}, now)
            if answer.status_code == HTTPStatus.ACCEPTED:
                job = str(_document(answer).get("job_id", ""))
                continue
            bad, rest = _parted(group, answer)
            refused |= bad
            groups += rest
        return Erasing(job, frozenset(refused))

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def _entries(self, path: str) -> Iterator[dict[str, Any]]:
        for page in range(MOST_PAGES):
            answer = self._call("GET", f"{path}?limit={PAGE}&offset={page * PAGE}", {HTTPStatus.OK})
            entries = answer.json()
            if not isinstance(entries, list):
                raise PermanentError("sendgrid: 200 with an answer that is no list")
            yield from (one for one in entries if isinstance(one, dict) and {"created", "email"} <= one.keys())
            if len(entries) < PAGE:
                return

    def _call(
        self, method: str, path: str, good: set[HTTPStatus], body: object = None, now: datetime | None = None
    ) -> httpx2.Response:
        """One request; what goes wrong with it without an address in it."""
        try:
            answer = self._client.request(method, self._host + path, json=body)
        except httpx2.RequestError as error:
            raise TryAgainError(f"sendgrid: {type(error).__name__}") from None
        if answer.status_code in good:
            return answer
        fault = f"sendgrid: {answer.status_code} {_words(answer)}".strip()
        if answer.is_server_error or answer.status_code in _NOT_NOW:
            raise TryAgainError(fault, wait_asked_for(answer.headers, now) if now else None)
        raise PermanentError(fault)


def _parted(group: list[str], answer: httpx2.Response) -> tuple[set[str], list[list[str]]]:
    """What a 400 refuses of a group, and what to ask for next: the others, or halves where it names none of ours."""
    named = {one.lower() for one in _INVALID.findall("\n".join(_messages(answer)))}
    bad = {one for one in group if one.lower() in named} or set(group if named and len(group) == 1 else [])
    if not bad and len(group) == 1:
        raise PermanentError(f"sendgrid: 400 {_words(answer)}")
    if bad:
        left = [one for one in group if one not in bad]
        return bad, [left] if left else []
    middle = len(group) // 2
    return set(), [group[:middle], group[middle:]]


def _messages(answer: httpx2.Response) -> list[str]:
    errors = _document(answer).get("errors")
    return [str(one.get("message", "")) for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []


def _document(answer: httpx2.Response) -> dict[str, Any]:
    try:
        found = answer.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _words(answer: httpx2.Response) -> str:
    return without_addresses("; ".join(_messages(answer)[:3]))
