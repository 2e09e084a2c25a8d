"""The servers a brief needs: the database, the broker, and the clocks that all of them share."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import redis
from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from digest.bootstrap import Application, broker_fault
from digest.domain.notice import Notice, notice
from digest.health.findings import Finding, fault, ok, warning
from digest.store.database import current_revision, newest_revision

SECONDS = 3.0
MOST_SKEW = timedelta(seconds=10)
"""Above it a brief may leave visibly early or late."""
NEARLY_FULL = 0.8
"""Share of the connections or of the broker's memory that may be in use."""


def look_at_database(engine: Engine) -> Finding:
    """Whether it answers at the schema this program expects."""
    try:
        revision = current_revision(engine)
    except SQLAlchemyError as error:
        why = type(getattr(error, "orig", None) or error).__name__
        return fault("database", "can't be reached ({why}): see that it runs, then DIGEST_DATABASE_URL", why=why)
    newest = newest_revision()
    if revision == newest:
        return ok("database", "{name}, schema {revision}", name=engine.dialect.name, revision=revision)
    if revision is None:
        return fault("database", "schema none: run digest migrate")
    if revision > newest:
        return fault(
            "database",
            "schema {revision} is newer than this program ({newest}): upgrade the program",
            revision=revision,
            newest=newest,
        )
    return fault("database", "schema {revision}: run digest migrate", revision=revision)


def look_at_connections(engine: Engine) -> Finding:
    """Whether PostgreSQL has connections left; one worker more may need ten."""
    with engine.connect() as connection:
        used, most = connection.execute(
            text("SELECT (SELECT count(*) FROM pg_stat_activity), current_setting('max_connections')::int")
        ).one()
    counts = {"used": str(used), "most": str(most)}
    if used > most * NEARLY_FULL:
        return warning("connections", "{used} of {most} in use: raise max_connections, or run fewer workers", **counts)
    return ok("connections", "{used} of {most} in use", **counts)


def look_at_broker(app: Application) -> Finding:
    """Whether it answers and keeps what it is given."""
    url = app.settings.broker_url
    if url.startswith("memory:"):
        return ok("broker", "in this process")
    if why := broker_fault(app.settings):
        return fault("broker", "can't be reached ({why}): see that Redis runs, then DIGEST_BROKER_URL", why=why)
    try:
        with redis.Redis.from_url(url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS) as client:
            return _judge_broker(client)
    except redis.RedisError:
        return ok("broker", "answers")  # a managed Redis may refuse CONFIG and INFO


def _judge_broker(client: redis.Redis) -> Finding:
    policy = _said(client.config_get("maxmemory-policy"), "maxmemory-policy")
    if policy not in {"", "noeviction"}:
        return warning("broker", "maxmemory-policy {policy} may drop tasks: set noeviction", policy=policy)
    stored, memory = client.info("persistence"), client.info("memory")
    if _said(stored, "aof_last_write_status") not in {"", "ok"} or _said(stored, "rdb_last_bgsave_status") == "err":
        return fault("broker", "can't write its file: free the disk that Redis keeps its data on")
    used, most = int(_said(memory, "used_memory") or 0), int(_said(memory, "maxmemory") or 0)
    if most and used > most * NEARLY_FULL:
        full = {"used": str(used // 2**20), "most": str(most // 2**20)}
        return warning("broker", "{used} of {most} MB in use: find what grows, or raise maxmemory", **full)
    if _said(stored, "aof_enabled") == "0":
        return ok("broker", "answers; keeps no append-only file, so a restart costs up to a minute")
    return ok("broker", "answers")


def _said(answer: object, name: str) -> str:
    return str(answer.get(name, "")) if isinstance(answer, dict) else ""


def look_at_clock(app: Application, now: datetime) -> Finding:
    """Whether this machine's clock agrees with the servers'; a brief leaves by it."""
    here = f"{now:%Y-%m-%d %H:%M:%S}Z"
    off = [(whose, at - now) for whose, at in _other_clocks(app)]
    if wrong := [_apart(whose, now_off) for whose, now_off in off if abs(now_off) > MOST_SKEW]:
        return fault("clock", "{here} here is {wrong}: set it by NTP, everywhere", here=here, wrong=wrong)
    if not off:
        return ok("clock", "{here}; no other machine's to compare it with", here=here)
    return ok("clock", "agrees with {others}", others=[whose for whose, _ in off])


def _apart(whose: Notice, off: timedelta) -> Notice:
    """How far this clock lies from another that reads ``off`` more."""
    span = str(timedelta(seconds=abs(round(off.total_seconds()))))
    if off > timedelta(0):
        return notice("{span} behind {whose}", span=span, whose=whose)
    return notice("{span} ahead of {whose}", span=span, whose=whose)


def _other_clocks(app: Application) -> Iterator[tuple[Notice, datetime]]:
    if app.engine.dialect.name == "postgresql":
        try:
            with app.engine.connect() as connection:
                yield notice("the database's"), connection.execute(text("SELECT clock_timestamp()")).scalar_one()
        except SQLAlchemyError:
            pass  # said by the check of the database
    if not app.settings.broker_url.startswith("memory:"):
        try:
            with redis.Redis.from_url(
                app.settings.broker_url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS
            ) as client:
                seconds, _ = client.time()
            yield notice("the broker's"), datetime.fromtimestamp(float(seconds), UTC)
        except redis.RedisError:
            pass  # likewise
