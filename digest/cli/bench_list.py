"""A list of one zone whose morning a benchmark plans, compiles and hands over, any number of times."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import text

from digest.bootstrap import Application
from digest.cli.bench_database import run_alone
from digest.domain.schedule import Cadence
from digest.sources.story_file import bundled_stories
from digest.steps.collect_stories import import_stories
from digest.steps.compile_briefs import compile_brief
from digest.steps.plan_editions import plan_editions
from digest.store.cadences import cadence_id
from digest.store.sending import take_briefs

ZONE = "Asia/Shanghai"
"""Where most of a list may live; it has one offset all year."""


def fill_zone(app: Application, subscribers: int, send_at: datetime) -> None:
    """Active readers of one zone, half of them in each language, and the bundled stories as the day's news.

    Args:
        app: over an empty database.
        subscribers: how many.
        send_at: the instant at which all of them are due.
    """
    import_stories(
        app.sessions, app.editor, bundled_stories(), send_at - timedelta(hours=3), enters=send_at - timedelta(hours=3)
    )
    with app.sessions.begin() as session:
        # Of this moment, so that no earlier morning counts as missed.
        cadence = cadence_id(session, _cadence(send_at), send_at)
    values = {"number": subscribers, "cadence": cadence, "since": send_at - timedelta(days=90)}
    with app.engine.begin() as connection:
        connection.execute(text(READERS), values)
    run_alone(app.engine, "VACUUM ANALYZE")


def _cadence(send_at: datetime) -> Cadence:
    return Cadence(ZONE, send_at.astimezone(ZoneInfo(ZONE)).time())


def set_morning(app: Application, send_at: datetime) -> None:
    """Forget what was planned, and have everybody due at ``send_at``, a whole minute."""
    with app.engine.begin() as connection:
        connection.execute(text(f"TRUNCATE {PLANNED} RESTART IDENTITY CASCADE"))
        connection.execute(text("UPDATE cadences SET send_time = :at"), {"at": _cadence(send_at).at})
    run_alone(app.engine, "CHECKPOINT")


def plan_and_compile(app: Application, now: datetime) -> int:
    """What the scheduler and the compilers do ahead of the instant; returns how many deliveries there are."""
    policy = app.settings.policy
    planned = plan_editions(app.sessions, now, policy, policy.batch_size(app.provider.batch_size))
    with app.sessions.begin() as session:
        briefs = take_briefs(session, now, timedelta(0), limit=100)
    for brief in briefs:
        compile_brief(app.sessions, app.press, brief, now)
    return planned.deliveries


PLANNED = "deliveries, batches, briefs, editions, mornings"
READERS = """
INSERT INTO subscribers (email, email_key, state, language, cadence_id, topics, created_at, changed_at)
SELECT 'reader' || n || '@example.com', 'reader' || n || '@example.com', 'active',
       CASE n % 2 WHEN 0 THEN 'en' ELSE 'zh' END, :cadence, '',
       CAST(:since AS timestamptz), CAST(:since AS timestamptz)
  FROM generate_series(1, :number) AS n
"""
