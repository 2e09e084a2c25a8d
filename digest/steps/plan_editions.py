"""Due local dates -> editions, briefs, batches and deliveries. Touches groups of readers, never single ones."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from sqlalchemy.orm import Session

from digest.domain.brief import BriefState
from digest.domain.edition import LONGEST_WINDOW, REACH_BACK, EditionKey, Policy, edition_for
from digest.domain.schedule import is_known_zone, sends_between
from digest.store.cadences import all_cadences
from digest.store.database import Sessions
from digest.store.planning import (
    SETTLED,
    DueGroup,
    add_batches,
    brief_of,
    close_mornings,
    due_groups,
    edition_id,
    fill_batches,
    mornings_since,
    open_mornings,
)
from digest.store.tables import Brief, CadenceRow, Morning

REMEMBERS = timedelta(days=7)
"""How far back mornings that went by are written down as missed."""

Mornings = dict[tuple[int, date], Morning]


@dataclass(slots=True)
class Planned:
    """What one planning did.

    Attributes:
        editions: ids of the editions that got deliveries.
        deliveries: how many deliveries were planned.
        missed: how many were written down as missed.
        unknown_zones: zone names of cadences that the running tzdata has no rules for.
    """

    editions: list[int] = field(default_factory=list)
    deliveries: int = 0
    missed: int = 0
    unknown_zones: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Due:
    """Cadences whose readers share an edition."""

    opening: list[int] = field(default_factory=list)
    closing: list[int] = field(default_factory=list)


def plan_editions(sessions: Sessions, now: datetime, policy: Policy, batch_size: int) -> Planned:
    """Plan every send whose lead has begun and whose grace is not over; write down the mornings that went by.

    Safe to call at any time, any number of times, from any number of processes: a cadence's date is taken once before
    its instant and closed once at or after it, which takes in whoever joined in between.
    """
    planner = _Planner(sessions, now, policy, batch_size)
    with sessions() as session:
        cadences = all_cadences(session)
    planner.planned.unknown_zones = sorted({row.timezone for row in cadences if not is_known_zone(row.timezone)})
    usable = [row for row in cadences if is_known_zone(row.timezone)]
    for key, ids in planner.missed(usable).items():
        planner.record_missed(key, ids)
    for key, due in planner.due(usable).items():
        planner.plan(key, due)
    return planner.planned


@dataclass(frozen=True, slots=True)
class _Planner:
    """One planning: what it reads and what it has done."""

    sessions: Sessions
    now: datetime
    policy: Policy
    batch_size: int
    planned: Planned = field(default_factory=Planned)

    def known(self) -> Mornings:
        """The mornings dealt with, as far back as matters."""
        with self.sessions() as session:
            return mornings_since(session, (self.now - REMEMBERS - REACH_BACK).date())

    def missed(self, cadences: Iterable[CadenceRow]) -> dict[EditionKey, list[int]]:
        """Sends that went by, grace and all, without being planned."""
        known = self.known()
        found: dict[EditionKey, list[int]] = defaultdict(list)
        for row in cadences:
            start = max(row.created_at, self.now - REMEMBERS)
            for send in sends_between(row.cadence, start, self.now - self.policy.grace):
                if (row.id, send.on) not in known:
                    found[edition_for(row.cadence, send, frozenset(), self.policy)].append(row.id)
        return dict(sorted(found.items()))

    def due(self, cadences: Iterable[CadenceRow]) -> dict[EditionKey, _Due]:
        """Sends inside their lead or grace that are not planned, or not closed though their instant has come."""
        known = self.known()
        found: dict[EditionKey, _Due] = defaultdict(_Due)
        until = self.now + self.policy.lead + timedelta(microseconds=1)
        for row in cadences:
            for send in sends_between(row.cadence, self.now - self.policy.grace, until):
                morning = known.get((row.id, send.on))
                if morning is not None and (morning.closed_at is not None or send.at > self.now):
                    continue
                due = found[edition_for(row.cadence, send, _missed_dates(known, row.id), self.policy)]
                (due.opening if morning is None else due.closing).append(row.id)
        return dict(sorted(found.items()))

    def record_missed(self, key: EditionKey, ids: list[int]) -> None:
        """Write down that this send went by, for everyone who was to get it."""
        with self.sessions.begin() as session:
            taken = open_mornings(session, ids, key.on, self.now, missed=True)
            if not taken:
                return
            for group in due_groups(session, taken, key, created_before=key.send_at):
                brief = brief_of(session, edition_id(session, key), group.language, group.topics, BriefState.MISSED)
                self._fill(session, taken, key, group, brief)
                self.planned.missed += group.readers

    def plan(self, key: EditionKey, due: _Due) -> None:
        """Write the deliveries of one send."""
        with self.sessions.begin() as session:
            taken = open_mornings(session, due.opening, key.on, self.now) if due.opening else []
            if key.send_at <= self.now:
                closed = close_mornings(session, [*taken, *due.closing], key.on, self.now)
                taken = sorted({*taken, *closed})
            for group in due_groups(session, taken, key) if taken else []:
                edition = edition_id(session, _window_of(key, group))
                brief = brief_of(session, edition, group.language, group.topics, BriefState.PLANNED)
                self._fill(session, taken, key, group, brief)
                self._count(edition, group)

    def _count(self, edition: int, group: DueGroup) -> None:
        self.planned.deliveries += group.readers
        if edition not in self.planned.editions:
            self.planned.editions.append(edition)

    def _fill(self, session: Session, taken: list[int], key: EditionKey, group: DueGroup, brief: Brief) -> None:
        state, reason = SETTLED[brief.state]
        row = {
            "state": state,
            "reason": reason,
            "not_before_at": key.send_at,
            "expires_at": key.send_at + self.policy.grace,
        }
        count = -(-group.readers // self.batch_size)
        ids = add_batches(session, brief, [row | {"number": number} for number in range(count)])
        fill_batches(session, taken, key, group, ids)


def _missed_dates(known: Mornings, cadence_id: int) -> frozenset[date]:
    return frozenset(on for (of, on), morning in known.items() if of == cadence_id and morning.missed)


def _window_of(key: EditionKey, group: DueGroup) -> EditionKey:
    """The edition for readers who carry their own window start."""
    if group.window_start_at is None:
        return key
    start = min(max(group.window_start_at, key.window_end - LONGEST_WINDOW), key.window_end)
    return EditionKey(key.send_at, key.on, start, key.window_end)
