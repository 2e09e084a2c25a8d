"""``digest worker`` and ``digest beat`` refuse what cannot work, with one line."""

import pytest

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
def elsewhere(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(str(tmp_path))
    monkeypatch.setenv("DIGEST_SECRET_KEYS", "a-test-key-of-enough-length")


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
