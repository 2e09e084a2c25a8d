"""Which addresses can be written into an SMTP command or a provider's request: the grammar of RFC 5321 §4.1.2."""

import re

_LONGEST_LOCAL_PART = 64
_LONGEST_DOMAIN = 255
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\U0010ffff-]+"
_LOCAL_PART = re.compile(rf"{_ATOM}(\.{_ATOM})*")
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_INVISIBLE = re.compile(r"[\s\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202e\ud800-\udfff\ufeff]")


def mailbox_fault(address: str) -> str:
    """What is wrong with the address, without naming it; empty when it can be sent.

    Quoted local parts and address literals are legal, given out by nobody and refused by most; they count as wrong. The
    domain must be ASCII already (IDNA 2008); the local part may be beyond it, see :func:`needs_smtputf8`.
    """
    local_part, at, domain = address.rpartition("@")
    if not at or _INVISIBLE.search(address) or not _LOCAL_PART.fullmatch(local_part):
        return "the part before the @ is not one a mail server takes"
    if not _DOMAIN.fullmatch(domain):
        return "the domain is not one a mail server takes"
    if len(local_part.encode()) > _LONGEST_LOCAL_PART or len(domain) > _LONGEST_DOMAIN:
        return "the address is longer than mail servers take"
    return ""


def needs_smtputf8(address: str) -> bool:
    """Whether only a server that offers SMTPUTF8 (RFC 6531) can take the address."""
    return not address.isascii()
