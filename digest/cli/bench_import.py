"""How fast a list is imported, beside PostgreSQL's own COPY of the very rows that this writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from sqlalchemy import text

from digest.bootstrap import Application
from digest.cli.bench_database import run_alone, scratch_application, server_version
from digest.cli.bench_processes import BenchError
from digest.cli.bench_report import Report, Run, Runs, Subscribers, seconds_of, show
from digest.cli.context import utc_now
from digest.cli.output import AsJson, warn
from digest.lists.rows import rows_of
from digest.lists.table import open_list
from digest.steps.import_subscribers import Defaults, import_subscribers
from digest.store.copying import copy_file_in, copy_out

ZONES = ("Asia/Shanghai", "Europe/Berlin", "America/New_York", "UTC", "Asia/Kolkata")
TABLES = ("subscribers", "consents")
"""What an imported reader with consent is written to."""
BARE = "CREATE UNLOGGED TABLE bare (a text, b text, c text, d text, e text, f text, g text)"


@dataclass(slots=True)
class Importing:
    """The work that the bench measures, over an emptied list each time.

    Attributes:
        list_only: rates of COPY into the table of subscribers alone.
        bare: rates of COPY of the file into a table without keys, checks or indexes.
    """

    app: Application
    folder: Path
    subscribers: int
    list_only: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)

    @property
    def file(self) -> Path:
        """The list, as an operator has it."""
        return self.folder / "list.csv"

    def run(self) -> Run:
        """Import the list; then copy what that wrote, into the same tables; then the file as it is."""
        imported = seconds_of(self.import_list)
        for table in TABLES:
            copy_out(self.app.engine, f"COPY {table} TO STDOUT (FORMAT binary)", self.folder / table)
        self.empty()
        alone, consents = (seconds_of(partial(self.copy, table)) for table in TABLES)
        self.list_only.append(self.subscribers / alone)
        self.bare.append(self.subscribers / seconds_of(self.copy_bare))
        self.empty()
        return Run(self.subscribers / imported, self.subscribers / (alone + consents))

    def import_list(self) -> None:
        """What ``digest subscribers import`` does with the file."""
        settings = self.app.settings
        defaults = Defaults(settings.default_language, settings.default_timezone)
        rows = rows_of(open_list(self.file, {}), None)
        found = import_subscribers(self.app.sessions, rows, defaults, self.app.address_hashes, utc_now())
        if found.new != self.subscribers:
            raise BenchError(f"{found.new} of {self.subscribers} subscribers were imported")

    def copy(self, table: str) -> None:
        """The least that anybody must do who writes these rows from outside the server."""
        copy_file_in(self.app.engine, f"COPY {table} FROM STDIN (FORMAT binary)", self.folder / table)

    def copy_bare(self) -> None:
        """The file into a table of texts."""
        copy_file_in(self.app.engine, "COPY bare FROM STDIN (FORMAT csv, HEADER)", self.file)

    def empty(self) -> None:
        """Back to no list at all."""
        with self.app.engine.begin() as connection:
            connection.execute(text("TRUNCATE subscribers, bare CASCADE"))
        run_alone(self.app.engine, "CHECKPOINT")


@contextmanager
def importing(subscribers: int) -> Iterator[Importing]:
    """A file of so many readers, and a scratch database for them."""
    with scratch_application() as app, TemporaryDirectory(prefix="digest-bench-") as folder:
        work = Importing(app, Path(folder), subscribers)
        write_list(work.file, subscribers)
        with app.engine.begin() as connection:
            connection.execute(text(BARE))
        yield work


def write_list(file: Path, subscribers: int) -> None:
    """A list of readers who agreed, as another program might export it."""
    with file.open("w", encoding="utf-8") as target:
        target.write("email,name,language,timezone,time,status,consent_source\n")
        for number in range(1, subscribers + 1):
            language, zone = ("en", "zh")[number % 2], ZONES[number % len(ZONES)]
            target.write(f"u{number:06}@example.com,Reader {number},{language},{zone},08:00,active,sign-up form\n")


def import_(subscribers: Subscribers = 1_000_000, runs: Runs = 3, as_json: AsJson = False) -> None:
    """A list imported into PostgreSQL, beside COPY of the same rows into the same tables."""
    with importing(subscribers) as work:
        warn(f"Importing a list of {subscribers:,} readers {runs} times …")
        found = [work.run() for _ in range(runs)]
        more = {
            "list_only_rate": round(median(work.list_only), 1),
            "bare_rate": round(median(work.bare), 1),
            "file_mb": round(work.file.stat().st_size / 1e6, 1),
            "server": server_version(work.app.engine),
        }
    show(Report("import", subscribers, "readers/s", found, more).row(), as_json=as_json)
