"""How long an HTTP answer asks to wait (RFC 9110 §10.2.3, and SendGrid's rate limit headers)."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_WAIT = 3600.0
"""Seconds; a header that asks for more is taken for a mistake and cut."""
_SECONDS = re.compile(r"[0-9]{1,12}(\.[0-9]+)?")


def wait_asked_for(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds from ``now``, between 1 and an hour; None when the answer does not say.

    ``Retry-After`` counts before ``X-RateLimit-Reset`` (Unix seconds), which SendGrid sends with every answer and which
    therefore only speaks when ``X-RateLimit-Remaining`` is not above zero.
    """
    wait = _retry_after(headers.get("Retry-After", ""), now)
    if wait is None and headers.get("X-RateLimit-Remaining", "0").strip() == "0":
        reset = headers.get("X-RateLimit-Reset", "").strip()
        wait = float(reset) - now.timestamp() if _SECONDS.fullmatch(reset) else None
    return None if wait is None else min(max(wait, 1.0), LONGEST_WAIT)


def _retry_after(value: str, now: datetime) -> float | None:
    if _SECONDS.fullmatch(value.strip()):
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds()
