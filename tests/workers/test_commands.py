"""``digest worker`` and ``digest beat`` refuse what cannot work, with one line."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from digest.main import app, run_command
from tests.servers import free_port


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        run_command(arguments, app)
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    return str(line)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIGEST_SECRET_KEYS", "a-test-key-of-enough-length")
    before = structlog.get_config()
    yield
    # A command points the log at the standard error of this test, which is closed in the next one.
    structlog.configure(**before)


@pytest.mark.parametrize("command", ["worker", "beat"])
def test_the_in_process_broker_reaches_no_other_process(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("DIGEST_BROKER_URL", "memory://")
    line = refused(capsys, command)
    assert line.startswith("digest: DIGEST_BROKER_URL: memory://")
    assert "digest run" in line


def test_a_queue_that_does_not_exist_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIGEST_BROKER_URL", f"redis://127.0.0.1:{free_port()}/0")
    line = refused(capsys, "worker", "--queues", "letters,post")
    assert "post is not a queue" in line
    assert "compile" in line


def test_a_port_that_is_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert "“http”" in refused(capsys, "run", "--port", "http")


def test_several_web_processes_need_a_broker_that_counts_for_all(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIGEST_BROKER_URL", "memory://")
    line = refused(capsys, "web", "--processes", "2")
    assert "--processes" in line
    assert "redis://" in line
