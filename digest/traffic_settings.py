"""Settings of the traffic with providers and other programs; a part of :class:`digest.settings.Settings`."""

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings

from digest.domain.ceilings import EXAMPLE, parse_ceilings
from digest.domain.errors import BadInputError


class TrafficSettings(BaseSettings):
    """What comes back from providers, how fast mail may leave, and who else is told."""

    sendgrid_api_key: SecretStr = Field(SecretStr(""), description="SendGrid API key")
    sendgrid_host: str = Field("https://api.sendgrid.com", description="SendGrid API host, e.g. the EU region's")
    sendgrid_webhook_public_key: str = Field("", description="key that verifies event webhooks")
    webhook_hours: int = Field(
        25, ge=1, le=168, description="oldest signed event post that is believed; SendGrid repeats one for 24 hours"
    )
    ceilings: str = Field("", description=f"most mail in a time, such as {EXAMPLE}; unset: none")
    spread_minutes: int = Field(
        0, ge=0, le=60, description="batches leave spread over so many minutes after their instant, never before it"
    )

    @field_validator("ceilings")
    @classmethod
    def _are_ceilings(cls, value: str) -> str:
        try:
            parse_ceilings(value)
        except BadInputError as error:
            raise ValueError(error.mend) from error
        return value
