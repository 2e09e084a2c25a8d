"""How fast a morning's deliveries are written, beside COPY of the very same rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import Engine, text

from digest.bootstrap import Application
from digest.cli.bench_database import run_alone
from digest.cli.bench_list import fill_zone
from digest.cli.bench_processes import BenchError
from digest.cli.bench_report import Run, seconds_of
from digest.steps.plan_editions import Since, plan_editions
from digest.store.copying import driver_of

FIRST = datetime(2027, 6, 2, tzinfo=UTC)
"""The first morning; months have room for many more."""
BATCH = 1000
"""What SendGrid takes at once."""


@dataclass(slots=True)
class Planning:
    """The work that the bench measures: one morning after the other, each on top of those before.

    Attributes:
        send_at: the next morning's instant.
    """

    app: Application
    subscribers: int
    send_at: datetime = FIRST

    def run(self) -> Run:
        """Plan the next morning, then copy the rows that this made."""
        planned = seconds_of(self.plan)
        rows = read_rows(self.app.engine, self.send_at.date())
        copied = seconds_of(lambda: copy_rows(self.app.engine, rows))
        self.send_at += timedelta(days=1)
        # What autovacuum does between two mornings.
        run_alone(self.app.engine, "VACUUM ANALYZE")
        return Run(self.subscribers / planned, self.subscribers / copied)

    def plan(self) -> None:
        """Write the morning's deliveries."""
        at, policy = self.send_at - timedelta(minutes=5), self.app.settings.policy
        written = plan_editions(self.app.sessions, at, policy, BATCH, Since(at - timedelta(minutes=1))).deliveries
        if written != self.subscribers:
            raise BenchError(f"{written} deliveries were planned for {self.subscribers} subscribers")


def planning(app: Application, subscribers: int) -> Planning:
    """A list to plan for, and a first morning in the books."""
    fill_zone(app, subscribers, FIRST)
    make_twin(app.engine)
    work = Planning(app, subscribers)
    work.run()
    return work


def read_rows(engine: Engine, on: date) -> list[bytes]:
    """A date's deliveries as COPY reads them, in the order in which they were written."""
    with (
        engine.connect() as connection,
        driver_of(connection).cursor() as cursor,
        cursor.copy(ROWS_OF, [on]) as copy,
    ):
        return [bytes(block) for block in copy]


def make_twin(engine: Engine) -> None:
    """An empty table with the columns, indexes, checks and foreign keys of the deliveries."""
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE copied (LIKE deliveries INCLUDING ALL)"))
        for definition in connection.scalars(text(FOREIGN_KEYS)).all():
            connection.execute(text(f"ALTER TABLE copied ADD {definition}"))


def copy_rows(engine: Engine, rows: Sequence[bytes]) -> None:
    """The least that anybody must do who writes these rows from outside the server."""
    with (
        engine.begin() as connection,
        driver_of(connection).cursor() as cursor,
        cursor.copy("COPY copied FROM STDIN (FORMAT binary)") as copy,
    ):
        for block in rows:
            copy.write(block)


ROWS_OF = """
COPY (SELECT * FROM deliveries WHERE local_on = %s ORDER BY batch_id, subscriber_id) TO STDOUT (FORMAT binary)
"""
FOREIGN_KEYS = """
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'deliveries'::regclass AND contype = 'f'
"""
