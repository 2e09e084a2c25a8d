"""A site over a database of its own, with the bundled stories, a mailbox in a folder, and a clock that tests set."""

import re
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from functools import cached_property
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from digest.bootstrap import Application, build
from digest.domain.language import Language, language_choice
from digest.domain.schedule import Cadence
from digest.domain.subscriber import SubscriberState
from digest.settings import Settings
from digest.sources.story_file import bundled_stories
from digest.steps.collect_stories import import_stories
from digest.steps.manage_subscriptions import confirm
from digest.steps.request_subscriptions import Request, request_subscription
from digest.steps.take_turn import take_turn
from digest.store.subscribers import find
from digest.store.tables import Consent, Letter, Story, Subscriber, Switch
from digest.web.app import create_app

NOW = datetime(2026, 12, 2, 3, 0, tzinfo=UTC)
KEY = "a-test-key-of-enough-length"


@dataclass
class Site:
    """The site under test, with what a test wants to know of its state."""

    application: Application
    now: datetime = NOW
    nudged: list[int] = field(default_factory=list)

    def client(self, **headers: str) -> TestClient:
        return TestClient(self.app, base_url="http://testserver", headers=headers, follow_redirects=False)

    @cached_property
    def app(self) -> FastAPI:
        return create_app(self.application, self.nudged.extend, lambda: self.now)

    def later(self, **by: float) -> None:
        self.now += timedelta(**by)

    def subscriber(self, address: str) -> Subscriber | None:
        with self.application.sessions() as session:
            return find(session, address)

    def count(self, table: type[Subscriber] | type[Consent] | type[Letter]) -> int:
        with self.application.sessions() as session:
            return session.scalar(select(func.count()).select_from(table)) or 0

    def letters(self) -> list[str]:
        with self.application.sessions() as session:
            return list(session.scalars(select(Letter.kind).order_by(Letter.id)))

    def confirm_path(self, consent_id: int | None = None) -> str:
        with self.application.sessions() as session:
            newest = session.scalars(select(Consent).order_by(Consent.id.desc()).limit(1)).one()
            consent = session.get_one(Consent, consent_id) if consent_id else newest
        return self.path(self.application.links.confirm(consent.id, consent.requested_at))

    def unsubscribe_path(self, subscriber_id: int) -> str:
        return self.path(self.application.links.unsubscribe(subscriber_id))

    def preferences_path(self, subscriber_id: int) -> str:
        return self.path(self.application.links.preferences(subscriber_id))

    def path(self, url: str) -> str:
        return url.removeprefix(self.application.links.base_url)

    def active(
        self, address: str = "reader@example.com", language: Language = Language.ENGLISH, zone: str = "Asia/Shanghai"
    ) -> int:
        """A reader who signed up and confirmed; returns the subscriber's id."""
        request = Request(address, language_choice(language), Cadence(zone, time(8)))
        request_subscription(self.application.sessions, request, [], self.now)
        with self.application.sessions() as session:
            consent_id = session.scalars(select(Consent.id).order_by(Consent.id.desc()).limit(1)).one()
        found = confirm(self.application.sessions, consent_id, self.now)
        assert found.reader is not None
        return found.reader.id

    def state(self, subscriber_id: int) -> SubscriberState:
        with self.application.sessions() as session:
            return session.get_one(Subscriber, subscriber_id).state

    def turn(self) -> None:
        """What scheduler and workers do at this moment, with the real steps and the outbox."""
        own = self.application
        take_turn(own.sessions, own.provider, own.press, own.settings.policy, self.now)

    def tick(self) -> None:
        with self.application.sessions.begin() as session:
            session.merge(Switch(name="ticked", value="", changed_at=self.now))


Make = Callable[..., Site]


def open_site(url: str, folder: Path, **settings: object) -> Site:
    """A site over the migrated database at ``url``; whoever opens it closes its application."""
    values = {
        "database_url": url,
        "outbox_dir": folder / "outbox",
        "base_url": "http://testserver",
        "secret_keys": [KEY],
        **settings,
    }
    return Site(build(Settings(_env_file=None, **values)))


def copied(template: Path, folder: Path) -> str:
    """The address of a copy of a migrated database, for a site that several tests share."""
    return f"sqlite:///{shutil.copy(template, folder / 'site.db')}"


@pytest.fixture
def make_site(tmp_path: Path, sqlite_url: str) -> Iterator[Make]:
    """Builds a site; settings may be given."""
    made: list[Application] = []

    def make(**settings: object) -> Site:
        site = open_site(sqlite_url, tmp_path, **settings)
        made.append(site.application)
        return site

    yield make
    for application in made:
        application.close()


@pytest.fixture
def site(make_site: Make) -> Site:
    return make_site()


@pytest.fixture(scope="session")
def stocked_template(sqlite_template: Path) -> Path:
    """A SQLite file with the bundled stories, which is copied for each test."""
    path = Path(shutil.copy(sqlite_template, sqlite_template.with_name("stocked.db")))
    with closing(build(Settings(_env_file=None, database_url=f"sqlite:///{path}", secret_keys=[KEY]))) as application:
        stock(Site(application))
    return path


@pytest.fixture
def stocked(make_site: Make, stocked_template: Path, sqlite_url: str) -> Site:
    shutil.copy(stocked_template, sqlite_url.removeprefix("sqlite:///"))
    return make_site()


BLOG = "https://blog.example.com"
EVENINGS = (datetime(2026, 11, 29, 23, 55, tzinfo=UTC), datetime(2026, 12, 1, 23, 55, tzinfo=UTC))
"""Five minutes before two mornings in Shanghai, of two months."""


@pytest.fixture(scope="session")
def library(stocked_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site two mornings old, in both languages, for tests that only read; pages of :data:`BLOG` may call its API."""
    folder = tmp_path_factory.mktemp("library")
    site = open_site(copied(stocked_template, folder), folder, embed_origins=[BLOG])
    with closing(site.application) as application:
        with application.sessions.begin() as session:
            for number, story in enumerate(session.scalars(select(Story).order_by(Story.id))):
                story.enters_at = EVENINGS[number % 2] - timedelta(hours=1 + number)
        site.now = EVENINGS[0] - timedelta(days=1)
        for language in Language:
            site.active(f"{language}@example.com", language)
        for evening in EVENINGS:
            site.now = evening
            site.turn()
            site.later(minutes=5)
            site.turn()
        site.now = NOW
        yield site


def stock(site: Site) -> Site:
    """The site with the bundled stories."""
    application = site.application
    import_stories(application.sessions, application.editor, bundled_stories(), NOW, enters=NOW)
    return site


@pytest.fixture
def unused_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def links_in(html: str) -> list[str]:
    """Every address that a page refers to."""
    return re.findall(r'(?:href|src|action)="([^"]*)"', html)
