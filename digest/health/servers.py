"""The servers a brief needs: the database, the broker, and the clocks that all of them share."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import redis
from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from digest.bootstrap import Application, broker_fault
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
        return fault("database", f"can't be reached ({why}): see that it runs, then DIGEST_DATABASE_URL")
    newest = newest_revision()
    if revision == newest:
        return ok("database", f"{engine.dialect.name}, schema {revision}")
    if revision is not None and revision > newest:
        return fault("database", f"schema {revision} is newer than this program ({newest}): upgrade the program")
    return fault("database", f"schema {revision or 'none'}: run digest migrate")


def look_at_connections(engine: Engine) -> Finding:
    """Whether PostgreSQL has connections left; one worker more may need ten."""
    with engine.connect() as connection:
        used, most = connection.execute(
            text("SELECT (SELECT count(*) FROM pg_stat_activity), current_setting('max_connections')::int")
        ).one()
    words = f"{used} of {most} in use"
    if used > most * NEARLY_FULL:
        return warning("connections", f"{words}: raise max_connections, or run fewer workers")
    return ok("connections", words)


def look_at_broker(app: Application) -> Finding:
    """Whether it answers and keeps what it is given."""
    url = app.settings.broker_url
    if url.startswith("memory:"):
        return ok("broker", "in this process")
    if why := broker_fault(app.settings):
        return fault("broker", f"can't be reached ({why}): see that Redis runs, then DIGEST_BROKER_URL")
    try:
        with redis.Redis.from_url(url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS) as client:
            return _judge_broker(client)
    except redis.RedisError:
        return ok("broker", "answers")  # a managed Redis may refuse CONFIG and INFO


def _judge_broker(client: redis.Redis) -> Finding:
    policy = _said(client.config_get("maxmemory-policy"), "maxmemory-policy")
    if policy not in {"", "noeviction"}:
        return warning("broker", f"maxmemory-policy {policy} may drop tasks: set noeviction")
    stored, memory = client.info("persistence"), client.info("memory")
    if _said(stored, "aof_last_write_status") not in {"", "ok"} or _said(stored, "rdb_last_bgsave_status") == "err":
        return fault("broker", "can't write its file: free the disk that Redis keeps its data on")
    used, most = int(_said(memory, "used_memory") or 0), int(_said(memory, "maxmemory") or 0)
    if most and used > most * NEARLY_FULL:
        return warning("broker", f"{used // 2**20} of {most // 2**20} MB in use: find what grows, or raise maxmemory")
    if _said(stored, "aof_enabled") == "0":
        return ok("broker", "answers; keeps no append-only file, so a restart costs up to a minute")
    return ok("broker", "answers")


def _said(answer: object, name: str) -> str:
    return str(answer.get(name, "")) if isinstance(answer, dict) else ""


def look_at_clock(app: Application, now: datetime) -> Finding:
    """Whether this machine's clock agrees with the servers'; a brief leaves by it."""
    off = {name: at - now for name, at in _other_clocks(app)}
    wrong = [f"{_span(now_off)} {name}'s" for name, now_off in off.items() if abs(now_off) > MOST_SKEW]
    if wrong:
        return fault("clock", f"{now:%Y-%m-%d %H:%M:%S}Z here is {' and '.join(wrong)}: set it by NTP, everywhere")
    if not off:
        return ok("clock", f"{now:%Y-%m-%d %H:%M:%S}Z; no other machine's to compare it with")
    return ok("clock", f"agrees with {' and '.join(off)}")


def _span(off: timedelta) -> str:
    """How far this clock lies from another that reads ``off`` more."""
    seconds = abs(round(off.total_seconds()))
    return f"{timedelta(seconds=seconds)} {'behind' if off > timedelta(0) else 'ahead of'}"


def _other_clocks(app: Application) -> Iterator[tuple[str, datetime]]:
    if app.engine.dialect.name == "postgresql":
        try:
            with app.engine.connect() as connection:
                yield "the database", connection.execute(text("SELECT clock_timestamp()")).scalar_one()
        except SQLAlchemyError:
            pass  # said by the check of the database
    if not app.settings.broker_url.startswith("memory:"):
        try:
            with redis.Redis.from_url(
                app.settings.broker_url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS
            ) as client:
                seconds, _ = client.time()
            yield "the broker", datetime.fromtimestamp(float(seconds), UTC)
        except redis.RedisError:
            pass  # likewise
