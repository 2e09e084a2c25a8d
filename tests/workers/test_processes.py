"""The real program: processes of their own over a real broker and PostgreSQL, and everything in one over SQLite."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from select import select

import httpx2
import pytest

from tests.servers import free_port
from tests.workers.composed import Composed, Service, make_secrets
from tests.workers.waiting import eventually
from workers.http_protocol import LONGEST_HEAD

DIGEST = Path(sys.executable).with_name("digest")
ADDRESS = "reader@example.com"
LOOPBACK = "127.0.0.1"
FORM = {"email": ADDRESS, "language": "zh", "timezone": "Asia/Shanghai"}
START_SECONDS = STOP_SECONDS = 90.0
"""For machines that are busy; nothing waits that long when all is well."""


@dataclass
class Program:
    """Processes of the program with their settings, each writing to a log of its own."""

    folder: Path
    settings: dict[str, str]
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def plain(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DIGEST_")}
        return kept | {"PYTHONWARNINGS": "default"}

    @property
    def environment(self) -> dict[str, str]:
        return self.plain | self.settings

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.settings['PORT']}"

    def start(self, *arguments: str) -> None:
        with (self.folder / f"{arguments[0]}.log").open("wb") as log:
            self.running[arguments[0]] = subprocess.Popen(  # noqa: S603 - our own program
                [DIGEST, *arguments], cwd=self.folder, env=self.environment, stdout=log, stderr=log
            )

    def start_service(self, service: Service, here: dict[str, str]) -> None:
        """A service of the compose file as a process, with what differs ``here``."""
        # Every hand of a worker is a process more, and one finds as much as four.
        elsewhere = {"0.0.0.0": LOOPBACK, "2": "1", "4": "1"}  # noqa: S104 - it is replaced
        arguments = [elsewhere.get(one, one) for one in service.command]
        with (self.folder / f"{service.name}.log").open("wb") as log:
            self.running[service.name] = subprocess.Popen(  # noqa: S603 - our own program
                [DIGEST, *arguments],
                cwd=self.folder,
                env=self.plain | service.environment | here,
                stdout=log,
                stderr=log,
            )

    def is_well(self, service: Service, here: dict[str, str], port: str) -> bool:
        """What its health check says; a service without one is well."""
        if not service.check:
            return True
        kind, python, *arguments = service.check
        assert (kind, python) == ("CMD", "python")
        arguments = [one.replace("web:8025", f"{LOOPBACK}:{port}").replace(":8025/", f":{port}/") for one in arguments]
        environment = self.plain | service.environment | here
        ended = subprocess.run(  # noqa: S603 - likewise
            [sys.executable, *arguments], cwd=self.folder, env=environment, check=False, capture_output=True, timeout=60
        )
        return ended.returncode == 0

    def check(self) -> None:
        """Nothing has ended by itself."""
        ended = {name: process.returncode for name, process in self.running.items() if process.poll() is not None}
        assert not ended, self.logs()

    def logs(self) -> str:
        return "\n".join(f"== {log.name}\n{log.read_text(encoding='utf-8')}" for log in self.folder.glob("*.log"))

    def answers(self, path: str) -> bool:
        try:
            return httpx2.get(f"{self.base_url}{path}", timeout=10).status_code == 200
        except httpx2.TransportError:
            return False

    def letter(self, subject: str) -> EmailMessage:
        """The message with these words in its subject, as soon as it is in the outbox."""
        return eventually(lambda: self._letter(subject), alive=self.check, seconds=START_SECONDS)

    def _letter(self, subject: str) -> EmailMessage | None:
        kept = [message_from_bytes(file.read_bytes(), policy=SMTP) for file in self.folder.glob("outbox/*.eml")]
        return next((message for message in kept if subject in str(message["Subject"])), None)

    def stop(self, number: signal.Signals) -> dict[str, int]:
        """Ask every process to end; their exit codes."""
        for process in self.running.values():
            process.send_signal(number)
        return {name: process.wait(STOP_SECONDS) for name, process in self.running.items()}


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    settings = {"DIGEST_OUTBOX_DIR": str(tmp_path / "outbox"), "DIGEST_TICK_SECONDS": "1", "PORT": str(free_port())}
    program = Program(tmp_path, settings)
    yield program
    for process in program.running.values():
        if process.poll() is None:
            process.kill()
            process.wait()


def sign_up(program: Program) -> None:
    """A visitor signs up, follows the link in the mail and presses the button."""
    answer = httpx2.post(f"{program.base_url}/subscribe", data=FORM, timeout=30)
    assert answer.status_code == 200
    body = program.letter("确认").get_body(("plain",))
    assert body is not None
    link = re.search(rf"{re.escape(program.base_url)}/confirm/\S+", body.get_content())
    assert link is not None
    page = httpx2.get(link[0], timeout=30)
    assert page.status_code == 200
    assert httpx2.post(link[0], timeout=30).status_code == 200
    assert str(program.letter("你已订阅")["To"]) == ADDRESS


def bytes_taken(program: Program, request: bytes) -> int:
    """How much of an endless request is taken before the connection is answered or closed."""
    taken = 0
    with socket.create_connection((LOOPBACK, int(program.settings["PORT"])), timeout=30) as connection:
        connection.sendall(request)
        with suppress(ConnectionError):
            while not select([connection], [], [], 0)[0] and taken < 64 * LONGEST_HEAD:
                taken += connection.send(b"a" * 4096)
    return taken


def refuse_endless_heads(program: Program) -> None:
    chunked = b"POST /subscribe HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: "
    for request in (b"GET /", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", chunked):
        assert bytes_taken(program, request) < 64 * LONGEST_HEAD, request


def test_the_services_of_the_compose_file_do_the_job_together_and_end_when_told_to(
    program: Program, empty_postgres_url: str, redis_url: str
) -> None:
    """Their commands, environment and secrets, with this machine's addresses in the place of the containers' names."""
    secrets = make_secrets(program.folder)
    (secrets / "digest_database_url").write_text(f"{empty_postgres_url}\n", encoding="utf-8")
    port = program.settings["PORT"]
    here = {
        "DIGEST_SECRETS_DIR": str(secrets),
        "DIGEST_BROKER_URL": redis_url,
        "DIGEST_BASE_URL": f"http://127.0.0.1:{port}",
        "DIGEST_PROVIDER": "outbox",
    }
    services = Composed().services
    for service in services.values():
        program.start_service(service, here | program.settings)
        if service.name == "migrate":
            assert program.running.pop("migrate").wait(START_SECONDS) == 0, program.logs()
    eventually(lambda: program.answers("/readyz"), alive=program.check, seconds=START_SECONDS)
    sign_up(program)
    different = {str(service.check): service for service in services.values()}
    for service in different.values():
        assert program.is_well(service, here | program.settings, port), service.name
    assert program.stop(signal.SIGTERM) == dict.fromkeys(set(services) - {"migrate"}, 0), program.logs()
    assert ADDRESS not in program.logs()
    assert "Traceback" not in program.logs()


def test_all_in_one_does_the_job_alone_and_ends_on_ctrl_c(program: Program) -> None:
    program.settings |= {"DIGEST_DATABASE_URL": f"sqlite:///{program.folder / 'var' / 'digest.db'}"}
    program.start("run")
    eventually(lambda: program.answers("/readyz"), alive=program.check, seconds=START_SECONDS)
    sign_up(program)
    refuse_endless_heads(program)
    welcome = program.letter("你已订阅").get_body(("html",))
    assert welcome is not None
    assert "/stories/" in welcome.get_content()
    assert program.stop(signal.SIGINT) == {"run": 0}, program.logs()
    assert f"{program.base_url}/outbox" in program.logs()
    assert ADDRESS not in program.logs()
    assert "Traceback" not in program.logs()
