"""Settings of how mail leaves and what bounces lead to; a part of :class:`digest.settings.Settings`."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings

from digest.domain.suppression import SoftBounces

LONGEST_BOUNCE_MAILBOX = 20
"""Characters before the @: with the signed token of a message they make a local part of 64 (RFC 5321 §4.5.3.1.1)."""
_MAILBOX = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
_DOMAIN = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


class MailSettings(BaseSettings):
    """How mail leaves and what bounces lead to."""

    fallback_provider: Literal["", "smtp", "sendgrid"] = Field(
        "", description="who takes over while the provider fails; unset: nobody"
    )
    smtp_url: SecretStr = Field(SecretStr(""), description="smtp://user:pass@host:port (STARTTLS) or smtps://…")
    smtp_messages_per_connection: int = Field(
        100, ge=1, le=5000, description="messages over one SMTP connection; then a new one is opened"
    )
    bounce_address: str = Field(
        "", description="mailbox for bounces, which takes bounces+anything@; unset: bounces go to the sender, unread"
    )
    dkim_domain: str = Field("", description="domain that signs SMTP mail (DKIM); unset: the relay signs")
    dkim_selector: str = Field("", description="selector under which the public DKIM key lies in DNS")
    dkim_key: SecretStr = Field(SecretStr(""), description="private RSA key for DKIM: PEM, or @ and a file's path")
    soft_bounces: int = Field(5, ge=1, le=100, description="mornings with a soft bounce that end a subscription")
    soft_bounce_days: int = Field(30, ge=1, le=365, description="how many days back a soft bounce counts")

    @field_validator("smtp_url")
    @classmethod
    def _is_smtp_address(cls, value: SecretStr) -> SecretStr:
        parts = urlsplit(value.get_secret_value())
        if value.get_secret_value() and (parts.scheme not in {"smtp", "smtps"} or not parts.hostname):
            raise ValueError("must be smtp://user:pass@host:port or smtps://…")
        return value

    @field_validator("bounce_address")
    @classmethod
    def _is_mailbox(cls, value: str) -> str:
        local_part, _, _ = value.partition("@")
        if value and (not _MAILBOX.fullmatch(value) or len(local_part) > LONGEST_BOUNCE_MAILBOX):
            raise ValueError(
                f"must be a bare address with at most {LONGEST_BOUNCE_MAILBOX} plain characters before the @, "
                "such as bounces@example.com"
            )
        return value

    @field_validator("dkim_domain", "dkim_selector")
    @classmethod
    def _is_dkim_name(cls, value: str) -> str:
        if value and not _DOMAIN.fullmatch(value):
            raise ValueError("must be a name as it stands in DNS, such as brief.example.com")
        return value.lower()

    @field_validator("dkim_key")
    @classmethod
    def _read_key(cls, value: SecretStr) -> SecretStr:
        text = value.get_secret_value()
        if not text.startswith("@"):
            return value
        try:
            return SecretStr(Path(text[1:]).read_text(encoding="ascii"))
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "it is no PEM file"
            raise ValueError(f"the file can't be read: {why}") from error

    @property
    def soft_bounce_rule(self) -> SoftBounces:
        """When a mailbox that keeps taking nothing counts as left."""
        return SoftBounces(self.soft_bounces, timedelta(days=self.soft_bounce_days))

    def signing_faults(self, sender_domain: str) -> list[str]:
        """What would make DKIM signatures fail or not count; one line each."""
        parts = {
            "DIGEST_DKIM_DOMAIN": self.dkim_domain,
            "DIGEST_DKIM_SELECTOR": self.dkim_selector,
            "DIGEST_DKIM_KEY": self.dkim_key.get_secret_value(),
        }
        if not any(parts.values()):
            return []
        faults = [f"{name}: missing; signing takes all three" for name, part in parts.items() if not part]
        if self.dkim_domain and not _are_aligned(self.dkim_domain, sender_domain.lower()):
            faults.append(f"DIGEST_DKIM_DOMAIN: {self.dkim_domain} must be the sender's domain or above it (DMARC)")
        return faults


def _are_aligned(signing: str, sender: str) -> bool:
    """The relaxed alignment of RFC 9989 §4.10.1, as far as it shows without asking DNS."""
    return f".{sender}".endswith(f".{signing}") or f".{signing}".endswith(f".{sender}")
