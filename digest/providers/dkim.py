"""DKIM signatures (RFC 6376) over messages that are 7-bit and end with one line break, as ours do."""

import re
from base64 import b64encode
from hashlib import sha256

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from digest.domain.errors import BadInputError

SHORTEST_KEY = 1024
"""Bits; RFC 8301 §3.2 lets nobody verify less, and large mail services ask for 2048."""
_TWICE = ("from", "to", "subject", "list-unsubscribe", "list-unsubscribe-post")
"""Named once more than they occur, so that a second one added on the way breaks the signature (RFC 6376 §8.15)."""
_ONCE = (
    "date",
    "message-id",
    "list-id",
    "auto-submitted",
    "content-language",
    "mime-version",
    "content-type",
)
_FIELD = re.compile(rb"([!-9;-~]+):[ \t]*((?:[^\r]|\r\n[ \t])*)\r\n")
_SPACE = re.compile(rb"[ \t\r\n]+")
_LINE = 60


class Signer:
    """Puts a DKIM-Signature in front of messages: relaxed headers, simple body.

    The package dkimpy does the same; its RSA is plain Python and takes many times as long as all else about a message,
    see docs/decisions/0021. The tests verify with it.

    Args:
        domain: ``d=``, the one that is to answer for the mail; the From domain's or above it (DMARC alignment).
        selector: ``s=``, under which the public key lies in DNS.
        key: PEM of an RSA private key; not every mail service verifies another kind (RFC 8463).

    Raises:
        BadInputError: the key is none, or too short. The message does not repeat it.
    """

    def __init__(self, domain: str, selector: str, key: str) -> None:
        self._key = _private_key(key)
        self._start = f"v=1; a=rsa-sha256; c=relaxed/simple; d={domain}; s={selector};"

    def __call__(self, source: bytes) -> bytes:
        """The message with its signature before it; lines end with CRLF."""
        head, _, body = source.partition(b"\r\n\r\n")
        fields = {name.lower(): value for name, value in _FIELD.findall(head + b"\r\n")}
        names = [name for name in (*_TWICE, *_ONCE) if name.encode() in fields]
        signed = b"".join(_relaxed(name.encode(), fields[name.encode()]) for name in names)
        covered = ":".join(names + [name for name in _TWICE if name in names])
        body_hash = b64encode(sha256(body).digest()).decode("ascii")
        own = _folded(f"{self._start} h={covered}; bh={body_hash}; b=")
        to_sign = signed + _relaxed(b"dkim-signature", own)[:-2]
        value = b64encode(self._key.sign(to_sign, PKCS1v15(), SHA256()))
        lines = b"\r\n ".join(value[at : at + _LINE] for at in range(0, len(value), _LINE))
        return b"DKIM-Signature: " + own + b"\r\n " + lines + b"\r\n" + source


def _private_key(key: str) -> RSAPrivateKey:
    try:
        loaded = load_pem_private_key(key.replace("\\n", "\n").encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise BadInputError("DIGEST_DKIM_KEY", "", "must be the PEM of a private key without a password.") from error
    if not isinstance(loaded, RSAPrivateKey) or loaded.key_size < SHORTEST_KEY:
        raise BadInputError("DIGEST_DKIM_KEY", "", f"must be an RSA key of at least {SHORTEST_KEY} bits.")
    return loaded


def _relaxed(name: bytes, value: bytes) -> bytes:
    """A header in the form that is signed (RFC 6376 §3.4.2)."""
    return name + b":" + _SPACE.sub(b" ", value).strip() + b"\r\n"


def _folded(value: str) -> bytes:
    """The tags on as many lines as they take, broken after a tag or after a name in the list of headers."""
    lines = [""]
    for piece in re.findall(r"[^;:]*[;:] ?|[^;:]+$", value):
        if len(lines[-1]) + len(piece) > _LINE:
            lines.append("")
        lines[-1] += piece
    return "\r\n ".join(line.rstrip(" ") for line in lines).encode("ascii")
