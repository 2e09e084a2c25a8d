"""What the database itself says: whether the scheduler ticks, mail may leave, and everything there is finds its way."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from digest.domain.delivery import BatchState, DeliveryReason
from digest.domain.schedule import is_known_zone
from digest.health.findings import Finding, fault, ok, warning
from digest.store.cadences import all_cadences
from digest.store.sending import PAUSED
from digest.store.tables import Batch, EventPost, Letter, Source, Story, Switch
from digest.store.turns import TICKED

SILENT_AFTER = timedelta(minutes=2)
"""The scheduler ticks every few seconds; one that was silent for longer is stuck or gone."""
AHEAD = timedelta(minutes=1)
STALE_NEWS = timedelta(hours=24)
LONG_WAIT = timedelta(minutes=5)
MOST_SHOWN = 5
Look = Callable[[Session, datetime], Finding]


def look_at_scheduler(session: Session, now: datetime) -> Finding:
    """Whether a tick was carried out lately: beat, broker and a worker together."""
    mark = session.get(Switch, TICKED)
    start = "start digest run, or digest beat and a worker with the queue tick"
    if mark is None:
        return warning("scheduler", f"last tick: never; {start}")
    if mark.changed_at > now + AHEAD:
        words = f"last tick: {mark.changed_at:%Y-%m-%d %H:%M:%S}Z, which is still to come"
        return warning("scheduler", f"{words}: a clock was ahead; set every machine's by NTP, the next tick mends it")
    if now - mark.changed_at > SILENT_AFTER:
        return fault("scheduler", f"last tick: {mark.changed_at:%Y-%m-%d %H:%M:%S}Z; {start}")
    return ok("scheduler", "ticks")


def look_at_switch(session: Session, now: datetime) -> Finding:
    """Whether mail may leave at all, and who stopped it."""
    row = session.get(Switch, PAUSED)
    if row is None:
        return ok("sending switch", "on")
    since = f"since {row.changed_at:%Y-%m-%d %H:%M}Z ({_hours(now - row.changed_at)})"
    if row.value in {"", "operator"}:
        return fault("sending switch", f"paused by the operator {since}: go on with digest deliveries resume")
    return fault("sending switch", f"paused {since} by “{row.value}”: mend that, then digest deliveries resume")


def _hours(span: timedelta) -> str:
    minutes = max(0, int(span / timedelta(minutes=1)))
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"  # noqa: PLR2004 # an hour


def look_at_zones(session: Session, _: datetime) -> Finding:
    """Whether the running tzdata has rules for every zone of the list."""
    unknown = sorted({row.timezone for row in all_cadences(session) if not is_known_zone(row.timezone)})
    if unknown:
        return fault("zones of the list", f"no rules, so no brief: {', '.join(unknown)}: upgrade tzdata or change it")
    return ok("zones of the list", "all known")


def look_at_sources(session: Session, now: datetime) -> Finding:
    """Whether feeds are read, and whether there was anything in them."""
    feeds = session.scalars(select(Source).where(Source.feed_url.is_not(None)).order_by(Source.name)).all()
    if not feeds:
        return ok("sources", "no feeds; stories come by import")
    ill = [feed for feed in feeds if feed.rest or (feed.failing_since_at and now - feed.failing_since_at > STALE_NEWS)]
    newest = session.scalar(select(Story.seen_at).order_by(Story.id.desc()).limit(1))
    if newest is None or now - newest > STALE_NEWS:
        when = f"{newest:%Y-%m-%d %H:%M}Z" if newest else "never"
        why = f"; failing: {_names(_failing(feeds))}" if _failing(feeds) else ""
        return fault("sources", f"no new story since {when}, so the next brief has nothing{why}: digest sources list")
    if ill:
        words = f"{len(ill)} of {len(feeds)} give nothing any more: {_names(ill)}"
        return warning("sources", f"{words}: see digest sources list, mend their addresses or remove them")
    if failing := _failing(feeds):
        return ok("sources", f"{len(feeds)} feeds; failing just now: {_names(failing)}")
    return ok("sources", f"{len(feeds)} feeds")


def _failing(feeds: Sequence[Source]) -> list[Source]:
    return [feed for feed in feeds if feed.error]


def _names(feeds: list[Source]) -> str:
    shown = [f"{feed.name} ({feed.error})" if feed.error else feed.name for feed in feeds[:MOST_SHOWN]]
    return ", ".join(shown) + (f" and {len(feeds) - MOST_SHOWN} more" if len(feeds) > MOST_SHOWN else "")


def look_at_unknown(session: Session, _: datetime) -> Finding:
    """Deliveries that may or may not have gone out and that wait for a word."""
    by = (Batch.reason, func.count())
    counts = dict(session.execute(select(*by).where(Batch.state == BatchState.UNKNOWN).group_by(Batch.reason)).all())
    if not counts:
        return ok("unknown", "no batch whose fate is unknown")
    lost = counts.get(DeliveryReason.LEDGER_LOST, 0)
    words = ", ".join(f"{number} {reason}" for reason, number in sorted(counts.items(), key=str))
    if lost:
        return warning(
            "unknown",
            f"batches that may have gone out: {words}: the database came back from a back-up; "
            "see digest deliveries list --status unknown, give again what surely did not leave",
        )
    return warning(
        "unknown",
        f"batches that may have gone out: {words}: the provider's events settle them, or "
        "digest deliveries list --status unknown and retry",
    )


def look_at_waiting(session: Session, now: datetime) -> Finding:
    """Whether something that is due waits for workers for longer than it should."""
    since = now - LONG_WAIT
    batches = session.scalar(_due(Batch, since).where(Batch.expires_at > now)) or 0
    letters = session.scalar(_due(Letter, since)) or 0
    posts = (
        session.scalar(
            select(func.count())
            .select_from(EventPost)
            .where(EventPost.closed_at.is_(None), EventPost.received_at < since)
        )
        or 0
    )
    late = {"batches": batches, "letters": letters, "posts of events": posts}
    if any(late.values()):
        words = ", ".join(f"{number} {name}" for name, number in late.items() if number)
        return warning("waiting", f"due for over 5 minutes: {words}: see that workers run, and their logs, or add one")
    return ok("waiting", "nothing waits for longer than it should")


def _due(table: type[Batch] | type[Letter], since: datetime) -> Select[int]:
    ready = (table.state == BatchState.READY, table.not_before_at < since)
    return select(func.count()).select_from(table).where(*ready)


LOOKS: tuple[Look, ...] = (
    look_at_scheduler,
    look_at_switch,
    look_at_zones,
    look_at_sources,
    look_at_unknown,
    look_at_waiting,
)
"""Cheap enough for every look at a page."""
