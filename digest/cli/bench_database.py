"""A scratch database for benchmarks, on the configured server or one of their own, and a long list in it."""

import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta

from sqlalchemy import Connection, Engine, insert, make_url, text

from digest.bootstrap import Application, build
from digest.cli.bench_servers import database_server
from digest.domain.brief import BriefState
from digest.domain.delivery import BatchState
from digest.domain.edition import EditionKey, edition_for
from digest.domain.language import Language
from digest.domain.schedule import DEFAULT_TIME, Cadence, sends_between, timezone_names
from digest.settings import Settings, load_settings
from digest.store.database import migrate, open_engine
from digest.store.months import make_months
from digest.store.tables import Batch, Brief, CadenceRow, Edition, Morning

REMEMBERED = timedelta(days=11)
"""How far back the scratch ledger's mornings go: at least as far as a tick looks."""


@contextmanager
def scratch_application(settings: Settings | None = None) -> Iterator[Application]:
    """The application over a migrated PostgreSQL database that is dropped in the end.

    Args:
        settings: those of the application, with the server that the database is made on; None: the configured ones.

    Raises:
        BadInputError: no PostgreSQL is configured, and none can be started here.
    """
    settings = settings or load_settings()
    with ExitStack() as stack:
        address = stack.enter_context(database_server(settings))
        server = open_engine(address)
        stack.callback(server.dispose)
        name = f"digest_bench_{secrets.token_hex(6)}"
        run_alone(server, f"CREATE DATABASE {name}")
        stack.callback(run_alone, server, f"DROP DATABASE {name} WITH (FORCE)")
        scratch = make_url(address).set(database=name).render_as_string(hide_password=False)
        app = build(settings.model_copy(update={"database_url": scratch}))
        stack.callback(app.close)
        migrate(app.engine)
        yield app


def server_version(engine: Engine) -> str:
    """Which PostgreSQL this is."""
    with engine.connect() as connection:
        return f"PostgreSQL {connection.scalar(text('SHOW server_version'))}"


def run_alone(server: Engine, statement: str) -> None:
    """A statement that can't be part of a transaction."""
    with server.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))


def fill(app: Application, subscribers: int, now: datetime) -> None:
    """A list spread evenly over every zone, its mornings of the last days planned and sent, yesterday's deliveries."""
    cadences = [Cadence(zone) for zone in sorted(timezone_names())]
    with app.engine.begin() as connection:
        _add_cadences(connection, cadences, now)
        _add_mornings(connection, app, cadences, now)
        connection.execute(text(SUBSCRIBERS), {"number": subscribers, "cadences": len(cadences), "now": now})
    run_alone(app.engine, "VACUUM ANALYZE")
    yesterday = (now - timedelta(days=1)).date()
    with app.sessions.begin() as session:
        make_months(session, [yesterday, now.date()])
    with app.engine.begin() as connection:
        connection.execute(text(DELIVERIES), {"since": yesterday})
    run_alone(app.engine, "VACUUM ANALYZE")


def _add_cadences(connection: Connection, cadences: list[Cadence], now: datetime) -> None:
    rows = [
        {
            "id": number,
            "timezone": c.timezone,
            "send_time": DEFAULT_TIME,
            "weekdays": c.weekdays,
            "created_at": now - REMEMBERED,
        }
        for number, c in enumerate(cadences, 1)
    ]
    connection.execute(insert(CadenceRow), rows)


def _add_mornings(connection: Connection, app: Application, cadences: list[Cadence], now: datetime) -> None:
    """What a scheduler that never slept has written for every send up to ``now``."""
    policy = app.settings.policy
    keys: dict[EditionKey, list[int]] = {}
    for number, cadence in enumerate(cadences, 1):
        for send in sends_between(cadence, now - REMEMBERED, now + policy.lead):
            keys.setdefault(edition_for(cadence, send, frozenset(), policy), []).append(number)
    for edition, (key, ids) in enumerate(sorted(keys.items()), 1):
        _add_edition(connection, edition, key, ids, policy.grace)


def _add_edition(connection: Connection, edition: int, key: EditionKey, cadences: list[int], grace: timedelta) -> None:
    window = {"window_start_at": key.window_start, "window_end_at": key.window_end}
    connection.execute(insert(Edition).values(id=edition, send_at=key.send_at, local_on=key.on, **window))
    closed = {"local_on": key.on, "edition_id": edition, "planned_at": key.window_end, "closed_at": key.send_at}
    connection.execute(insert(Morning), [closed | {"cadence_id": number, "missed": False} for number in cadences])
    for number, language in enumerate(Language, 1):
        brief = 2 * edition + number
        words = {"state": BriefState.READY, "slots": {}, "story_ids": [], "compiled_at": key.window_end}
        connection.execute(insert(Brief).values(id=brief, edition_id=edition, language=language, **words))
        times = {"not_before_at": key.send_at, "expires_at": key.send_at + grace, "sent_at": key.send_at}
        row = {"id": brief, "brief_id": brief, "number": 0, "state": BatchState.SENT, "attempts": 1}
        connection.execute(insert(Batch).values(row | times))


SUBSCRIBERS = """
INSERT INTO subscribers
       (email, email_key, state, reason, language, cadence_id, topics, paused_until_on, created_at, changed_at)
SELECT 'reader' || n || '@example.com', 'reader' || n || '@example.com',
       CASE n % 50 WHEN 0 THEN 'ended' WHEN 1 THEN 'paused' WHEN 2 THEN 'pending' ELSE 'active' END,
       CASE n % 50 WHEN 0 THEN 'unsubscribed' END,
       CASE n % 2 WHEN 0 THEN 'en' ELSE 'zh' END, 1 + n % :cadences, '',
       CASE n % 50 WHEN 1 THEN CAST(:now AS timestamptz)::date + 30 END,
       CAST(:now AS timestamptz) - interval '90 days', CAST(:now AS timestamptz) - interval '90 days'
  FROM generate_series(1, :number) AS n
"""
DELIVERIES = """
INSERT INTO deliveries (subscriber_id, local_on, batch_id)
SELECT s.id, m.local_on, b.id
  FROM subscribers s
  JOIN mornings m ON m.cadence_id = s.cadence_id AND m.local_on >= :since
  JOIN briefs b ON b.edition_id = m.edition_id AND b.language = s.language
 WHERE s.state = 'active'
"""
