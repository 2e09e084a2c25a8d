"""Settings of the traffic with providers and other programs; a part of :class:`digest.settings.Settings`."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode

from digest.domain.ceilings import EXAMPLE, parse_ceilings
from digest.domain.errors import BadInputError
from digest.domain.webhook_signature import key_of


class TrafficSettings(BaseSettings):
    """What comes back from providers, how fast mail may leave, and who else is told."""

    sendgrid_api_key: SecretStr = Field(SecretStr(""), description="SendGrid API key")
    sendgrid_host: str = Field("https://api.sendgrid.com", description="SendGrid API host, e.g. the EU region's")
    sendgrid_webhook_public_key: str = Field("", description="key that verifies event webhooks")
    count_opens: bool = Field(
        default=False, description="let SendGrid put a pixel into briefs that counts openings; they then say so"
    )
    webhook_hours: int = Field(
        25, ge=1, le=168, description="oldest signed event post that is believed; SendGrid repeats one for 24 hours"
    )
    ceilings: str = Field("", description=f"most mail in a time, such as {EXAMPLE}; unset: none")
    spread_minutes: int = Field(
        0, ge=0, le=60, description="batches leave spread over so many minutes after their instant, never before it"
    )
    webhook_urls: Annotated[list[str], NoDecode] = Field(
        default_factory=list, description="comma-separated addresses told of sign-ups, endings and mornings done"
    )
    webhook_secrets: Annotated[list[SecretStr], NoDecode] = Field(
        default_factory=list, description="comma-separated whsec_… keys that sign what is told, newest first"
    )
    webhook_addresses: bool = Field(default=False, description="tell the reader's e-mail address too, not just the id")

    @field_validator("webhook_urls", "webhook_secrets", mode="before")
    @classmethod
    def _split_list(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("webhook_urls")
    @classmethod
    def _are_safe(cls, value: list[str]) -> list[str]:
        for one in value:
            parts = urlsplit(one)
            near = parts.scheme == "http" and parts.hostname in {"127.0.0.1", "localhost", "::1"}
            if not parts.hostname or not (parts.scheme == "https" or near) or not one.isascii():
                raise ValueError(f"{one} must be an https address (http only on this machine)")
        return value

    @field_validator("webhook_secrets")
    @classmethod
    def _are_keys(cls, value: list[SecretStr]) -> list[SecretStr]:
        for one in value:
            key_of(one.get_secret_value())
        return value

    @field_validator("ceilings")
    @classmethod
    def _are_ceilings(cls, value: str) -> str:
        try:
            parse_ceilings(value)
        except BadInputError as error:
            raise ValueError(error.mend) from error
        return value

    def telling_faults(self) -> list[str]:
        """What would make news untellable; one line each."""
        if self.webhook_urls and not self.webhook_secrets:
            return ["DIGEST_WEBHOOK_SECRETS: missing; DIGEST_WEBHOOK_URLS needs one, whsec_ and base64"]
        return []
