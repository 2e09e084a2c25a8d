"""One installation for a run: servers, provider, settings, list and stories, up to the moment before the morning."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from zoneinfo import ZoneInfo

import httpx2

from digest.bootstrap import Application, build
from digest.domain.language import Language
from digest.domain.schedule import EVERY_DAY, Cadence, next_send
from digest.domain.story import Story, StoryText
from digest.settings import Settings
from digest.steps.collect_stories import import_stories
from digest.steps.import_subscribers import Defaults, import_subscribers
from tests.faults.events import Reporter
from tests.faults.options import Options
from tests.faults.processes import DIGEST, Crew
from tests.faults.provider import FaultyProvider
from tests.faults.servers import Broker, Database
from tests.servers import free_port

KEY = "a-test-key-of-enough-length"
ZONES = ("UTC", "Asia/Shanghai", "America/New_York", "Asia/Kathmandu", "Pacific/Kiritimati", "Australia/Lord_Howe")
"""Whole hours, halves and quarters, on both sides of the date line."""
MINUTE = timedelta(minutes=1)


@dataclass
class Installation:
    """Everything a run works with."""

    options: Options
    folder: Path
    database: Database
    broker: Broker
    provider: FaultyProvider
    reporter: Reporter
    application: Application
    crew: Crew
    began_at: datetime

    def post(self, path: str, content: bytes, headers: Mapping[str, str]) -> httpx2.Response:
        """A POST to the web page's process."""
        return httpx2.post(f"{self.application.settings.base_url}{path}", content=content, headers=headers, timeout=60)

    def fill(self, send_at: datetime, topics: Sequence[str] = ("",)) -> None:
        """Stories and subscribers who are due at ``send_at``, spread over zones, languages and topics."""
        now, app = datetime.now(UTC), self.application
        for topic in dict.fromkeys(topics):
            story = _story(topic, send_at - timedelta(hours=2))
            import_stories(app.sessions, app.editor, [story], now, enters=send_at - timedelta(hours=2))
        rows = enumerate(_rows(self.options.subscribers, send_at, topics))
        imported = import_subscribers(app.sessions, rows, Defaults(Language.ENGLISH, "UTC"), lambda _: [], now)
        assert imported.new == self.options.subscribers, imported.refused

    def start(self, *, beats: int = 2, web: bool = True) -> None:
        """Workers, schedulers and the web page."""
        for number in range(self.options.workers):
            self.start_worker(number)
        for number in range(beats):
            self.crew.start(f"beat{number}", "beat")
        if web:
            self.crew.start("web", "web")

    def start_worker(self, number: int) -> None:
        """One worker as in production."""
        self.crew.start(f"worker{number}", "worker", "--concurrency", str(self.options.concurrency))

    def prepare(self, ahead: timedelta, topics: Sequence[str] = ("",)) -> None:
        """Choose the send instant and fill the list for it; to be done before a scheduler could plan half of it."""
        self.began_at = self.send_at(ahead)
        self.fill(self.began_at, topics)

    def send_at(self, ahead: timedelta) -> datetime:
        """The next whole minute at least ``ahead`` from now; the last one where the next is too far away."""
        now = datetime.now(UTC)
        upcoming = (now + ahead).replace(second=0, microsecond=0) + MINUTE
        return (
            upcoming if (upcoming - now).total_seconds() <= self.options.wait else now.replace(second=0, microsecond=0)
        )


@contextmanager
def installation(
    options: Options, database: Database, broker: Broker, program: Sequence[str] = DIGEST
) -> Iterator[Installation]:
    """An installation without a list yet and without a running part; what it starts ends with the block."""
    with ExitStack() as stack:
        folder = Path(mkdtemp(prefix="faults-"))
        stack.callback(rmtree, folder, ignore_errors=True)
        provider = stack.enter_context(FaultyProvider(options))
        reporter = Reporter(options.seed)
        values = _settings(options, database.address, broker.url, provider.host, reporter.public_key)
        settings = Settings(_env_file=None, **{_field(name): value for name, value in values.items()})
        application = build(settings)
        stack.callback(application.close)
        crew = Crew(folder, values, program)
        stack.callback(crew.end)
        yield Installation(options, folder, database, broker, provider, reporter, application, crew, datetime.now(UTC))


def _field(name: str) -> str:
    return name if name == "PORT" else name.removeprefix("DIGEST_").lower()


def _settings(options: Options, database: str, broker: str, provider: str, public_key: str) -> dict[str, str]:
    port = str(free_port())
    return {
        "DIGEST_DATABASE_URL": database,
        "DIGEST_BROKER_URL": broker,
        "DIGEST_PROVIDER": "sendgrid",
        "DIGEST_SENDGRID_API_KEY": "SG.test-key",
        "DIGEST_SENDGRID_HOST": provider,
        "DIGEST_SENDGRID_WEBHOOK_PUBLIC_KEY": public_key,
        "DIGEST_SECRET_KEYS": KEY,
        "DIGEST_SENDER": "The Daily Brief <brief@example.com>",
        "DIGEST_BASE_URL": f"http://127.0.0.1:{port}",
        "DIGEST_LEAD_MINUTES": "0",
        "DIGEST_TICK_SECONDS": "1",
        "DIGEST_LEASE_SECONDS": str(options.lease),
        "DIGEST_NUDGE_SECONDS": str(options.nudge),
        "DIGEST_SETTLE_SECONDS": str(options.settle),
        "DIGEST_BATCH_SIZE": str(options.batch_size),
        "PORT": port,
    }


def _story(topic: str, at: datetime) -> Story:
    texts = {tongue: StoryText(f"News {topic}", quick_answer="It happened.") for tongue in Language}
    url = f"https://news.example.com/{secrets.token_hex(4)}"
    return Story(url, "Example News", Language.ENGLISH, at, texts, (topic,) if topic else ())


def _rows(subscribers: int, send_at: datetime, topics: Sequence[str]) -> Iterator[dict[str, str]]:
    cadences = _cadences(send_at)
    for number in range(subscribers):
        cadence = cadences[number % len(cadences)]
        yield {
            "email": f"reader{number}@example.com",
            "language": ("en", "zh")[number % 2],
            "timezone": cadence.timezone,
            "time": f"{cadence.at:%H:%M}",
            "topics": topics[number % len(topics)],
            "status": "active",
            "consent_source": "test list",
        }


def _cadences(send_at: datetime) -> list[Cadence]:
    """The zones with the local time of that instant, where the schedule's rules lead back to it."""
    just_before = send_at - timedelta(seconds=1)
    found = [Cadence(zone, send_at.astimezone(ZoneInfo(zone)).time(), EVERY_DAY) for zone in ZONES]
    return [one for one in found if next_send(one, just_before).at == send_at]
