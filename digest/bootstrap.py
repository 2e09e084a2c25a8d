"""Settings -> wired application: the only place that picks adapters."""

from dataclasses import dataclass
from datetime import timedelta
from hmac import digest
from pathlib import Path
from time import monotonic

import redis
from sqlalchemy import Engine

from digest.domain.address import address_key
from digest.domain.ceilings import parse_ceilings
from digest.editors.chat import ChatWriter
from digest.editors.chat_service import ChatService
from digest.editors.extractive import ExtractiveEditor
from digest.editors.terms import read_glossary
from digest.links import Links
from digest.ports import Account, Count, Editor, Fetcher, PageReader, Provider, Sender, Teller, Witness, Writer
from digest.providers.ceilings import Ceilings, PacedProvider, shared_counters
from digest.providers.challenge import Challenge
from digest.providers.counted import CountedProvider
from digest.providers.dkim import Signer
from digest.providers.fallback import Fallback
from digest.providers.outbox import FolderMailbox, OutboxProvider
from digest.providers.return_path import ReturnPath
from digest.providers.sendgrid import SendGridProvider
from digest.providers.sendgrid_account import SendGridAccount
from digest.providers.sendgrid_events import PROVIDER as SENDGRID
from digest.providers.sendgrid_events import parse_events
from digest.providers.smtp import SmtpProvider
from digest.providers.waits import shared_waits
from digest.publisher_settings import (
    CHINESE_DEVELOPMENT_POSTAL_ADDRESS,
    CHINESE_SITE_NAME,
    DEVELOPMENT_POSTAL_ADDRESS,
    SITE_NAME,
)
from digest.rendering.site import Site
from digest.rendering.templates import Templates
from digest.settings import Settings, secret_keys, split_sender
from digest.sources.fetch import ROBOT, WebFetcher
from digest.sources.matching import TitleMatcher
from digest.sources.pages import WebPages
from digest.sources.parse import parse_feed
from digest.sources.robots import Robots
from digest.sources.side_processes import SideProcesses, spare_cores
from digest.steps.collect_stories import Desk
from digest.steps.compile_briefs import Press
from digest.steps.count_answers import counting_in
from digest.steps.record_posts import Readers
from digest.steps.write_stories import WritersDesk
from digest.store.database import Sessions, open_engine, open_sessions
from digest.teller import WebTeller
from digest.witness import FileWitness, RedisWitness

BROKER_SECONDS = 3.0
"""How long a look at the broker may take."""
EVENT_READERS: Readers = {SENDGRID: parse_events}
"""Which posts of provider events can be read, and by what."""
EMAILS = Path(__file__).parents[1] / "emails"
STATE = Path("var")
"""Where an installation without a database server keeps what it must not forget."""


@dataclass(frozen=True, slots=True)
class Application:
    """Everything the edges need, wired once per process."""

    settings: Settings
    engine: Engine
    sessions: Sessions
    links: Links
    site: Site
    templates: Templates
    mail: Provider | Fallback
    editor: Editor
    writer: Writer | None
    fetcher: Fetcher
    pages: PageReader
    witness: Witness
    teller: Teller
    challenge: Challenge | None = None

    @property
    def provider(self) -> Provider:
        """Who carries the next hand-over; ask anew for every one."""
        return self.mail.in_charge() if isinstance(self.mail, Fallback) else self.mail

    @property
    def press(self) -> Press:
        """What compiling and writing letters needs."""
        settings = self.settings
        return Press(self.templates, self.links, self.site, settings.limits, settings.other_language)

    @property
    def desk(self) -> Desk:
        """What collecting needs."""
        return Desk(
            fetcher=self.fetcher,
            parse=parse_feed,
            pages=self.pages,
            matcher=TitleMatcher(),
            editor=self.editor,
            every=timedelta(minutes=self.settings.fetch_minutes),
            spacing=timedelta(seconds=self.settings.host_spacing_seconds),
        )

    @property
    def writers_desk(self) -> WritersDesk | None:
        """What having stories written needs; None where nobody writes."""
        if self.writer is None:
            return None
        return WritersDesk(self.writer, self.settings.chat_daily_tokens, self.settings.chat_at_once)

    def address_hashes(self, address: str) -> list[str]:
        """Keyed hashes of an address under every key still in use, the newest first."""
        key = address_key(address).encode()
        return [digest(secret.encode(), b"address:" + key, "sha256").hex() for secret in self.links.secret_keys]

    @property
    def keeps_records(self) -> str:
        """The provider that keeps records of people and can be asked to erase them; empty where none does."""
        return SENDGRID if SENDGRID in {self.settings.provider, self.settings.fallback_provider} else ""

    def account(self) -> Account | None:
        """That provider's records, for the caller to close; None where nobody keeps any."""
        if not self.keeps_records:
            return None
        return SendGridAccount(self.settings.sendgrid_api_key.get_secret_value(), self.settings.sendgrid_host)

    def close(self) -> None:
        """Let go of connections."""
        self.mail.close()
        self.teller.close()
        if self.writer is not None:
            self.writer.close()
        if self.challenge is not None:
            self.challenge.close()
        self.engine.dispose()


def sender_of(settings: Settings) -> Sender:
    """Who the mail is from; the List-Id lies in the sender's own domain (RFC 2919 §2)."""
    name, address = split_sender(settings.sender)
    domain = address.rpartition("@")[2]
    return Sender(
        name=name or settings.site_name, address=address, list_id=f"brief.{domain}", list_name=settings.site_name
    )


