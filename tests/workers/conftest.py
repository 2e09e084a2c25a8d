"""The workers' room over a real broker and PostgreSQL, with a provider that records and a clock that tests set."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import redis

from digest.bootstrap import build
from digest.settings import Settings
from tests.steps.recording import RecordingProvider
from tests.steps.world import utc
from tests.workers.staff import Staff
from workers.celery_app import create_celery
from workers.runtime import Runtime

SEND_AT = utc("2027-06-10T00:00")
"""08:00 in Shanghai."""
KEY = "a-test-key-of-enough-length"


@pytest.fixture
def staff(postgres_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Staff]:
    """The application at the send instant of Shanghai; nobody works yet."""
    with hired(postgres_url, redis_url, monkeypatch) as staff:
        yield staff


@contextmanager
def hired(postgres_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch, **more: object) -> Iterator[Staff]:
    """Staff over these servers, with more settings."""
    settings = Settings(
        _env_file=None,
        database_url=postgres_url,
        broker_url=redis_url,
        base_url="https://brief.example.com",
        secret_keys=[KEY],
        **more,
    )
    provider = RecordingProvider()
    application = build(settings, provider)
    celery = create_celery(settings, Runtime(settings, application))
    with redis.Redis.from_url(redis_url) as broker:
        staff = Staff(application, celery, broker, provider, SEND_AT)
        for module in ("workers.tasks", "workers.writing"):
            monkeypatch.setattr(f"{module}.utc_now", lambda: staff.now)
        yield staff
    celery.close()
    application.close()
