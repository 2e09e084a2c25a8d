"""Asks a provider whether it would take our mail, and gives it none."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx2

from digest.domain.errors import BadInputError
from digest.providers.answers import without_addresses
from digest.providers.sendgrid_answers import complaints_of
from digest.providers.smtp_connection import ConnectFailedError, Relay, open_connection

SECONDS = 10.0
MOST_SKEW = timedelta(minutes=2)
SENDS = "mail.send"
"""The one permission that a key needs; with more than that it is worth more to a thief."""


@dataclass(frozen=True, slots=True)
class Probed:
    """What a provider said.

    Attributes:
        words: what it is ready for.
        refused: why nothing would be taken; empty when it would.
        doubt: what is not right though mail would be taken, or why nothing is known.
        mend: what to do about either.
    """

    words: str = ""
    refused: str = ""
    doubt: str = ""
    mend: str = ""


def probe_sendgrid(api_key: str, host: str, now: datetime) -> Probed:
    """Ask the API which permissions the key has (``GET /v3/scopes``)."""
    headers = {"Authorization": f"Bearer {api_key.strip()}"}
    try:
        answer = httpx2.get(f"{host.rstrip('/')}/v3/scopes", headers=headers, timeout=SECONDS)
    except (httpx2.RequestError, httpx2.InvalidURL) as error:
        return Probed(refused=f"no answer ({type(error).__name__})", mend="see the network and DIGEST_SENDGRID_HOST")
    if answer.status_code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        said = "; ".join(complaint.message for complaint in complaints_of(answer))
        return Probed(refused=f"{answer.status_code} the API key was refused: {said}".rstrip(": "), mend=NEW_KEY)
    if not answer.is_success:
        return Probed(doubt=f"answered {answer.status_code}", mend="look at status.sendgrid.com, ask again in a minute")
    return _judge_scopes(answer, now)


NEW_KEY = (
    "make one under Settings, API Keys, with Mail Send, put it into DIGEST_SENDGRID_API_KEY, restart the workers, "
    "then digest deliveries resume"
)


def _judge_scopes(answer: httpx2.Response, now: datetime) -> Probed:
    try:
        scopes = answer.json()["scopes"]
    except (ValueError, KeyError, TypeError):
        return Probed(doubt="its answer names no permissions", mend="see that DIGEST_SENDGRID_HOST is SendGrid's")
    if SENDS not in scopes:
        return Probed(refused="the API key may not send mail", mend=NEW_KEY)
    if skew := _skew(answer.headers.get("Date", ""), now):
        return Probed(doubt=f"its clock differs from ours by {skew}", mend="set this machine's clock by NTP")
    return Probed(words=f"the key may send mail ({len(scopes)} permissions)")


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
    except BadInputError as error:
        return Probed(refused="its address can't be used", mend=f"DIGEST_SMTP_URL {error.mend}")
    except ConnectFailedError as error:
        mend = "see user, password and TLS in DIGEST_SMTP_URL" if error.needs_operator else "see that it runs"
        return Probed(refused=f"{without_addresses(str(error))}", mend=f"{mend}; then digest deliveries resume")
    has_tls, is_logged_in = hasattr(smtp.sock, "cipher"), bool(relay.user)
    smtp.close()
    words = f"{relay.host} answers{' over TLS' if has_tls else ''}{', logged in' if is_logged_in else ''}"
    return Probed(words=words)
