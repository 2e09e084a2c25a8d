"""The site by several processes on one port."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from tests.servers import free_port
from tests.workers.waiting import eventually

DIGEST = Path(sys.executable).with_name("digest")
ANSWERED = re.compile(r'^digest_web_seconds_count\{method="GET",route="/healthz",status="2xx"\} (\d+)', re.MULTILINE)
REQUESTS = 12


@pytest.fixture
def site(sqlite_url: str, redis_url: str, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Two processes and the one that keeps them; and where they answer."""
    port = free_port()
    settings = {
        "DIGEST_DATABASE_URL": sqlite_url,
        "DIGEST_BROKER_URL": redis_url,
        "DIGEST_SECRET_KEYS": "a-test-key-of-enough-length",
    }
    command = [DIGEST, "web", "--processes", "2", "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        keeper = subprocess.Popen(command, cwd=tmp_path, env=os.environ | settings, stdout=log, stderr=log)  # noqa: S603 - our own program
    try:
        yield keeper, f"http://127.0.0.1:{port}"
    finally:
        if keeper.poll() is None:
            for pid in children(keeper.pid):
                os.kill(pid, signal.SIGKILL)
            keeper.kill()
            keeper.wait()


def children(pid: int) -> set[int]:
    """The processes that serve: children of a keeper, without the one that only counts its shared things."""
    ids = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {int(one) for one in ids if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()}


def is_running(pid: int) -> bool:
    """Whether it is there and not only its exit code, which may be nobody's to read."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def is_up(url: str) -> bool:
    with suppress(httpx2.TransportError):
        return httpx2.get(f"{url}/healthz").is_success
    return False


@pytest.mark.parametrize(("told", "code"), [(signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)])
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes as Linux shows them")
def test_several_processes_count_together_and_none_outlives_the_one_that_keeps_them(
    site: tuple[subprocess.Popen[bytes], str], told: signal.Signals, code: int
) -> None:
    keeper, url = site
    eventually(lambda: is_up(url) and len(children(keeper.pid)) == 2)
    before = counted(url)
    for _ in range(REQUESTS):
        assert httpx2.get(f"{url}/healthz").is_success
    assert {counted(url) for _ in range(4)} == {before + REQUESTS}
    serving = children(keeper.pid)
    keeper.send_signal(told)
    assert keeper.wait(60) == code
    eventually(lambda: not any(is_running(pid) for pid in serving))


def counted(url: str) -> int:
    found = ANSWERED.search(httpx2.get(f"{url}/metrics").text)
    return int(float(found[1])) if found else 0
