"""Tells other programs over HTTP what happened, signed by Standard Webhooks (standardwebhooks.com, v1)."""

import ssl
from collections.abc import Sequence
from datetime import datetime
from functools import cache

import httpx2

from digest.domain.webhook_signature import key_of, signature

SECONDS = 10.0
"""How long any single wait on the network may take."""


@cache
def _trust() -> ssl.SSLContext:
    # Reading the authorities takes tens of milliseconds, which every command would pay that is built anew.
    return httpx2.create_ssl_context()


class WebTeller:
    """Posts news. Safe to share between threads.

    Args:
        secrets: as the standard writes them, the newest first.
        timeout: seconds that any single wait on the network may take.
    """

    def __init__(self, secrets: Sequence[str], timeout: float = SECONDS) -> None:
        self._keys = [key_of(secret) for secret in secrets]
        self._client = httpx2.Client(timeout=timeout, follow_redirects=False, verify=_trust())

    def tell(self, url: str, identifier: str, body: bytes, now: datetime) -> str:
        """See :class:`digest.ports.Teller`."""
        headers = {
            "Content-Type": "application/json",
            "webhook-id": identifier,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": signature(self._keys, identifier, now, body),
        }
        try:
            with self._client.stream("POST", url, content=body, headers=headers) as answer:
                return "" if answer.is_success else f"answered {answer.status_code}"
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            return type(error).__name__

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()
