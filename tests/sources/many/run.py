"""Two rounds over many feeds by the product's own command, measured from outside."""

import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from sqlalchemy import Engine, select

from digest.steps.keep_sources import add_source
from digest.store.database import migrate, open_engine, open_sessions
from digest.store.tables import Source, Story, StoryTextRow, Table
from tests.sources.many.farm import WHOLE, Farm, farm

DIGEST = Path(sys.executable).with_name("digest")
MARKS = frozenset({"sources", "hosts"})
"""Tables that a round with nothing new may touch: when a source was asked and how that went, when its host is free."""
NEXT_TO_NOTHING = 200
"""Bytes that a whole feed which did not change may cost: the head of an answer."""
_MEBI = 1 << 20
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Options:
    """One run.

    Attributes:
        drip: seconds a slow server takes.
        seconds, megabytes: what a round may take; 0 for no limit.
        database: SQLAlchemy address of an empty database; empty for SQLite in a folder of the run's own.
    """

    feeds: int = 500
    items: int = 100
    drip: float = 5.0
    seconds: float = 60.0
    megabytes: float = 300.0
    database: str = ""


@dataclass(frozen=True)
class Round:
    """What one round took.

    Attributes:
        new, known: stories.
        failed: sources without an answer that could be read.
        sent_bytes: by the servers, by kind of feed.
        answers: by status.
    """

    seconds: float
    cpu_seconds: float
    peak_rss_mb: float
    new: int
    known: int
    failed: int
    sent_bytes: Mapping[str, int]
    answers: Mapping[str, int]


@dataclass
class Report:
    """A run with all that did not hold."""

    options: Options
    rounds: list[Round] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """As printed."""
        return {"ok": not self.faults, **asdict(self)}


def run(options: Options, say: Callable[[str], object]) -> Report:
    """Two rounds; the second finds nothing new."""
    report = Report(options)
    with tempfile.TemporaryDirectory() as folder:
        url = options.database or f"sqlite:///{folder}/digest.db"
        engine, now = open_engine(url), datetime.now(UTC)
        with farm(options.feeds, options.items, now, drip=options.drip) as servers:
            _prepare(engine, servers, now)
            first = _round(report, servers, url, say)
            report.faults += _misread(engine, servers, first)
            before = _contents(engine)
            servers.reset()
            second = _round(report, servers, url, say)
            report.faults += _written(before, _contents(engine)) + _sent(servers)
            report.faults += [f"round 2: {one['source']} gave {one['new']} new stories" for one in second if one["new"]]
        engine.dispose()
    return report


def _prepare(engine: Engine, servers: Farm, now: datetime) -> None:
    migrate(engine)
    sessions = open_sessions(engine)
    for number, url in enumerate(servers.urls):
        add_source(sessions, url, f"Paper {number}", None, [], now)


def _round(report: Report, servers: Farm, url: str, say: Callable[[str], object]) -> list[dict[str, Any]]:
    environment = {
        **os.environ,
        "DIGEST_DATABASE_URL": url,
        "DIGEST_FETCH_PRIVATE_HOSTS": "true",
        "DIGEST_SECRET_KEYS": "a-key-for-measuring-only",
    }
    begun = time.monotonic()
    with Popen([DIGEST, "sources", "fetch", "--json"], env=environment, stdout=PIPE) as process:  # noqa: S603 - the product's own program
        printed = process.stdout.read() if process.stdout else b""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    found: list[dict[str, Any]] = json.loads(printed)
    this = Round(
        seconds=round(time.monotonic() - begun, 1),
        cpu_seconds=round(used.ru_utime + used.ru_stime, 1),
        peak_rss_mb=round(used.ru_maxrss * _RSS_UNIT / _MEBI, 1),
        new=sum(one["new"] for one in found),
        known=sum(one["known"] for one in found),
        failed=sum(bool(one["error"]) for one in found),
        sent_bytes=dict(servers.sent),
        answers=dict(servers.answers),
    )
    report.rounds.append(this)
    report.faults += _over(this, report.options, len(report.rounds))
    say(f"round {len(report.rounds)}: {this}")
    return found


def _over(this: Round, options: Options, number: int) -> list[str]:
    limits = (("seconds", this.seconds, options.seconds), ("MB", this.peak_rss_mb, options.megabytes))
    return [f"round {number} took {had} {unit}, over {most}" for unit, had, most in limits if most and had > most]


def _misread(engine: Engine, servers: Farm, found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Feeds whose titles are not the ones served, and faulty ones that were not said to be."""
    titles: dict[str, Counter[str]] = {f"Paper {number}": Counter() for number in range(len(servers.urls))}
    stored = select(Source.name, StoryTextRow.title).join(Story, Story.source_id == Source.id).join(StoryTextRow)
    with engine.connect() as connection:
        for name, title in connection.execute(stored):
            titles[name][title] += 1
    errors = {str(one["source"]): bool(one["error"]) for one in found}
    faults = []
    for number, kind in enumerate(servers.kinds):
        name = f"Paper {number}"
        if titles[name] != Counter(servers.titles[number]):
            faults.append(
                f"{name} ({kind}): {titles[name].total()} titles, not the {len(servers.titles[number])} served"
            )
        if errors[name] is (kind in WHOLE):
            faults.append(f"{name} ({kind}): {'an' if errors[name] else 'no'} error is told")
    return faults


def _contents(engine: Engine) -> dict[str, str]:
    """A hash of every table's rows."""
    found = {}
    with engine.connect() as connection:
        for table in Table.metadata.sorted_tables:
            seen = sha256()
            for row in connection.execute(select(table).order_by(*table.primary_key)):
                seen.update(repr(tuple(row)).encode(errors="surrogatepass"))
            found[table.name] = seen.hexdigest()
    return found


def _written(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    changed = [name for name in before if before[name] != after[name] and name not in MARKS]
    return [f"round 2 wrote to {name}" for name in changed]


def _sent(servers: Farm) -> list[str]:
    whole = [kind for kind in servers.kinds if kind in WHOLE]
    sent = sum(servers.sent[kind] for kind in WHOLE)
    return [f"round 2 transferred {sent} bytes"] if sent > NEXT_TO_NOTHING * len(whole) else []