def site_of(settings: Settings) -> Site:
    """The publisher, under the names that readers know."""
    is_unnamed = settings.site_name == SITE_NAME
    is_homeless = settings.postal_address == DEVELOPMENT_POSTAL_ADDRESS
    chinese_address = CHINESE_DEVELOPMENT_POSTAL_ADDRESS if is_homeless else ""
    return Site(
        name=settings.site_name,
        postal_address=settings.postal_address,
        base_url=settings.base_url,
        chinese_name=settings.site_name_zh or (CHINESE_SITE_NAME if is_unnamed else ""),
        logo_url=settings.logo_url,
        chinese_postal_address=settings.postal_address_zh or chinese_address,
        counts_opens=settings.count_opens,
    )


def mail_of(settings: Settings, links: Links, count: Count) -> Provider | Fallback:
    """The provider that the settings name, with the one that takes over where there is one; both under the ceilings.

    What they answer is counted by ``count``.
    """
    ceilings = Ceilings(parse_ceilings(settings.ceilings), shared_counters(settings.broker_url))

    def carrier(name: str) -> Provider:
        provider = CountedProvider(provider_of(settings, name, links), count)
        return PacedProvider(provider, ceilings) if ceilings.ceilings else provider

    first = carrier(settings.provider)
    return Fallback(first, carrier(settings.fallback_provider)) if settings.fallback_provider else first


def provider_of(settings: Settings, name: str, links: Links) -> Provider:
    """The provider of this name."""
    sender = sender_of(settings)
    if name == "smtp":
        return _smtp_provider(settings, sender, links)
    if name == "sendgrid":
        key, waits = settings.sendgrid_api_key.get_secret_value(), shared_waits(settings.broker_url)
        return SendGridProvider(key, settings.sendgrid_host, sender, waits, counts_opens=settings.count_opens)
    return OutboxProvider(sender, FolderMailbox(settings.outbox_dir))


def _smtp_provider(settings: Settings, sender: Sender, links: Links) -> SmtpProvider:
    return_path, key = return_path_of(settings, links), settings.dkim_key.get_secret_value()
    return SmtpProvider(
        settings.smtp_url.get_secret_value(),
        sender,
        messages_per_connection=settings.smtp_messages_per_connection,
        return_path=return_path.for_key if return_path else None,
        sign=Signer(settings.dkim_domain, settings.dkim_selector, key) if settings.dkim_domain else None,
    )


def return_path_of(settings: Settings, links: Links) -> ReturnPath | None:
    """Makes and reads return paths; None where bounces have no mailbox."""
    return ReturnPath(settings.bounce_address, links) if settings.bounce_address else None


def build(settings: Settings, provider: Provider | None = None) -> Application:
    """The application for ``settings``.

    Args:
        settings: as :func:`digest.settings.load_settings` checked them.
        provider: carries the mail instead of the one the settings name (a simulation's).
    """
    engine, links = open_engine(settings.database_url), links_of(settings)
    sessions = open_sessions(engine)
    fetcher = WebFetcher(allow_private=settings.fetch_private_hosts)
    return Application(
        settings=settings,
        engine=engine,
        sessions=sessions,
        links=links,
        site=site_of(settings),
        templates=Templates(EMAILS),
        mail=provider or mail_of(settings, links, counting_in(sessions)),
        editor=ExtractiveEditor(),
        writer=writer_of(settings),
        fetcher=fetcher,
        pages=WebPages(fetcher, Robots(fetcher, ROBOT, monotonic)),
        witness=witness_of(settings),
        teller=WebTeller([secret.get_secret_value() for secret in settings.webhook_secrets]),
        challenge=challenge_of(settings),
    )


def side_processes(*, many: bool) -> SideProcesses:
    """Who reads documents beside this process: as many as it has cores for, or nobody. Asked for before all else."""
    return SideProcesses(spare_cores() if many else 0)


def challenge_of(settings: Settings) -> Challenge | None:
    """Who tells people from programs at sign-up; None where nobody does."""
    if not settings.challenge:
        return None
    secret_key = settings.challenge_secret_key.get_secret_value()
    return Challenge(settings.challenge, settings.challenge_site_key, secret_key, settings.challenge_url)


def witness_of(settings: Settings) -> Witness:
    """Who remembers the scheduler's last turn: the broker, or a file where there is none."""
    if settings.broker_url.startswith("memory:"):
        return FileWitness(STATE / "last_turn.json")
    return RedisWitness(settings.broker_url)


def writer_of(settings: Settings) -> Writer | None:
    """Who writes the texts over the network, where the settings name somebody."""
    if settings.editor != "chat":
        return None
    service = ChatService(
        settings.chat_base_url,
        settings.chat_api_key.get_secret_value(),
        settings.chat_model.strip(),
        seconds=float(settings.chat_seconds),
    )
    return ChatWriter(service, read_glossary(EMAILS / "terms.toml"), takes_schema=settings.chat_format == "json_schema")


def links_of(settings: Settings) -> Links:
    """Makes and reads the site's signed addresses."""
    return Links(settings.base_url, secret_keys(settings, STATE), settings.confirm_for)


def broker_fault(settings: Settings) -> str:
    """Why the broker can't be used now, in a word; empty when it answers or lies in this process."""
    if settings.broker_url.startswith("memory:"):
        return ""
    try:
        with redis.Redis.from_url(
            settings.broker_url, socket_timeout=BROKER_SECONDS, socket_connect_timeout=BROKER_SECONDS
        ) as client:
            client.ping()
    except redis.RedisError as error:
        return type(error).__name__
    return ""
