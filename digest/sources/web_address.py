"""Addresses of web pages as feeds and files give them: made absolute, or refused."""

import re
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

import idna

_UNSAFE = re.compile(r"[\x00-\x20\x7f-\x9f]")
_LEGAL = "!#$%&'()*+,/:;=?@[]~"
"""RFC 3986 §2.2 and the percent sign: characters that stay as they are."""
_LONGEST = 2000


def web_address(text: str, base: str = "") -> str:
    """The absolute http(s) address that ``text`` means on the page ``base``; empty where it means none.

    White space and controls are dropped as browsers do (URL Standard §4.4), host names go into ASCII (IDNA 2008),
    other characters into percent-encoded UTF-8. What is legal already comes out unchanged.
    """
    given = _UNSAFE.sub("", text)
    if not given:
        return ""
    try:
        parts = urlsplit(urljoin(base, given) if base else given)
        host, port = _ascii_host(parts.hostname or ""), parts.port
    except (ValueError, UnicodeError):
        return ""
    if parts.scheme.lower() not in {"http", "https"} or not host or parts.username or parts.password:
        return ""
    address = _put_together(parts, host, port)
    return address if len(address) <= _LONGEST else ""


def _ascii_host(host: str) -> str:
    if host.isascii():
        return host.lower()
    return idna.encode(host, uts46=True).decode("ascii")


def _put_together(parts: SplitResult, host: str, port: int | None) -> str:
    bracketed = f"[{host}]" if ":" in host else host
    place = bracketed if port is None else f"{bracketed}:{port}"
    path, query, fragment = (
        quote(part, safe=_LEGAL, encoding="utf-8", errors="replace")
        for part in (parts.path, parts.query, parts.fragment)
    )
    return urlunsplit((parts.scheme.lower(), place, path, query, fragment))
