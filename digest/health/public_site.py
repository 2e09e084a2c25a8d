"""The site as readers and mail clients reach it: https, and the one-click address (RFC 8058)."""

import ssl
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import httpcore2
import httpx2

from digest.health.findings import Finding, fault, ok, warning
from digest.links import Links

SECONDS = 10.0
NOBODY = 0
"""An id that no reader ever has: leaving for them changes nothing."""
RENEW_WITHIN = timedelta(days=10)
ONE_CLICK = {"List-Unsubscribe": "One-Click"}


def look_at_site(links: Links, now: datetime, trust: ssl.SSLContext | None = None) -> list[Finding]:
    """Whether the public address answers over https, and whether one press on *unsubscribe* would work.

    Args:
        trust: whose certificates are believed; None: those that the system believes.
    """
    with httpx2.Client(timeout=SECONDS, follow_redirects=False, verify=trust or True) as client:
        site = _site(client, links, now)
        return [site] if site.stops else [site, _one_click(client, links)]


def _site(client: httpx2.Client, links: Links, now: datetime) -> Finding:
    address = f"{links.base_url}/healthz"
    try:
        with client.stream("GET", address) as answer:
            until = _valid_until(answer)
    except (httpx2.RequestError, httpx2.InvalidURL) as error:
        why = f"{type(error).__name__}: {error}" if "certificate" in str(error).lower() else type(error).__name__
        return fault(
            "site",
            "{site} can't be reached from here ({why}): see DNS, proxy and certificate",
            site=links.base_url,
            why=why,
        )
    if answer.is_redirect:
        return warning(
            "site",
            "{address} redirects: set DIGEST_BASE_URL to where it leads; mail clients don't follow",
            address=address,
        )
    if not answer.is_success:
        return fault(
            "site",
            "{address} answers {code}: see that digest web runs and the proxy finds it",
            address=address,
            code=str(answer.status_code),
        )
    return _certificate(links.base_url, until, now)


def _certificate(site: str, until: datetime | None, now: datetime) -> Finding:
    if until is None:
        return ok("site", "{site} answers", site=site)
    day = f"{until:%Y-%m-%d}"
    if until - now < RENEW_WITHIN:
        return warning("site", "the certificate of {site} ends on {day}: renew it", site=site, day=day)
    return ok("site", "{site} answers; certificate until {day}", site=site, day=day)


def _valid_until(answer: httpx2.Response) -> datetime | None:
    stream = answer.extensions.get("network_stream")
    wire = stream.get_extra_info("ssl_object") if isinstance(stream, httpcore2.NetworkStream) else None
    # Whichever of ssl's classes it is, this one is what they have in common.
    read = getattr(wire, "getpeercert", None)
    certificate = read() if read else None
    ends = certificate.get("notAfter") if certificate else None
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(ends))).astimezone() if ends else None


def _one_click(client: httpx2.Client, links: Links) -> Finding:
    place = urlsplit(links.unsubscribe(NOBODY))
    shown = f"{place.scheme}://{place.netloc}{place.path.rpartition('/')[0]}/…"
    try:
        answer = client.post(links.unsubscribe(NOBODY), data=ONE_CLICK)
    except httpx2.RequestError as error:
        return warning(
            "one-click",
            "{place} gives no answer to a POST ({why}): see the proxy",
            place=shown,
            why=type(error).__name__,
        )
    if answer.is_redirect:
        return warning(
            "one-click", "{place} redirects a POST, which mail clients don't follow: see the proxy", place=shown
        )
    if not answer.is_success:
        return warning(
            "one-click",
            "{place} answers {code} to a POST: let POST through the proxy, and see that its keys are these keys",
            place=shown,
            code=str(answer.status_code),
        )
    if "set-cookie" in answer.headers:
        return warning("one-click", "{place} sets a cookie, which RFC 8058 rules out: see the proxy", place=shown)
    return ok("one-click", "{place} takes a POST", place=shown)
