"""``digest tick`` from ten processes at the same moment over one PostgreSQL."""

import json
import multiprocessing
import os
import sys
from collections import Counter
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from digest.cli.main import main
from tests.cli.terminal import Terminal

PROCESSES = 10
NOW = "2026-12-03T00:00:00Z"


def tick(start: Barrier, out: Path, environment: dict[str, str]) -> None:
    """One process: wait for the others, then take a turn with connections of its own."""
    os.environ.update(environment)
    start.wait(60)
    with (
        out.open("w", encoding="utf-8") as sys.stdout,
        out.with_suffix(".err").open("w", encoding="utf-8") as sys.stderr,
    ):
        main(["tick", "--now", NOW, "--json"])


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_ten_ticks_at_once_make_one_set_of_deliveries_and_everybody_is_accepted_once(
    either_terminal: Terminal, tmp_path: Path
) -> None:
    terminal, zones = either_terminal, ("Asia/Shanghai", "Asia/Singapore", "Australia/Perth")
    addresses = [f"r{number}@example.com" for number in range(60)]
    rows = (f"{a},{('en', 'zh')[n % 2]},{zones[n % 3]},,,,active,paper form" for n, a in enumerate(addresses))
    terminal.readers(*rows)
    terminal.set(batch_size=7)
    terminal.stories(terminal.story("Chips", "2026-12-02T04:00:00Z"))
    # A fork of this process would copy what other tests left open; the server was started with another environment.
    server = multiprocessing.get_context("forkserver")
    start = server.Barrier(PROCESSES)
    environment = {name: value for name, value in os.environ.items() if name.startswith("DIGEST_")}
    files = [tmp_path / f"{number}.json" for number in range(PROCESSES)]
    workers = [server.Process(target=tick, args=(start, out, environment)) for out in files]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [out.with_suffix(".err").read_text(encoding="utf-8") for out in files] == [""] * PROCESSES
    assert [worker.exitcode for worker in workers] == [0] * PROCESSES
    turns = [json.loads(out.read_text(encoding="utf-8")) for out in files]
    late = terminal.read("tick", "--now", "2026-12-03T00:00:05Z")
    assert sum(turn["planned"] for turn in turns) == len(addresses)
    assert sum(turn["sent"] for turn in [*turns, late]) == len(addresses)
    taken = Counter(path.name.split("@")[0] for path in (tmp_path / "outbox").rglob("*.eml"))
    assert sum(taken.values()) == len(addresses)
    statuses = [(entry["email"], entry["status"]) for entry in terminal.read("deliveries", "list")]
    assert sorted(statuses) == sorted((address, "sent") for address in addresses)
    assert terminal.read("audit")["ok"]
