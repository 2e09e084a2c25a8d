"""The settings of the site's door: who is let in, how many, from where, and by which proof."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from limits import parse_many
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode

from digest.domain.errors import BadInputError
from digest.domain.staff import Role, Staff, parse_staff


def _split(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _check_origins(value: list[str]) -> list[str]:
    for one in value:
        parts = urlsplit(one)
        if parts.scheme not in {"http", "https"} or not parts.netloc or one != f"{parts.scheme}://{parts.netloc}":
            raise ValueError(f"{one} is not an origin, such as https://blog.example.com")
    return value


def _check_limits(value: str) -> str:
    try:
        parse_many(value)
    except ValueError as error:
        raise ValueError("must be limits such as 20/minute;100/hour") from error
    return value


OWNER = "admin"
"""The name under which whoever holds the admin token acts."""
Words = Annotated[list[str], NoDecode, BeforeValidator(_split)]
Origins = Annotated[Words, AfterValidator(_check_origins)]
Quota = Annotated[str, AfterValidator(_check_limits)]


class DoorSettings(BaseSettings):
    """What an operator may set about sign-ups, about other sites and about who runs the service."""

    admin_token: SecretStr = Field(SecretStr(""), description="opens /admin and the editorial API; unset: closed")
    staff: SecretStr = Field(
        SecretStr(""),
        description="more people for /admin: comma-separated name:role:token; roles viewer, editor, owner",
    )
    trusted_hosts: Words = Field(
        default_factory=list, description="comma-separated hosts that are served besides the base URL's and loopback"
    )
    embed_origins: Origins = Field(
        default_factory=list, description="comma-separated origins whose pages may sign readers up by script"
    )
    limit_network: Quota = Field("120/minute;400/hour", description="sign-ups from one network (IPv4 /24, IPv6 /64)")
    limit_domain: Quota = Field("2000/hour", description="sign-ups for one mail domain but the big services")
    limit_overall: Quota = Field("20000/hour", description="sign-ups in all")
    most_pending: int = Field(100_000, ge=1, description="how many may wait for confirmation at a time")
    challenge: Literal["", "turnstile", "hcaptcha"] = Field("", description="proof of a person on sign-up; unset: none")
    challenge_site_key: str = Field("", description="its public key")
    challenge_secret_key: SecretStr = Field(SecretStr(""), description="its secret key")
    challenge_url: str = Field("", description="where it is verified; default the service's own address")

    @field_validator("staff")
    @classmethod
    def _is_staff(cls, value: SecretStr) -> SecretStr:
        try:
            parse_staff(value.get_secret_value())
        except BadInputError as error:
            raise ValueError(f"{error.value or 'it'} {error.mend}") from error
        return value

    @property
    def everyone(self) -> tuple[Staff, ...]:
        """Who may sign in; nobody where neither the admin token nor staff is set."""
        token = self.admin_token.get_secret_value()
        owner = (Staff(OWNER, Role.OWNER, token),) if token else ()
        return owner + parse_staff(self.staff.get_secret_value())

    def door_faults(self) -> list[str]:
        """What would let nobody in; one line each."""
        has_keys = self.challenge_site_key and self.challenge_secret_key.get_secret_value()
        if self.challenge and not has_keys:
            return [f"DIGEST_CHALLENGE: {self.challenge} needs DIGEST_CHALLENGE_SITE_KEY and …_SECRET_KEY"]
        return []
