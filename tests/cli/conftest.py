"""Commands run in process, over a database of the test's own, at a moment that tests choose."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import time_machine

from tests.cli.terminal import Terminal, forget_settings

NOW = datetime(2026, 12, 2, 3, 0, tzinfo=UTC)
"""11:00 in Shanghai."""


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """The clock that commands read; it stands until moved."""
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


def _terminal(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    forget_settings(monkeypatch)
    monkeypatch.chdir(tmp_path)
    terminal = Terminal(tmp_path, url, monkeypatch, capsys)
    terminal.set(database_url=url, secret_keys="a-test-key-of-enough-length", outbox_dir=tmp_path / "outbox")
    return terminal


@pytest.fixture
def terminal(
    tmp_path: Path,
    sqlite_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    clock: time_machine.Traveller,  # noqa: ARG001 - it stands still
) -> Terminal:
    """A terminal over a migrated SQLite database."""
    return _terminal(tmp_path, sqlite_url, monkeypatch, capsys)


@pytest.fixture
def either_terminal(
    tmp_path: Path,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    clock: time_machine.Traveller,  # noqa: ARG001 - it stands still
) -> Terminal:
    """A terminal over a migrated database, on SQLite and on PostgreSQL."""
    return _terminal(tmp_path, database_url, monkeypatch, capsys)


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, postgres_server: str, redis_server: str) -> None:
    """A database server and a broker, configured, in an empty folder; the clock goes on."""
    forget_settings(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIGEST_DATABASE_URL", postgres_server)
    monkeypatch.setenv("DIGEST_BROKER_URL", f"{redis_server}/9")
