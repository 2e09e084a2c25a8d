"""Proof that a person signs up: Cloudflare Turnstile, hCaptcha, or what speaks as they do.

Both verify by one POST of ``secret``, ``response`` and ``remoteip`` that is answered with ``{"success": true}``.
"""

from dataclasses import dataclass
from time import monotonic
from urllib.parse import urlsplit

import httpx2

from digest.domain.errors import TryAgainError

SECONDS = 5.0
SILENT_FOR = 10.0
"""Seconds for which a service that gave no answer in time is not asked: else all threads of the site would wait for it,
and readers who leave would wait for those."""
LONGEST_RESPONSE = 4096
"""Characters; Turnstile's are at most 2,048."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One service.

    Attributes:
        field: the form's field that the widget fills in.
        widget: the class of the element that the script turns into the widget.
        script: the script's address.
        verify: where responses are verified.
        origins: which origins the page's policy must let in.
    """

    field: str
    widget: str
    script: str
    verify: str
    origins: tuple[str, ...]


KINDS = {
    "turnstile": Kind(
        "cf-turnstile-response",
        "cf-turnstile",
        "https://challenges.cloudflare.com/turnstile/v0/api.js",
        "https://challenges.cloudflare.com/turnstile/v0/siteverify",
        ("https://challenges.cloudflare.com",),
    ),
    "hcaptcha": Kind(
        "h-captcha-response",
        "h-captcha",
        "https://js.hcaptcha.com/1/api.js",
        "https://api.hcaptcha.com/siteverify",
        ("https://hcaptcha.com", "https://*.hcaptcha.com"),
    ),
}


class Challenge:
    """Verifies what the widget of a form gave.

    Args:
        kind: ``turnstile`` or ``hcaptcha``.
        site_key: public, for the widget.
        secret_key: for the verification.
        verify_url: another place to verify at than the service's own.
    """

    def __init__(self, kind: str, site_key: str, secret_key: str, verify_url: str = "") -> None:
        self.kind, self.site_key, self._secret_key = KINDS[kind], site_key, secret_key
        self._verify_url = verify_url or self.kind.verify
        self._ask_from = float("-inf")
        self._client = httpx2.Client(timeout=SECONDS, trust_env=urlsplit(self._verify_url).scheme == "https")

    def passes(self, response: str, remote: str) -> bool:
        """Whether the service vouches for ``response``; each one counts once.

        Raises:
            TryAgainError: the service can't be asked, or gave no answer lately.
        """
        if not response or len(response) > LONGEST_RESPONSE:
            return False
        if monotonic() < self._ask_from:
            raise TryAgainError("the challenge can't be verified: its service was silent a moment ago")
        form = {"secret": self._secret_key, "response": response} | ({"remoteip": remote} if remote else {})
        try:
            answer = self._client.post(self._verify_url, data=form)
            return answer.json().get("success") is True
        except (httpx2.RequestError, ValueError, AttributeError) as error:
            if isinstance(error, httpx2.TimeoutException):
                self._ask_from = monotonic() + SILENT_FOR
            raise TryAgainError(f"the challenge can't be verified: {type(error).__name__}") from error

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()
