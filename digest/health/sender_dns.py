"""What DNS says of the sender: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 9989), MX (RFC 5321) and PTR (RFC 1912)."""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

import dns.exception
import dns.name
import dns.resolver
import dns.reversename
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from digest.health.findings import Finding, fault, ok, warning
from digest.settings import Settings, split_sender

SECONDS = 5.0
MOST_LOOKUPS = 10
"""Terms of SPF that cost a query; above it receivers give up (RFC 7208 §4.6.4)."""
MOST_STEPS = 8
"""Of the walk up the tree for a DMARC record (RFC 9989 §4.10)."""
SENDGRID_SELECTORS = ("s1", "s2")
"""Where SendGrid's domain authentication puts its keys unless it was told otherwise."""
ANY_SPF = "v=spf1 include:… -all"
NO_ANSWER = (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer)


def resolver_for(settings: Settings) -> dns.resolver.Resolver:
    """The system's resolver, or the server that the settings name."""
    if not settings.dns_server:
        resolver = dns.resolver.Resolver()
    else:
        resolver = dns.resolver.Resolver(configure=False)
        parts = urlsplit(f"//{settings.dns_server}")
        resolver.nameservers, resolver.port = [parts.hostname or ""], parts.port or 53
    resolver.lifetime = SECONDS
    return resolver


def look_at_sender_dns(settings: Settings, resolver: dns.resolver.Resolver) -> list[Finding]:
    """Every record that mailbox providers ask for."""
    domain = split_sender(settings.sender)[1].rpartition("@")[2]
    checks: tuple[tuple[str, Callable[[], Finding]], ...] = (
        ("SPF", lambda: _spf(resolver, _envelope_domain(settings, domain))),
        ("DKIM", lambda: _dkim(settings, resolver, domain)),
        ("DMARC", lambda: _dmarc(resolver, domain)),
        ("MX", lambda: _mx(resolver, domain)),
        ("PTR", lambda: _ptr(settings, resolver)),
    )
    found = []
    for name, check in checks:
        try:
            found.append(check())
        except dns.exception.DNSException as error:
            found.append(_silent(name, domain, type(error).__name__))
    return found


def _silent(check: str, domain: str, why: str) -> Finding:
    return warning(
        check, "{domain}: DNS gave no answer ({why}): see that the name servers answer", domain=domain, why=why
    )


def _texts(resolver: dns.resolver.Resolver, name: str) -> list[str]:
    try:
        answer = resolver.resolve(name, "TXT")
    except NO_ANSWER:
        return []
    return [b"".join(record.strings).decode("utf-8", "replace") for record in answer]


def _envelope_domain(settings: Settings, domain: str) -> str:
    """SPF is about the return path; SendGrid's own lies in a domain that it looks after."""
    return settings.bounce_address.rpartition("@")[2] or domain


def _spf(resolver: dns.resolver.Resolver, domain: str) -> Finding:
    records = [text for text in _texts(resolver, domain) if text.lower().partition(" ")[0] == "v=spf1"]
    if not records:
        return warning(
            "SPF", "{domain} has no SPF record; add TXT “{record}” as your provider says", domain=domain, record=ANY_SPF
        )
    if len(records) > 1:
        return warning(
            "SPF",
            "{domain} has {number} SPF records, which is as good as none: keep one",
            domain=domain,
            number=str(len(records)),
        )
    terms = records[0].lower().split()[1:]
    if {"+all", "all"} & set(terms):
        return warning("SPF", "{domain} lets everybody send (+all): end it with ~all or -all", domain=domain)
    costly = sum(term.lstrip("+-~?").partition(":")[0] in {"include", "a", "mx", "ptr", "exists"} for term in terms)
    if costly + sum(term.startswith("redirect=") for term in terms) > MOST_LOOKUPS:
        return warning(
            "SPF",
            "{domain} needs more than {most} look-ups: take out what sends no more",
            domain=domain,
            most=str(MOST_LOOKUPS),
        )
    return ok("SPF", "{place}: {record}", place=domain, record=records[0])


def _dkim(settings: Settings, resolver: dns.resolver.Resolver, domain: str) -> Finding:
    if "smtp" in {settings.provider, settings.fallback_provider} and settings.dkim_domain:
        return _own_key(settings, resolver)
    if settings.provider != "sendgrid":
        return ok("DKIM", "signed by your relay; look for “dkim=pass” in a message that arrived")
    missing = [name for name in SENDGRID_SELECTORS if not _key_at(resolver, f"{name}._domainkey.{domain}")]
    if missing:
        return warning(
            "DKIM",
            "no key at {places}: add the CNAME records of SendGrid’s Sender Authentication",
            places=[f"{name}._domainkey.{domain}" for name in missing],
        )
    return ok("DKIM", "SendGrid’s keys {names} are in {domain}", names=SENDGRID_SELECTORS, domain=domain)


