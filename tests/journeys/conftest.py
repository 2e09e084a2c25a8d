"""The whole product in one process, on SQLite and on PostgreSQL, with a mailbox in a folder and a clock that moves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from digest.bootstrap import build
from digest.settings import Settings
from tests.journeys.product import BASE_URL, SIGN_UP_AT, Product


@pytest.fixture
def product(database_url: str, tmp_path: Path) -> Iterator[Product]:
    """The product before anyone has signed up."""
    settings = Settings(
        _env_file=None,
        database_url=database_url,
        outbox_dir=tmp_path / "outbox",
        base_url=BASE_URL,
        secret_keys=["a-test-key-of-enough-length"],
    )
    application = build(settings)
    yield Product(application, SIGN_UP_AT)
    application.close()
