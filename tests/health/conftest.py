"""The service as its operator sees it: what the doctor, ``/readyz`` and ``/metrics`` say at one moment."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from digest.bootstrap import Application, build
from digest.health.examine import examine, look_here
from digest.health.watch import watch
from digest.ports import Provider
from digest.settings import Settings
from digest.steps.take_turn import Turn, take_turn
from digest.web.app import create_app
from tests.steps.world import World

KEY = "9fJ2kq8xZr4vLw7nTb1cYs6h"
"""Long and nobody's word."""


@dataclass
class House:
    """An application and the instant at which it is looked at.

    Attributes:
        now: what the clocks of its processes say.
    """

    application: Application
    now: datetime

    @property
    def world(self) -> World:
        """The list, the stories and the ledger."""
        own = self.application
        return World(own.sessions, own.press, own.mail, own.settings.policy)  # type: ignore[arg-type] # any provider

    @cached_property
    def client(self) -> TestClient:
        return TestClient(create_app(self.application, lambda _: None, lambda: self.now), base_url="http://testserver")

    def later(self, **by: float) -> None:
        self.now += timedelta(**by)

    def turn(self) -> Turn:
        """One turn of the scheduler with everything due."""
        own = self.application
        return take_turn(own.sessions, own.provider, own.press, own.settings.policy, self.now, own.witness)

    def watch(self) -> None:
        """The workers' look after the service, all of it."""
        self.later(minutes=11)
        watch(self.application, self.now)
        self.later(minutes=-11)

    def doctor(self) -> dict[str, tuple[str, str]]:
        """What ``digest doctor`` says: check -> state and words."""
        return {one.check: (one.state.value, one.words) for one in examine(self.application, self.now)}

    def here(self) -> dict[str, tuple[str, str]]:
        """Those of its checks that ask nobody outside."""
        return {one.check: (one.state.value, one.words) for one in look_here(self.application, self.now)}

    def readyz(self) -> dict[str, Any]:
        """The document, with ``code`` and ``problems`` by check."""
        answer = self.client.get("/readyz")
        document: dict[str, Any] = answer.json()
        problems = {one["check"]: one["words"] for one in document.get("problems", [])}
        return document | {"code": answer.status_code, "problems": problems}

    def today(self, language: str = "en") -> str:
        """The words of the staff's first page."""
        place = f"/admin?lang={language}"
        page = self.client.get(place, follow_redirects=False)
        if page.is_redirect:
            page = self.client.post(f"/admin/login?lang={language}", data={"token": KEY}, follow_redirects=False)
        if page.is_redirect:
            page = self.client.get(place, follow_redirects=False)
        assert page.status_code in {200, 503}
        return unescape(page.text)

    def metrics(self) -> dict[str, float]:
        """Every sample as ``name{label="value"}`` without the process's own."""
        text = self.client.get("/metrics").text
        samples = [one for family in text_string_to_metric_families(text) for one in family.samples]
        return {_name(one.name, one.labels): one.value for one in samples if one.name.startswith("digest_")}


def _name(name: str, labels: dict[str, str]) -> str:
    inside = ",".join(f"{label}={value}" for label, value in sorted(labels.items()))
    return f"{name}{{{inside}}}" if inside else name


Build = Callable[..., House]


@pytest.fixture
def build_house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Build]:
    """Builds an application over a migrated database; settings may be given, and a provider."""
    built: list[Application] = []
    monkeypatch.chdir(tmp_path)

    def make(
        database_url: str,
        now: datetime | None = None,
        carrier: Provider | None = None,
        **more: Any,  # noqa: ANN401 - settings
    ) -> House:
        values: dict[str, Any] = {"base_url": "http://testserver", "tzdata_url": ""}
        values |= {"secret_keys": [KEY], "admin_token": KEY}
        values |= {"outbox_dir": tmp_path / "outbox"} | more
        application = build(Settings(_env_file=None, database_url=database_url, **values), carrier)
        built.append(application)
        return House(application, now or datetime.now(UTC))

    yield make
    for application in built:
        application.close()