def _own_key(settings: Settings, resolver: dns.resolver.Resolver) -> Finding:
    name = f"{settings.dkim_selector}._domainkey.{settings.dkim_domain}"
    private = load_pem_private_key(settings.dkim_key.get_secret_value().encode(), None)
    ours = private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    published = _key_at(resolver, name)
    if not published:
        return fault(
            "DKIM", "no key at {place}: add TXT “v=DKIM1; k=rsa; p=…” or receivers refuse what is signed", place=name
        )
    if published != ours:
        return fault(
            "DKIM", "the key at {place} is not DIGEST_DKIM_KEY’s: publish its public half, or signing fails", place=name
        )
    return ok("DKIM", "{place} holds the key that signs", place=name)


def _key_at(resolver: dns.resolver.Resolver, name: str) -> bytes:
    """The key of a DKIM record, DER; empty where there is none or it was revoked (RFC 6376 §3.6.1)."""
    for text in _texts(resolver, name):
        tags = dict(_tags(text))
        try:
            return b64decode("".join(tags.get("p", "").split()))
        except Base64Error:
            return b""
    return b""


def _tags(record: str) -> Iterator[tuple[str, str]]:
    for part in record.split(";"):
        name, is_tag, value = part.partition("=")
        if is_tag:
            yield name.strip().lower(), value.strip()


def _dmarc(resolver: dns.resolver.Resolver, domain: str) -> Finding:
    name = dns.name.from_text(domain)
    for _ in range(MOST_STEPS):
        place = f"_dmarc.{name.to_text(omit_final_dot=True)}"
        records = [text for text in _texts(resolver, place) if text.replace(" ", "").lower().startswith("v=dmarc1")]
        if len(records) > 1:
            return warning(
                "DMARC",
                "{place} has {number} records, which is as good as none: keep one",
                place=place,
                number=str(len(records)),
            )
        if records:
            policy = dict(_tags(records[0])).get("p", "")
            return _policy(place, policy.lower())
        if len(name.labels) <= 3:  # noqa: PLR2004 # a top-level domain, the organisation's own name, the root
            break
        name = name.parent()
    return warning(
        "DMARC", "{domain} has no DMARC record: add TXT “v=DMARC1; p=none” at _dmarc.{domain}", domain=domain
    )


def _policy(place: str, policy: str) -> Finding:
    if policy not in {"none", "quarantine", "reject"}:
        return warning("DMARC", "{place} names no policy: it must say p=none, p=quarantine or p=reject", place=place)
    return ok("DMARC", "{place}: {record}", place=place, record=f"p={policy}")


def _mx(resolver: dns.resolver.Resolver, domain: str) -> Finding:
    try:
        hosts = [record.exchange.to_text(omit_final_dot=True) for record in resolver.resolve(domain, "MX")]
    except NO_ANSWER:
        return warning(
            "MX", "{domain} has no MX record, so nobody can answer: add one, many receivers look", domain=domain
        )
    if hosts in ([""], ["."]):
        return warning(
            "MX",
            "{domain} says that it takes no mail (null MX, RFC 7505): receivers refuse such a sender",
            domain=domain,
        )
    return ok("MX", "{place}: {record}", place=domain, record=sorted(hosts))


def _ptr(settings: Settings, resolver: dns.resolver.Resolver) -> Finding:
    """The relay's address must have a name that leads back to it; SendGrid sees to its own."""
    if settings.provider != "smtp":
        is_theirs = settings.provider == "sendgrid"
        return ok("PTR", "the provider’s servers’ own affair") if is_theirs else ok("PTR", "nothing leaves")
    host = urlsplit(settings.smtp_url.get_secret_value()).hostname or ""
    addresses = _addresses(resolver, host)
    if not addresses:
        return warning("PTR", "{host}, the mail server, has no address in DNS: see DIGEST_SMTP_URL", host=host)
    nameless = [address for address in addresses if not _leads_back(resolver, address)]
    if nameless and not any(ip_address(address).is_private for address in nameless):
        return warning(
            "PTR",
            "{addresses} ({host}) has no PTR record that leads back to it; if it delivers by itself, ask its network’s "
            "owner for one",
            addresses=nameless,
            host=host,
        )
    return ok("PTR", "{place}: {record}", place=host, record=addresses)


def _addresses(resolver: dns.resolver.Resolver, host: str) -> list[str]:
    try:
        return [str(ip_address(host))]
    except ValueError:
        pass  # a name
    found: list[str] = []
    for kind in ("A", "AAAA"):
        try:
            found += [record.address for record in resolver.resolve(host, kind)]
        except NO_ANSWER:
            continue
    return found


def _leads_back(resolver: dns.resolver.Resolver, address: str) -> bool:
    try:
        names = [record.target.to_text() for record in resolver.resolve(dns.reversename.from_address(address), "PTR")]
    except NO_ANSWER:
        return False
    return any(address in _addresses(resolver, name) for name in names)
