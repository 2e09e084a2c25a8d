"""SendGrid's suppression lists and erasure job, as the v3 reference has them (suppressions, recipients' data erasure).

What the reference does not allow is refused: a page beyond 500, a parameter it does not name, an erasure without a
list, beyond 5,000 addresses or 256 KB, or with an address that is none, which refuses all of them.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

BOOKS = ("bounces", "blocks", "invalid_emails", "spam_reports", "unsubscribes")
MOST_ERASED = 5000
MOST_BYTES = 256 * 1024
LARGEST_PAGE = 500
_PARAMETERS = {"start_time", "end_time", "limit", "offset", "email"}
_EMAIL = re.compile(r"[^@\s]{1,64}@([A-Za-z0-9-]+\.)+[A-Za-z0-9-]{2,}")
_ERASE = "/v3/recipients/erasejob"
_GLOBAL = "/v3/asm/suppressions/global/"
_SUPPRESSION = "/v3/suppression/"
Answer = tuple[int, Any]


@dataclass
class Records:
    """What the account holds.

    Attributes:
        books: list -> address as SendGrid wrote it -> entry.
        erased: addresses of each job it took on.
        calls: method and path of each request, without what was asked.
    """

    books: dict[str, dict[str, dict[str, Any]]] = field(default_factory=lambda: {book: {} for book in BOOKS})
    erased: list[list[str]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    def hold(self, book: str, address: str, created: int, **more: str) -> None:
        self.books[book][address] = {"created": created, "email": address, **more}

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Status and JSON document; 404 for what is not in the reference."""
        parts = urlsplit(target)
        self.calls.append(f"{method} {parts.path}")
        if (method, parts.path) == ("POST", _ERASE):
            return self._erase(headers, body)
        book, _, address = parts.path.removeprefix(_SUPPRESSION).partition("/")
        if method == "GET" and parts.path.startswith(_SUPPRESSION) and book in BOOKS and not address:
            return self._page(book, dict(parse_qsl(parts.query, keep_blank_values=True)))
        if method == "DELETE" and parts.path.startswith(_GLOBAL):
            return self._remove("unsubscribes", parts.path.removeprefix(_GLOBAL))
        # The reference lists global unsubscribes here and takes them out elsewhere.
        if method == "DELETE" and parts.path.startswith(_SUPPRESSION) and book in BOOKS[:-1] and address:
            return self._remove(book, address)
        return 404, _errors("not found")

    def _page(self, book: str, query: Mapping[str, str]) -> Answer:
        if unknown := query.keys() - _PARAMETERS:
            return 400, _errors(f"unknown parameter {min(unknown)}")
        limit, offset = _number(query, "limit", LARGEST_PAGE), _number(query, "offset", 0)
        if limit is None or offset is None or not 1 <= limit <= LARGEST_PAGE:
            return 400, _errors("limit must be between 1 and 500", "limit")
        newest = sorted(self.books[book].values(), key=lambda one: -int(one["created"]))
        return 200, newest[offset : offset + limit]

    def _remove(self, book: str, address: str) -> Answer:
        wanted = unquote(address).lower()
        found = next((one for one in self.books[book] if one.lower() == wanted), None)
        if found is None:
            return 404, _errors("not found")
        del self.books[book][found]
        return 204, None

    def _erase(self, headers: Mapping[str, str], body: bytes) -> Answer:
        if headers.get("Content-Type", "").partition(";")[0] != "application/json":
            return 400, _errors("Content-Type should be application/json.")
        if len(body) > MOST_BYTES:
            return 400, _errors("request payload too large")
        try:
            addresses = json.loads(body)["email_addresses"]
        except (ValueError, TypeError, KeyError):
            return 400, _errors("email_addresses is required", "email_addresses")
        if not isinstance(addresses, list) or not 1 <= len(addresses) <= MOST_ERASED:
            return 400, _errors("between 1 and 5000 email_addresses are allowed", "email_addresses")
        bad = [one for one in addresses if not (isinstance(one, str) and _EMAIL.fullmatch(one))]
        if bad:
            return 400, {"errors": [_error(f"Email_address {one} is not valid", "email_addresses") for one in bad]}
        self.erased.append(sorted(set(addresses)))
        gone = {one.lower() for one in addresses}
        for book in self.books.values():
            for address in [one for one in book if one.lower() in gone]:
                del book[address]
        return 202, {"job_id": f"job-{len(self.erased):04}"}


def _number(query: Mapping[str, str], name: str, default: int) -> int | None:
    text = query.get(name, str(default))
    return int(text) if text.isdecimal() else None


def _error(message: str, name: str = "") -> dict[str, str]:
    return {"message": message, "field": name}


def _errors(message: str, name: str = "") -> dict[str, Any]:
    return {"errors": [_error(message, name)]}
