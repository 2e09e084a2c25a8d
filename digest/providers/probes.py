"""Asks a provider whether it would take our mail, and gives it none."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx2

from digest.domain.errors import BadInputError
from digest.domain.notice import Notice, notice
from digest.providers.answers import without_addresses
from digest.providers.sendgrid_answers import complaints_of
from digest.providers.smtp_connection import ConnectFailedError, Relay, open_connection

SECONDS = 10.0
MOST_SKEW = timedelta(minutes=2)
SENDS = "mail.send"
"""The one permission that a key needs; with more than that it is worth more to a thief."""

NOTHING = Notice("")


@dataclass(frozen=True, slots=True)
class Probed:
    """What a provider said.

    Attributes:
        ready: what it is ready for.
        refused: why nothing would be taken; None when it would.
        doubt: what is not right though mail would be taken, or why nothing is known.
        mend: what to do about either.
    """

    ready: Notice | None = None
    refused: Notice | None = None
    doubt: Notice | None = None
    mend: Notice = NOTHING


def probe_sendgrid(api_key: str, host: str, now: datetime) -> Probed:
    """Ask the API which permissions the key has (``GET /v3/scopes``)."""
    headers = {"Authorization": f"Bearer {api_key.strip()}"}
    try:
        answer = httpx2.get(f"{host.rstrip('/')}/v3/scopes", headers=headers, timeout=SECONDS)
    except (httpx2.RequestError, httpx2.InvalidURL) as error:
        silent = notice("no answer ({why})", why=type(error).__name__)
        return Probed(refused=silent, mend=notice("see the network and DIGEST_SENDGRID_HOST"))
    if answer.status_code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        said = "; ".join(complaint.message for complaint in complaints_of(answer))
        return Probed(refused=_refused_key(str(answer.status_code), said), mend=NEW_KEY)
    if not answer.is_success:
        doubt = notice("answered {code}", code=str(answer.status_code))
        return Probed(doubt=doubt, mend=notice("look at status.sendgrid.com, ask again in a minute"))
    return _judge_scopes(answer, now)


NEW_KEY = notice(
    "make one under Settings, API Keys, with Mail Send, put it into DIGEST_SENDGRID_API_KEY, restart the workers, "
    "then digest deliveries resume"
)


def _refused_key(code: str, said: str) -> Notice:
    if said:
        return notice("{code} the API key was refused: {said}", code=code, said=said)
    return notice("{code} the API key was refused", code=code)


def _judge_scopes(answer: httpx2.Response, now: datetime) -> Probed:
    try:
        scopes = answer.json()["scopes"]
    except (ValueError, KeyError, TypeError):
        mend = notice("see that DIGEST_SENDGRID_HOST is SendGrid's")
        return Probed(doubt=notice("its answer names no permissions"), mend=mend)
    if SENDS not in scopes:
        return Probed(refused=notice("the API key may not send mail"), mend=NEW_KEY)
    if skew := _skew(answer.headers.get("Date", ""), now):
        doubt = notice("its clock differs from ours by {span}", span=str(skew))
        return Probed(doubt=doubt, mend=notice("set this machine's clock by NTP"))
    return Probed(ready=notice("the key may send mail ({number} permissions)", number=str(len(scopes))))


def _skew(date: str, now: datetime) -> timedelta | None:
    """How far the answer's date lies from ``now``, where that is too far."""
    try:
        off = abs(parsedate_to_datetime(date) - now)
    except (ValueError, TypeError):
        return None
    return off if off > MOST_SKEW else None


def probe_smtp(url: str) -> Probed:
    """Connect, secure, log in, leave."""
    try:
        relay = Relay.from_url(url)
        smtp = open_connection(relay, "localhost", SECONDS)
    except BadInputError:
        return Probed(refused=notice("its address can't be used"), mend=RIGHT_URL)
    except ConnectFailedError as error:
        refused = notice("{said}", said=without_addresses(str(error)))
        return Probed(refused=refused, mend=SEE_LOGIN if error.needs_operator else SEE_RELAY)
    has_tls, is_logged_in = hasattr(smtp.sock, "cipher"), bool(relay.user)
    smtp.close()
    return Probed(ready=_ready(relay.host, has_tls=has_tls, is_logged_in=is_logged_in))


RIGHT_URL = notice(
    "DIGEST_SMTP_URL must be smtp://user:pass@host:port or smtps://…, user and password percent-encoded ASCII."
)
SEE_LOGIN = notice("see user, password and TLS in DIGEST_SMTP_URL; then digest deliveries resume")
SEE_RELAY = notice("see that it runs; then digest deliveries resume")


def _ready(host: str, *, has_tls: bool, is_logged_in: bool) -> Notice:
    if has_tls and is_logged_in:
        return notice("{host} answers over TLS, logged in", host=host)
    if has_tls:
        return notice("{host} answers over TLS", host=host)
    return notice("{host} answers, logged in", host=host) if is_logged_in else notice("{host} answers", host=host)
