"""The kept counts as the Today page tells them: waves as the morning goes round the world, and the hours ahead."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from digest.domain.schedule import Cadence, is_known_zone, sends_between
from digest.store.figures import BEYOND, Count, Morning

SLOT = timedelta(minutes=30)
DAY = timedelta(days=1)
BOUNCES = ("bounced", "soft_bounced", "blocked", "dropped")
"""Events that tell of a brief that did not arrive."""


@dataclass(frozen=True, slots=True)
class Row:
    """What became of the briefs of a zone, a wave or a day.

    Attributes:
        late_minutes: how late the hand-overs were on average; None where nothing was sent.
        latest_minutes: the bound that the latest of them kept; None as above, infinity beyond the last bound.
        skipped: reason -> how many.
    """

    name: str
    due: int
    sent: int
    delivered: int
    bounced: int
    unknown: int
    failed: int
    waiting: int
    skipped: Mapping[str, int]
    late_minutes: float | None
    latest_minutes: float | None

    @property
    def skips(self) -> int:
        """Skipped for any reason."""
        return sum(self.skipped.values())

    @property
    def is_troubled(self) -> bool:
        """Whether somebody should look: what is nobody's wish or lack of news."""
        return bool(self.unknown or self.failed or self.skipped.get("late") or self.skipped.get("missed"))


@dataclass(frozen=True, slots=True)
class Wave:
    """One instant and local date: everybody whose hour it was."""

    send_at: datetime
    on: date
    counted_at: datetime
    whole: Row
    zones: Sequence[Row] = field(default_factory=list)


def row_of(name: str, count: Count) -> Row:
    """The counts as one line."""
    sent = count.of("sent")
    skipped = {word.partition(":")[2]: n for word, n in count.status.items() if word.startswith("skipped") and n}
    bounds = [float("inf") if bound == BEYOND else int(bound) / 60 for bound, number in count.late.items() if number]
    return Row(
        name=name,
        due=count.due,
        sent=sent,
        delivered=count.events["delivered"],
        bounced=sum(count.events[kind] for kind in BOUNCES),
        unknown=count.of("unknown"),
        failed=count.of("failed"),
        waiting=count.waiting,
        skipped=dict(sorted(skipped.items(), key=lambda pair: -pair[1])),
        late_minutes=count.late_seconds / 60 / sent if sent else None,
        latest_minutes=max(bounds, default=None),
    )


def waves_of(mornings: Iterable[Morning]) -> list[Wave]:
    """One wave for each instant and date, the newest first; in each the zones with most readers first."""
    found = []
    for morning in mornings:
        zones = [row_of(zone, count) for zone, count in morning.zones.items()]
        zones.sort(key=lambda row: (-row.due, row.name))
        found.append(Wave(morning.send_at, morning.on, morning.counted_at, row_of("", morning.total), zones))
    return sorted(found, key=lambda wave: (wave.send_at, wave.on), reverse=True)


def whole_of(mornings: Iterable[Morning]) -> Row:
    """All of them as one line."""
    whole = Count()
    for morning in mornings:
        whole.add(morning.total)
    return row_of("", whole)


@dataclass(frozen=True, slots=True)
class Slot:
    """Half an hour of the clock: how many readers are due in it, and where most of them are."""

    starts_at: datetime
    readers: int
    zones: Sequence[str]


@dataclass(frozen=True, slots=True)
class Ahead:
    """The coming 24 hours.

    Attributes:
        slots: half an hour each, from the one that now lies in; what is left of that one tomorrow counts with it.
        next_zone: whose hour comes first; empty where nobody is due.
    """

    slots: Sequence[Slot]
    readers: int
    next_zone: str


def coming(cadences: Iterable[tuple[Cadence, int]], now: datetime) -> Ahead:
    """Who is due within 24 hours.

    Args:
        cadences: each with how many active readers have it.
        now: aware.
    """
    start = now.replace(minute=now.minute // 30 * 30, second=0, microsecond=0)
    slots, due = DAY // SLOT, list[tuple[datetime, int, str]]()
    for cadence, number in cadences:
        if number and is_known_zone(cadence.timezone):
            due += [(send.at, number, cadence.timezone) for send in sends_between(cadence, now, now + DAY)]
    readers: dict[int, Counter[str]] = defaultdict(Counter)
    for at, number, zone in due:
        readers[(at - start) // SLOT % slots][zone] += number
    found = [
        Slot(start + SLOT * n, readers[n].total(), [zone for zone, _ in readers[n].most_common(3)])
        for n in range(slots)
    ]
    first = min(due, key=lambda one: (one[0], -one[1]), default=None)
    return Ahead(found, sum(number for _, number, _ in due), first[2] if first else "")
