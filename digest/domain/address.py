"""E-mail addresses as people type them: mended, compared, masked. Whether one can receive mail is checked elsewhere."""

import unicodedata

_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")
_AT_SIGNS = str.maketrans({"＠": "@", "。": ".", "．": ".", "｡": "."})


def mend_address(text: str) -> str:
    """The address without what an input method or a copy left in it: full-width forms, invisible characters, margins.

    NFKC would also fold letters that only look alike in some fonts, so only full-width forms are mapped.
    """
    kept = "".join(c for c in text.strip().translate(_AT_SIGNS) if c not in _INVISIBLE)
    half = "".join(unicodedata.normalize("NFKC", c) if "\uff01" <= c <= "\uff5e" else c for c in kept)
    return unicodedata.normalize("NFC", half)


def address_key(address: str) -> str:
    """The one spelling under which an address is unique: upper and lower case are the same mailbox in practice."""
    return mend_address(address).lower()


def masked(address: str) -> str:
    """The address for a log line: its domain and the first letter, e.g. ``r***@example.com``."""
    local, at, domain = address.rpartition("@")
    return f"{local[:1]}***{at}{domain}"
