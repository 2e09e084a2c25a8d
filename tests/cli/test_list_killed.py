"""An import that dies half-way, as operators' machines do, and the same command again."""

import os
import signal
import subprocess
import sys

import psycopg

from tests.cli.terminal import Terminal
from tests.workers.waiting import eventually

READERS = 30_000
COUNTS = "SELECT (SELECT count(*) FROM subscribers), (SELECT count(DISTINCT subscriber_id) FROM consents)"
WRONG = """
SELECT count(*) FROM subscribers s LEFT JOIN consents c ON c.subscriber_id = s.id
 WHERE c.confirmed_at IS NULL OR s.email <> 'u' || right(s.name, 5) || '@example.com' OR s.state <> 'active'
"""


def counts(database: psycopg.Connection) -> tuple[int, int]:
    """Subscribers, and how many of them have a consent."""
    found = database.execute(COUNTS).fetchone()
    assert found is not None
    return found[0], found[1]


def test_csv_09_killed_half_way_and_started_again_it_ends_with_exactly_the_right_list(
    postgres_url: str, terminal: Terminal
) -> None:
    terminal.set(database_url=postgres_url)
    rows = "".join(f"u{number:05}@example.com,Reader {number:05},active,form\n" for number in range(READERS))
    path = terminal.write("list.csv", f"email,name,status,consent_source\n{rows}")
    command = [sys.executable, "-c", "from digest.main import main; main()", "subscribers", "import", str(path)]
    with (
        psycopg.connect(postgres_url, autocommit=True) as database,
        subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL) as process,  # noqa: S603 - our own
    ):
        eventually(lambda: counts(database)[0])
        process.kill()
        process.wait()
        assert process.returncode == -signal.SIGKILL
        readers, agreed = counts(database)
        assert (0 < readers < READERS, agreed) == (True, readers)

        report = terminal.read("subscribers", "import", path)
        assert (report["imported"], report["known"], report["errors"]) == (READERS - readers, readers, [])
        assert counts(database) == (READERS, READERS)
        assert database.execute(WRONG).fetchone() == (0,)
