"""Settings of the traffic with providers and other programs; a part of :class:`digest.settings.Settings`."""

from pydantic import Field
from pydantic_settings import BaseSettings


class TrafficSettings(BaseSettings):
    """What comes back from providers, how fast mail may leave, and who else is told."""

    webhook_hours: int = Field(
        25, ge=1, le=168, description="oldest signed event post that is believed; SendGrid repeats one for 24 hours"
    )
