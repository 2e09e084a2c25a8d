"""What the database itself says: whether the scheduler ticks, mail may leave, and everything there is finds its way."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from digest.domain.delivery import BatchState, DeliveryReason
from digest.domain.notice import Notice, Value, notice
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
    start = notice("start digest run, or digest beat and a worker with the queue tick")
    if mark is None:
        return warning("scheduler", "last tick: never; {start}", start=start)
    last = f"{mark.changed_at:%Y-%m-%d %H:%M:%S}Z"
    if mark.changed_at > now + AHEAD:
        return warning(
            "scheduler",
            "last tick: {last}, which is still to come: a clock was ahead; set every machine's by NTP, "
            "the next tick mends it",
            last=last,
        )
    if now - mark.changed_at > SILENT_AFTER:
        return fault("scheduler", "last tick: {last}; {start}", last=last, start=start)
    return ok("scheduler", "ticks")


def look_at_switch(session: Session, now: datetime) -> Finding:
    """Whether mail may leave at all, and who stopped it."""
    row = session.get(Switch, PAUSED)
    if row is None:
        return ok("sending switch", "on")
    since: dict[str, Value] = {"since": f"{row.changed_at:%Y-%m-%d %H:%M}Z", "span": _hours(now - row.changed_at)}
    if row.value in {"", "operator"}:
        return fault(
            "sending switch",
            "paused by the operator since {since} ({span}): go on with digest deliveries resume",
            **since,
        )
    return fault(
        "sending switch",
        "paused since {since} ({span}) by “{why}”: mend that, then digest deliveries resume",
        why=row.value,
        **since,
    )


def _hours(span: timedelta) -> Notice:
    hours, minutes = divmod(max(0, int(span / timedelta(minutes=1))), 60)
    if not hours:
        return notice("{minutes} min", minutes=str(minutes))
    return notice("{hours} h {minutes} min", hours=str(hours), minutes=f"{minutes:02}")


def look_at_zones(session: Session, _: datetime) -> Finding:
    """Whether the running tzdata has rules for every zone of the list."""
    unknown = sorted({row.timezone for row in all_cadences(session) if not is_known_zone(row.timezone)})
    if unknown:
        return fault("zones of the list", "no rules, so no brief: {zones}: upgrade tzdata or change it", zones=unknown)
    return ok("zones of the list", "all known")


def look_at_sources(session: Session, now: datetime) -> Finding:
    """Whether feeds are read, and whether there was anything in them."""
    feeds = session.scalars(select(Source).where(Source.feed_url.is_not(None)).order_by(Source.name)).all()
    if not feeds:
        return ok("sources", "no feeds; stories come by import")
    ill = [feed for feed in feeds if feed.rest or (feed.failing_since_at and now - feed.failing_since_at > STALE_NEWS)]
    newest = session.scalar(select(Story.seen_at).order_by(Story.id.desc()).limit(1))
    if newest is None or now - newest > STALE_NEWS:
        return _no_news(newest, _failing(feeds))
    number = str(len(feeds))
    if ill:
        return warning(
            "sources",
            "{ill} of {number} give nothing any more: {names}: see digest sources list, mend their addresses or "
            "remove them",
            ill=str(len(ill)),
            number=number,
            names=_names(ill),
        )
    if failing := _failing(feeds):
        return ok("sources", "{number} feeds; failing just now: {names}", number=number, names=_names(failing))
    return ok("sources", "{number} feeds", number=number)


def _no_news(newest: datetime | None, failing: list[Source]) -> Finding:
    lead = notice("no new story yet")
    if newest:
        lead = notice("no new story since {since}", since=f"{newest:%Y-%m-%d %H:%M}Z")
    if failing:
        return fault(
            "sources",
            "{lead}, so the next brief has nothing; failing: {names}: digest sources list",
            lead=lead,
            names=_names(failing),
        )
    return fault("sources", "{lead}, so the next brief has nothing: digest sources list", lead=lead)


def _failing(feeds: Sequence[Source]) -> list[Source]:
    return [feed for feed in feeds if feed.error]


def _names(feeds: list[Source]) -> Value:
    shown = [_name(feed) for feed in feeds[:MOST_SHOWN]]
    if len(feeds) <= MOST_SHOWN:
        return shown
    return notice("{names} and {number} more", names=shown, number=str(len(feeds) - MOST_SHOWN))


def _name(feed: Source) -> Value:
    return notice("{name} ({error})", name=feed.name, error=feed.error) if feed.error else feed.name


def look_at_unknown(session: Session, _: datetime) -> Finding:
    """Deliveries that may or may not have gone out and that wait for a word."""
    by = (Batch.reason, func.count())
    counts = dict(session.execute(select(*by).where(Batch.state == BatchState.UNKNOWN).group_by(Batch.reason)).all())
    if not counts:
        return ok("unknown", "no batch whose fate is unknown")
    found = [_in_doubt(reason, str(number)) for reason, number in sorted(counts.items(), key=str)]
    if counts.get(DeliveryReason.LEDGER_LOST, 0):
        return warning(
            "unknown",
            "batches that may have gone out: {counts}: the database came back from a back-up; "
            "see digest deliveries list --status unknown, give again what surely did not leave",
            counts=found,
        )
    return warning(
        "unknown",
        "batches that may have gone out: {counts}: the provider's events settle them, or "
        "digest deliveries list --status unknown and retry",
        counts=found,
    )


def _in_doubt(reason: DeliveryReason | None, number: str) -> Notice:
    match reason:
        case DeliveryReason.LEASE_EXPIRED:
            return notice("{number} lease_expired", number=number)
        case DeliveryReason.ANSWER_LOST:
            return notice("{number} answer_lost", number=number)
        case DeliveryReason.LEDGER_LOST:
            return notice("{number} ledger_lost", number=number)
    return notice("{number} {reason}", number=number, reason=str(reason))


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
    late = [
        notice("{number} batches", number=str(batches)) if batches else None,
        notice("{number} letters", number=str(letters)) if letters else None,
        notice("{number} posts of events", number=str(posts)) if posts else None,
    ]
    if waiting := [each for each in late if each]:
        return warning(
            "waiting",
            "due for over 5 minutes: {waiting}: see that workers run, and their logs, or add one",
            waiting=waiting,
        )
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
