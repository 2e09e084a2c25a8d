"""Slips of the finger in well-known mail domains: ``gmial.com`` is ``gmail.com``."""

MAILBOX_DOMAINS = (
    "126.com 139.com 163.com 189.cn aliyun.com aol.com fastmail.com foxmail.com gmail.com gmx.de gmx.net "
    "googlemail.com hey.com hotmail.com icloud.com live.com mail.com mail.ru me.com msn.com naver.com "
    "outlook.com pm.me proton.me protonmail.com qq.com sina.com sohu.com web.de yahoo.co.jp yahoo.co.uk "
    "yahoo.com yandex.com yandex.ru yeah.net"
)
_KNOWN = frozenset(MAILBOX_DOMAINS.split())
_NAMES = frozenset({"gmail", "hotmail", "icloud", "outlook", "protonmail", "yahoo"})
_ENDINGS = frozenset({"com", "con", "cm", "co", "cmo", "ocm", "om", "vom", "xom", "comm", "cim", "cpm", "net"})
SHORTEST = 7
"""Characters of a domain from which one slip is told from another domain: ``qq.com`` is one slip from too many."""


def is_mailbox_domain(domain: str) -> bool:
    """Whether anybody may have an address there, so that many sign-ups from it are no sign of anything."""
    return domain.lower() in _KNOWN


def suggested_address(address: str) -> str:
    """The address that was probably meant; empty where it looks as it should."""
    local, at, domain = address.rpartition("@")
    meant = suggested_domain(domain.lower())
    return f"{local}{at}{meant}" if meant else ""


def suggested_domain(domain: str) -> str:
    """The well-known domain that is one slip away: a letter too many, too few, other, or two in the wrong order."""
    if domain in _KNOWN:
        return ""
    name, _, ending = domain.rpartition(".")
    if name in _NAMES and ending in _ENDINGS and f"{name}.com" in _KNOWN:
        return f"{name}.com"
    if len(domain) < SHORTEST:
        return ""
    near = [known for known in sorted(_KNOWN) if len(known) >= SHORTEST and _is_one_slip(domain, known)]
    return near[0] if near else ""


def _is_one_slip(one: str, other: str) -> bool:
    """Damerau's distance of one."""
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    a, b = one[start:], other[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[1::-1] == b[:2] and a[2:] == b[2:])
