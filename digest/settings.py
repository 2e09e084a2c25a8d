"""Settings: environment variables prefixed ``DIGEST_``, read once at the edge, checked, and passed on as values."""

import os
import secrets
from contextlib import suppress
from datetime import timedelta
from email.utils import parseaddr
from ipaddress import ip_network
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import NoDecode, SettingsConfigDict
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from digest.domain.brief import Limits, OtherLanguage
from digest.domain.edition import Policy
from digest.domain.errors import BadInputError, PermanentError, shown
from digest.domain.language import Language
from digest.domain.ranking import parse_weights
from digest.domain.schedule import parse_timezone
from digest.door_settings import DoorSettings
from digest.mail_settings import MailSettings
from digest.operator_settings import OperatorSettings
from digest.publisher_settings import DEVELOPMENT_POSTAL_ADDRESS, PublisherSettings
from digest.story_settings import StorySettings
from digest.traffic_settings import TrafficSettings

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1", "testserver"})
SHORTEST_SECRET = 16
PREFIX = "DIGEST_"
SECRETS_DIR = "DIGEST_SECRETS_DIR"
WEB_ADDRESSES = ("base_url", "sendgrid_host", "chat_base_url", "challenge_url", "otlp_endpoint", "tzdata_url")
SECRETS = frozenset({"database_url", "broker_url", "smtp_url", "sendgrid_api_key", "secret_keys", "admin_token"})
SECRETS |= {"dkim_key", "chat_api_key", "webhook_secrets", "challenge_secret_key"}
SECRETS |= {"metrics_token", "alive_url", "sentry_dsn", "staff"}


