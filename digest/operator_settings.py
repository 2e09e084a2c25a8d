"""Settings of whoever runs the service: how they are told, and who may look; a part of the settings."""

from typing import Literal
from urllib.parse import urlsplit

from email_validator import EmailNotValidError, validate_email
from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings

IANA = "https://data.iana.org/time-zones/tzdb/version"
_PORTS = 65535


class OperatorSettings(BaseSettings):
    """How the operator looks after the service."""

    operator_email: str = Field("", description="where the morning report and alarms go; unset: nobody gets them")
    operator_language: Literal["en", "zh"] = Field("en", description="language of both")
    alive_url: SecretStr = Field(SecretStr(""), description="asked (GET) after each good morning; a dead man's switch")
    metrics_token: SecretStr = Field(
        SecretStr(""), description="bearer token for /metrics; unset: only who comes directly from a private network"
    )
    dns_server: str = Field("", description="DNS server that the doctor asks, host or host:port; unset: the system's")
    tzdata_url: str = Field(IANA, description="where a public site learns which tzdata is the newest")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="least that is logged")
    sentry_dsn: SecretStr = Field(SecretStr(""), description="where errors are reported; needs the extra sentry")
    otlp_endpoint: str = Field("", description="OTLP/HTTP collector that traces go to; needs the extra telemetry")

    @field_validator("operator_email")
    @classmethod
    def _is_operators(cls, value: str) -> str:
        if not value:
            return value
        try:
            return validate_email(value, check_deliverability=False, allow_smtputf8=False).ascii_email or value
        except EmailNotValidError as error:
            raise ValueError("must be a bare address, such as ops@example.com") from error

    @field_validator("alive_url", "sentry_dsn")
    @classmethod
    def _is_url(cls, value: SecretStr) -> SecretStr:
        parts = urlsplit(value.get_secret_value())
        if value.get_secret_value() and (parts.scheme not in {"http", "https"} or not parts.hostname):
            raise ValueError("must be an http(s) address")
        return value

    @field_validator("dns_server")
    @classmethod
    def _is_server(cls, value: str) -> str:
        try:
            parts = urlsplit(f"//{value}")
            is_server = not value or (parts.hostname and not parts.path and (parts.port or 1) <= _PORTS)
        except ValueError:
            is_server = False
        if not is_server:
            raise ValueError("must be an address or address:port, such as 9.9.9.9")
        return value
