"""What a brief depends on, looked at from here. Sends nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryFile

import dns.exception
import dns.resolver
import redis
from sqlalchemy.exc import SQLAlchemyError

from digest.bootstrap import Application, broker_fault
from digest.domain.schedule import is_known_zone
from digest.settings import split_sender
from digest.store.cadences import all_cadences
from digest.store.database import current_revision, newest_revision
from digest.store.sending import is_paused
from digest.store.tables import Switch
from digest.store.turns import TICKED

SYSTEM_ZONES = Path("/usr/share/zoneinfo/tzdata.zi")
SILENT_AFTER = timedelta(minutes=2)
DNS_SECONDS = 5.0


class State(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check, its state and what to know or do."""

    check: str
    state: State
    words: str

    @property
    def stops(self) -> bool:
        """Whether it would stop a brief."""
        return self.state is State.FAULT


def examine(app: Application, now: datetime) -> list[Finding]:
    """Every check; those that need the database only where it can be reached."""
    database = _database(app)
    findings = [database, _time_zones(), _broker(app), _provider(app)]
    if not database.stops:
        findings += [_scheduler(app, now), _switch(app), _zones_of_list(app)]
    return findings + (_sender_domain(app) if app.settings.is_public else [])


def _database(app: Application) -> Finding:
    try:
        revision = current_revision(app.engine)
    except SQLAlchemyError as error:
        return Finding("database", State.FAULT, f"can't be reached: {type(error).__name__}")
    if revision != newest_revision():
        return Finding("database", State.FAULT, f"schema {revision or 'none'}: run digest migrate")
    return Finding("database", State.OK, f"{app.engine.dialect.name}, schema {revision}")


def _time_zones() -> Finding:
    """The package is what counts; a newer copy in the system says that it is time to upgrade."""
    ours = files("tzdata").joinpath("zoneinfo/tzdata.zi").read_text(encoding="ascii").partition("\n")[0].split()[-1]
    system = SYSTEM_ZONES.read_text(encoding="ascii").partition("\n")[0].split()[-1] if SYSTEM_ZONES.exists() else ""
    if system > ours:
        return Finding("tzdata", State.WARNING, f"{ours} in use; the system has {system}: upgrade the package tzdata")
    return Finding("tzdata", State.OK, f"{ours} from the package; the system's {system or 'none'} is not used")


def _broker(app: Application) -> Finding:
    fault = broker_fault(app.settings)
    if fault:
        return Finding("broker", State.FAULT, f"can't be reached: {fault}")
    if app.settings.broker_url.startswith("memory:"):
        return Finding("broker", State.OK, "in this process")
    word = _eviction(app.settings.broker_url)
    if word not in {"", "noeviction"}:
        return Finding("broker", State.WARNING, f"maxmemory-policy {word} may drop tasks: set noeviction")
    return Finding("broker", State.OK, "answers")


def _eviction(url: str) -> str:
    """What the broker does when memory runs out; empty where it does not say."""
    try:
        with redis.Redis.from_url(url, socket_timeout=DNS_SECONDS, socket_connect_timeout=DNS_SECONDS) as client:
            policy = client.config_get("maxmemory-policy")
    except redis.RedisError:
        return ""
    return str(policy.get("maxmemory-policy", "")) if isinstance(policy, dict) else ""


def _unwritable(folder: Path) -> str:
    """Why nothing can be kept in the folder; empty when it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or type(error).__name__


def _provider(app: Application) -> Finding:
    if app.provider.name == "outbox":
        fault = _unwritable(app.settings.outbox_dir)
        if fault:
            return Finding("provider", State.FAULT, f"outbox: {app.settings.outbox_dir} can't be written to: {fault}")
        return Finding("provider", State.WARNING, f"outbox: messages are kept in {app.settings.outbox_dir}, not sent")
    return Finding("provider", State.OK, f"{app.provider.name} is set up; its credentials are tried at the first send")


def _scheduler(app: Application, now: datetime) -> Finding:
    with app.sessions() as session:
        mark = session.get(Switch, TICKED)
    if mark is None or now - mark.changed_at > SILENT_AFTER:
        when = mark.changed_at.isoformat(timespec="seconds") if mark else "never"
        return Finding("scheduler", State.WARNING, f"last tick: {when}; start digest run, or beat and a worker")
    return Finding("scheduler", State.OK, "ticks")


def _switch(app: Application) -> Finding:
    with app.sessions() as session:
        paused = is_paused(session)
    words = "paused: digest deliveries resume" if paused else "on"
    return Finding("sending switch", State.FAULT if paused else State.OK, words)


def _zones_of_list(app: Application) -> Finding:
    with app.sessions() as session:
        unknown = sorted({row.timezone for row in all_cadences(session) if not is_known_zone(row.timezone)})
    if unknown:
        return Finding("zones of the list", State.FAULT, f"no rules, so no brief: {', '.join(unknown)}")
    return Finding("zones of the list", State.OK, "all known")


def _sender_domain(app: Application) -> list[Finding]:
    domain = split_sender(app.settings.sender)[1].rpartition("@")[2]
    return [
        _record("SPF", domain, lambda text: text.startswith("v=spf1")),
        _record("DMARC", f"_dmarc.{domain}", lambda text: text.startswith("v=DMARC1")),
    ]


def _record(name: str, domain: str, fits: Callable[[str], bool]) -> Finding:
    try:
        answer = dns.resolver.resolve(domain, "TXT", lifetime=DNS_SECONDS)
    except dns.exception.DNSException as error:
        return Finding(name, State.WARNING, f"no answer for {domain}: {type(error).__name__}")
    texts = [b"".join(record.strings).decode("utf-8", "replace") for record in answer]
    if not any(fits(text) for text in texts):
        return Finding(name, State.WARNING, f"{domain} has no {name} record; mailbox providers will refuse bulk mail")
    return Finding(name, State.OK, domain)