class SettingsError(PermanentError):
    """Settings that stop the start; one line per fault."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class Settings(PublisherSettings, OperatorSettings, DoorSettings, StorySettings, MailSettings, TrafficSettings):
    """Everything an operator may set."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_file=".env", extra="ignore", env_ignore_empty=True)

    database_url: str = Field("sqlite:///var/digest.db", description="SQLAlchemy URL; production: PostgreSQL")
    broker_url: str = Field("memory://", description="Celery broker; production: redis://…")
    provider: Literal["outbox", "smtp", "sendgrid"] = Field("outbox", description="who carries the mail")
    outbox_dir: Path = Field(Path("var/outbox"), description="where provider outbox keeps its messages")
    base_url: str = Field("", description="public address used in links; default http://127.0.0.1:PORT")
    secret_keys: Annotated[list[SecretStr], NoDecode] = Field(
        default_factory=list, description="comma-separated, newest first; sign links; kept under var/ if unset"
    )
    sender: str = Field("The Daily Brief <brief@localhost.localdomain>", description="From header")
    default_timezone: str = Field("UTC", description="zone of a sign-up whose browser names none")
    default_language: Language = Field(Language.ENGLISH, description="language where the browser asks for neither")
    other_language: OtherLanguage = Field(
        OtherLanguage.LEAVE_OUT, description="a story without a text in the reader's language: leave_out or label"
    )
    lead_minutes: int = Field(10, ge=0, le=180, description="how long before the instant planning starts")
    tick_seconds: int = Field(5, ge=1, le=60, description="how often the scheduler looks at the clock")
    grace_minutes: int = Field(240, ge=1, le=1200, description="how long after the instant a brief may still leave")
    batch_size: int | None = Field(
        None, ge=1, le=1000, description="most readers handed over together; unset: as many as the provider takes"
    )
    lease_seconds: int = Field(
        900, ge=10, le=3600, description="how long one hand-over may take before it counts as lost"
    )
    nudge_seconds: int = Field(60, ge=1, le=600, description="how long after a nudge the workers are asked again")
    settle_seconds: int = Field(
        3600, ge=1, le=86400, description="how long the provider's events are waited for before an unknown is settled"
    )
    keep_days: int = Field(180, ge=8, le=3650, description="how long deliveries, events and letters are kept")
    stories_per_brief: int = Field(12, ge=1, le=40, description="most stories in one brief")
    stories_per_source: int = Field(4, ge=1, le=40, description="most stories of one source in one brief")
    confirm_days: int = Field(7, ge=1, le=60, description="how long a confirmation link works")
    fetch_minutes: int = Field(15, ge=1, le=1440, description="how often a source is fetched")
    host_spacing_seconds: float = Field(
        2.0, ge=0, le=600, description="least time between two visits of one web server, by all workers together"
    )
    fetch_private_hosts: bool = Field(
        default=False, description="let feeds live on private addresses (development only)"
    )
    trusted_proxies: Annotated[list[str], NoDecode] = Field(
        default_factory=list, description="comma-separated proxy addresses whose X-Forwarded-For is believed"
    )
    port: int = Field(8025, ge=1, le=65535, validation_alias="PORT", description="port of the web page")

    @field_validator("secret_keys", "trusted_proxies", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, value: list[str]) -> list[str]:
        for one in value:
            try:
                ip_network(one, strict=False)
            except ValueError as error:
                raise ValueError(f"{one} is not an IP address or network, such as 10.0.0.0/8") from error
        return value

    @field_validator("database_url")
    @classmethod
    def _is_database(cls, value: str) -> str:
        try:
            backend = make_url(value).get_backend_name()
        except ArgumentError as error:
            raise ValueError("is not a database address: write sqlite:///var/digest.db or postgresql://…") from error
        if backend not in {"sqlite", "postgresql"}:
            raise ValueError("must be a sqlite:// or postgresql:// address")
        return value

    @field_validator("broker_url")
    @classmethod
    def _is_broker(cls, value: str) -> str:
        if urlsplit(value).scheme not in {"memory", "redis", "rediss"}:
            raise ValueError("must be a redis:// address, or memory:// for everything in one process")
        return value

    @field_validator(*WEB_ADDRESSES, check_fields=False)
    @classmethod
    def _is_web_address(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment):
            raise ValueError("must be an http(s) address without a query, such as https://brief.example.com")
        if not value.isascii():
            raise ValueError("must be ASCII: write a host in another script as xn--…, and escape the path")
        return value.rstrip("/")

    @field_validator("sender")
    @classmethod
    def _is_sender(cls, value: str) -> str:
        address = split_sender(value)[1]
        if "@" not in address or not address.isascii() or not value.isprintable():
            raise ValueError("must be a name and an address: The Daily Brief <brief@example.com>")
        return value

    @field_validator("default_timezone")
    @classmethod
    def _is_zone(cls, value: str) -> str:
        try:
            return parse_timezone(value)
        except BadInputError as error:
            raise ValueError(error.mend) from error

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if not self.base_url:
            self.base_url = f"http://127.0.0.1:{self.port}"
        return self

    @property
    def is_public(self) -> bool:
        """Whether the site is meant for others than this machine."""
        return urlsplit(self.base_url).hostname not in LOOPBACK_HOSTS

    @property
    def confirm_for(self) -> timedelta:
        """How long a confirmation link works."""
        return timedelta(days=self.confirm_days)

    @property
    def keep_for(self) -> timedelta:
        """How long deliveries, events and letters are kept."""
        return timedelta(days=self.keep_days)

    @property
    def policy(self) -> Policy:
        """How a morning is run."""
        return Policy(
            lead=timedelta(minutes=self.lead_minutes),
            grace=timedelta(minutes=self.grace_minutes),
            lease=timedelta(seconds=self.lease_seconds),
            settle=timedelta(seconds=self.settle_seconds),
            largest_batch=self.batch_size,
            spread=timedelta(minutes=min(self.spread_minutes, self.grace_minutes // 2)),
        )

    @property
    def limits(self) -> Limits:
        """How much a brief holds."""
        return Limits(
            stories=self.stories_per_brief,
            per_source=self.stories_per_source,
            weights=parse_weights(self.score_weights),
        )


def split_sender(value: str) -> tuple[str, str]:
    """Display name and address of a From setting; the name may hold any characters, commas and brackets too."""
    name, bracket, rest = value.rpartition("<")
    if bracket and rest.rstrip().endswith(">"):
        return name.strip(), rest.rstrip()[:-1].strip()
    return "", parseaddr(value)[1]


def load_settings() -> Settings:
    """The settings of this process.

    Raises:
        SettingsError: one line per missing, malformed or unsafe setting.
    """
    try:
        settings = Settings(_secrets_dir=_secrets_folder())
    except ValidationError as error:
        raise SettingsError([_line(dict(fault)) for fault in error.errors()]) from error
    if faults := unsafe(settings):
        raise SettingsError(faults)
    return settings


def _secrets_folder() -> Path | None:
    """Where settings lie as files of their names, as containers get their secrets; the environment comes first."""
    folder = Path(os.environ.get(SECRETS_DIR, "/run/secrets"))
    return folder if folder.is_dir() else None


def _line(fault: dict[str, object]) -> str:
    place = fault["loc"]
    first = str(place[0]) if isinstance(place, tuple) and place else "settings"
    name = "PORT" if first == "PORT" else f"{PREFIX}{first.upper()}"
    words = str(fault["msg"]).removeprefix("Value error, ")
    value = "" if first in SECRETS else f" {shown(fault['input'])}"
    return f"{name}:{value} {words}"


def unsafe(settings: Settings) -> list[str]:
    """What would make these settings fail or harm readers; one line each."""
    faults = settings.signing_faults(split_sender(settings.sender)[1].rpartition("@")[2]) + settings.telling_faults()
    carriers = (settings.provider, settings.fallback_provider)
    if settings.provider == settings.fallback_provider:
        faults.append(f"DIGEST_FALLBACK_PROVIDER: {settings.provider} is the provider itself; name the other or none")
    if "smtp" in carriers and not settings.smtp_url.get_secret_value():
        faults.append("DIGEST_SMTP_URL: missing; provider smtp needs smtp://user:pass@host:port")
    if "sendgrid" in carriers and not settings.sendgrid_api_key.get_secret_value():
        faults.append("DIGEST_SENDGRID_API_KEY: missing; provider sendgrid needs one")
    if settings.count_opens and "sendgrid" not in carriers:
        faults.append("DIGEST_COUNT_OPENS: only SendGrid can count openings; unset it or use provider sendgrid")
    faults += settings.chat_faults(LOOPBACK_HOSTS) + settings.door_faults()
    return faults + (_unsafe_in_public(settings) if settings.is_public else [])


def _unsafe_in_public(settings: Settings) -> list[str]:
    faults = []
    if settings.provider == "outbox":
        faults.append("DIGEST_PROVIDER: outbox mails nobody; a public DIGEST_BASE_URL needs smtp or sendgrid")
    faults += [
        f"DIGEST_SECRET_KEYS: key {number} is shorter than {SHORTEST_SECRET} characters; make one with a generator"
        for number, key in enumerate(settings.secret_keys, 1)
        if len(key.get_secret_value()) < SHORTEST_SECRET
    ]
    if not settings.secret_keys:
        faults.append("DIGEST_SECRET_KEYS: missing; a public site needs its own, at least 16 characters")
    if settings.postal_address == DEVELOPMENT_POSTAL_ADDRESS:
        faults.append("DIGEST_POSTAL_ADDRESS: missing; the law asks for it in every brief")
    if split_sender(settings.sender)[1].endswith("localhost.localdomain"):
        faults.append("DIGEST_SENDER: missing; readers and mail servers must see who writes")
    if settings.base_url.startswith("http://"):
        faults.append("DIGEST_BASE_URL: must be https; one-click unsubscribe does not work over http (RFC 8058)")
    return faults


def secret_keys(settings: Settings, folder: Path) -> list[str]:
    """The signing keys, newest first; without any set, one that is made once and kept in ``folder``."""
    if settings.secret_keys:
        return [key.get_secret_value() for key in settings.secret_keys]
    kept = folder / "secret_key"
    if not kept.exists():
        _make_key(kept)
    return [kept.read_text(encoding="ascii")]


def _make_key(place: Path) -> None:
    """Keep a new key at ``place``, whole or not at all; of two processes that start at once the first one's stays."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=place.parent, encoding="ascii") as file:
        file.write(secrets.token_urlsafe(32))
        file.flush()
        with suppress(FileExistsError):
            place.hardlink_to(file.name)
