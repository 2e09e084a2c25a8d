"""Signatures by Standard Webhooks (standardwebhooks.com, v1)."""

import binascii
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from hmac import new as hmac

PREFIX = "whsec_"


def key_of(secret: str) -> bytes:
    """The bytes of a secret as the standard writes it, ``whsec_`` and base64.

    Raises:
        ValueError: it is none, or shorter than 24 bytes.
    """
    try:
        key = b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("must be whsec_ and base64") from error
    if not secret.startswith(PREFIX) or len(key) < 24:  # noqa: PLR2004 # the standard's least
        raise ValueError("must be whsec_ and base64 of at least 24 bytes: openssl rand -base64 32")
    return key


def signature(keys: Sequence[bytes], identifier: str, at: datetime, body: bytes) -> str:
    """The header ``webhook-signature``: one signature per key, so that a key can be replaced without a gap."""
    signed = f"{identifier}.{int(at.timestamp())}.".encode() + body
    return " ".join(f"v1,{b64encode(hmac(key, signed, sha256).digest()).decode()}" for key in keys)
