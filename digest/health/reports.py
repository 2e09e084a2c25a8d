"""A morning as a whole: one local date around the world, whether it went well, and what the operator is told of it."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from digest.domain.schedule import Cadence, is_known_zone, send_on
from digest.domain.subscriber import SubscriberState
from digest.store.figures import BEYOND, OPEN, Count, count_morning, instants, mornings_of_date
from digest.store.tables import Batch, Brief, CadenceRow, Edition, Subscriber, Switch

REPORTED, GOOD = "morning_reported", "morning_good"
"""The marks of the last morning that the operator was told of, and of the last good one."""
DAY = timedelta(days=1)
SETTLED_AFTER = timedelta(minutes=30)
"""How long after a date's last instant it is reported: the provider's first events are in by then."""
MOST_LOST, MOST_BOUNCED, MOST_EMPTY = 0.001, 0.05, 0.5
"""Shares above which a morning was not good: not handed over, bounced or blocked, and without anything new."""
LATE_SECONDS = 1800
MOST_LATE = 0.01
OURS = ("failed:tried_out", "failed:not_compiled", "failed:never_taken", "skipped:late", "skipped:missed")
"""Outcomes that were for us to prevent."""


@dataclass(frozen=True, slots=True)
class Report:
    """One local date.

    Attributes:
        flaws: why it was not good, as words of :data:`FLAWS`; empty for a good one.
        zones: time zone -> its counts.
    """

    on: date
    total: Count
    zones: dict[str, Count]
    flaws: tuple[str, ...]

    @property
    def is_good(self) -> bool:
        """Whether briefs were due and nothing has to be looked at."""
        return self.total.due > 0 and not self.flaws

    @property
    def bounced(self) -> int:
        """Mail that came back, for whatever reason."""
        return self.total.bounced

    @property
    def lost(self) -> int:
        """Briefs that did not leave though they should have."""
        return _lost(self.total)


FLAWS = ("nobody", "lost", "unknown", "bounced", "late", "nothing_new", "without_zone")
"""Nobody got a brief; some were not handed over; some may or may not have been; many came back; many left more than a
half hour late; most had nothing new; some live in a zone without rules."""


def report_of(session: Session, on: date) -> Report:
    """What became of a date, from its kept counts."""
    total, zones = Count(), dict[str, Count]()
    for morning in mornings_of_date(session, on):
        total.add(morning.total)
        for zone, count in morning.zones.items():
            zones.setdefault(zone, Count()).add(count)
    return Report(on, total, zones, tuple(flaw for flaw in FLAWS if _has(flaw, total)))


def _has(flaw: str, total: Count) -> bool:
    sent, due = total.of("sent"), total.due
    slow = sum(number for bound, number in total.late.items() if bound == BEYOND or int(bound) > LATE_SECONDS)
    return {
        "nobody": sent == 0 and due > 0,
        "lost": _lost(total) > due * MOST_LOST,
        "unknown": total.of("unknown") > due * MOST_LOST,
        "bounced": total.bounced > sent * MOST_BOUNCED,
        "late": slow > sent * MOST_LATE,
        "nothing_new": total.status["skipped:nothing_new"] > due * MOST_EMPTY,
        "without_zone": total.status["skipped:unknown_timezone"] > 0,
    }[flaw]


def _lost(total: Count) -> int:
    return sum(total.status[word] for word in OURS)


def morning_to_report(session: Session, now: datetime) -> date | None:
    """The newest date that is over around the world, as far as there are readers, and was not reported yet."""
    row = session.get(Switch, REPORTED)
    last = date.fromisoformat(row.value) if row and row.value else date.min
    on = now.date() + DAY
    while on > max(last, now.date() - 3 * DAY):
        if _is_over(session, on, now):
            return on
        on -= DAY
    return None


def _is_over(session: Session, on: date, now: datetime) -> bool:
    """Whether the last instant of a date lies far enough back, and nothing of it is still to be handed over."""
    ends = [send.at for cadence in _read_cadences(session) if (send := send_on(cadence, on)) is not None]
    if not ends or max(ends) + SETTLED_AFTER > now:
        return False
    is_open = exists().where(Batch.state.in_(OPEN), Batch.brief_id == Brief.id, Brief.edition_id == Edition.id)
    if session.scalar(select(Edition.id).where(Edition.on == on, is_open).limit(1)) is not None:
        return False
    for send_at, _ in _instants_of(session, on):
        count_morning(session, send_at, on, now)
    return report_of(session, on).total.due > 0


def _instants_of(session: Session, on: date) -> list[tuple[datetime, date]]:
    start = datetime(on.year, on.month, on.day, tzinfo=UTC) - 2 * DAY
    return [each for each in instants(session, start, start + 5 * DAY) if each[1] == on]


def _read_cadences(session: Session) -> list[Cadence]:
    """Those that somebody reads by; a look into an index for each."""
    reads = exists().where(Subscriber.cadence_id == CadenceRow.id, Subscriber.state == SubscriberState.ACTIVE)
    return [row.cadence for row in session.scalars(select(CadenceRow).where(reads)) if is_known_zone(row.timezone)]


def mark(session: Session, name: str, on: date, now: datetime) -> None:
    """Remember a date under :data:`REPORTED` or :data:`GOOD`."""
    session.merge(Switch(name=name, value=on.isoformat(), changed_at=now))


def last_good_morning(session: Session) -> datetime | None:
    """When the last good morning was reported; None before the first."""
    row = session.get(Switch, GOOD)
    return row.changed_at if row else None
