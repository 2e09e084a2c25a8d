"""Due local dates -> editions, briefs, batches and deliveries. Touches groups of readers, never single ones."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from sqlalchemy.orm import Session

from digest.domain.brief import BriefState
from digest.domain.delivery import BatchState, DeliveryReason
from digest.domain.edition import LONGEST_WINDOW, REACH_BACK, EditionKey, Policy, edition_for
from digest.domain.schedule import Cadence, Send, is_known_zone, sends_between
from digest.steps.change_months import change_months
from digest.store.cadences import all_cadences
from digest.store.database import Sessions
from digest.store.months import make_months
from digest.store.planning import (
    SETTLED,
    DueGroup,
    add_batches,
    brief_of,
    close_mornings,
    due_groups,
    edition_id,
    fill_batches,
    missed_dates,
    mornings_of,
    open_mornings,
)
from digest.store.tables import Brief
from digest.store.windows import keep_windows_open

REMEMBERS = timedelta(days=7)
"""How far back mornings that went by are written down as missed."""
OVERLAP = timedelta(minutes=10)
"""How much of the time before the last turn is looked at again, since clocks of several machines differ a little."""
TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Since:
    """What the scheduler knows of the time before this candidate.

    Attributes:
        turn_at: when it was last here; None when never.
        lost_until: until when it had been here according to the witness, where the ledger forgot that.
    """

    turn_at: datetime | None = None
    lost_until: datetime | None = None


@dataclass(slots=True)
class Planned:
    """What one planning did.

    Attributes:
        editions: ids of the editions that got deliveries.
        deliveries: how many deliveries were planned.
        missed: how many were written down as missed.
        lost: how many may have gone out before the ledger came back from a backup.
        unknown_zones: zone names of cadences that the running tzdata has no rules for.
        without_zone: how many deliveries were skipped for that.
    """

    editions: list[int] = field(default_factory=list)
    deliveries: int = 0
    missed: int = 0
    lost: int = 0
    unknown_zones: list[str] = field(default_factory=list)
    without_zone: int = 0


@dataclass(slots=True)
class _Due:
    """Cadences whose readers share an edition."""

    opening: list[int] = field(default_factory=list)
    closing: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A cadence's send that this planning looks at; in a zone without rules it is UTC's."""

    cadence_id: int
    cadence: Cadence
    send: Send
    is_known: bool


def plan_editions(
    sessions: Sessions, now: datetime, policy: Policy, batch_size: int, since: Since | None = None
) -> Planned:
    """Plan every send whose lead has begun and whose grace is not over; write down the mornings that went by.

    Safe to call at any time, any number of times, from any number of processes: a cadence's date is taken once before
    its instant and closed once at or after it, which takes in whoever joined in between.
    """
    planner = _Planner(sessions, now, policy, batch_size, since or Since())
    open_sends = planner.open_sends()
    if open_sends:
        dates = {candidate.send.on for candidate, _ in open_sends}
        change_months(sessions, lambda session: make_months(session, dates))
        planner.take(open_sends)
    return planner.planned


@dataclass(frozen=True, slots=True)
class _Planner:
    """One planning: what it reads and what it has done."""

    sessions: Sessions
    now: datetime
    policy: Policy
    batch_size: int
    since: Since
    planned: Planned = field(default_factory=Planned)

    def open_sends(self) -> list[tuple[_Candidate, bool]]:
        """The sends that still need something, in order; with each, whether its morning was opened before."""
        found = list(self._sends())
        if not found:
            return []
        ids, first = {candidate.cadence_id for candidate in found}, min(candidate.send.on for candidate in found)
        with self.sessions() as session:
            closed = mornings_of(session, ids, first)
        states = [(candidate, closed.get((candidate.cadence_id, candidate.send.on))) for candidate in found]
        wanted = [
            (candidate, state is not None) for candidate, state in states if self._needs(candidate, is_closed=state)
        ]
        return sorted(wanted, key=lambda each: (each[0].send.at, each[0].send.on, each[0].cadence_id))

    def _sends(self) -> Iterator[_Candidate]:
        with self.sessions() as session:
            cadences = all_cadences(session)
        start, until = self._start(), self.now + self.policy.lead + TICK
        for row in cadences:
            known = is_known_zone(row.timezone)
            if not known and row.timezone not in self.planned.unknown_zones:
                self.planned.unknown_zones.append(row.timezone)
            # A zone without rules has no morning of its own; that it gets none is written down by UTC's.
            cadence = row.cadence if known else replace(row.cadence, timezone="UTC")
            for send in sends_between(cadence, start, until):
                if send.at >= row.created_at or self._is_within_grace(send):
                    yield _Candidate(row.id, cadence, send, known)

    def _start(self) -> datetime:
        """From where sends are looked at: what was within its grace at the last turn may still be open."""
        oldest, last = self.now - REMEMBERS, self.since.turn_at
        if last is None or last > self.now:
            return oldest
        return max(oldest, last - self.policy.grace - OVERLAP)

    def _is_within_grace(self, send: Send) -> bool:
        return send.at >= self.now - self.policy.grace

    def _needs(self, candidate: _Candidate, *, is_closed: bool | None) -> bool:
        if candidate.send.at > self.now:
            return is_closed is None and candidate.is_known
        if self._is_within_grace(candidate.send) or self._is_lost(candidate.send):
            return not is_closed
        return is_closed is None

    def _is_lost(self, send: Send) -> bool:
        until = self.since.lost_until
        return until is not None and send.at <= min(until, self.now)

    def take(self, open_sends: list[tuple[_Candidate, bool]]) -> None:
        """Deal with each: what went by first, so that the windows of what is due reach over it."""
        self._write_down([(candidate, opened) for candidate, opened in open_sends if not self._is_due(candidate)])
        due = [(candidate, opened) for candidate, opened in open_sends if self._is_due(candidate)]
        missed = self._missed({candidate.cadence_id for candidate, _ in due}) if due else {}
        for key, cadences in _by_edition(due, missed, self.policy).items():
            self._plan(key, cadences)

    def _is_due(self, candidate: _Candidate) -> bool:
        return candidate.is_known and self._is_within_grace(candidate.send) and not self._is_lost(candidate.send)

    def _missed(self, cadence_ids: set[int]) -> dict[int, frozenset[date]]:
        with self.sessions() as session:
            return missed_dates(session, cadence_ids, (self.now - REMEMBERS - REACH_BACK).date())

    def _write_down(self, went_by: list[tuple[_Candidate, bool]]) -> None:
        for reason in (DeliveryReason.LEDGER_LOST, DeliveryReason.UNKNOWN_TIMEZONE, DeliveryReason.MISSED):
            of_it = [(candidate, opened) for candidate, opened in went_by if self._why(candidate) is reason]
            for key, cadences in _by_edition(of_it, {}, self.policy).items():
                self._record(key, cadences, reason)

    def _why(self, candidate: _Candidate) -> DeliveryReason:
        if not candidate.is_known:
            return DeliveryReason.UNKNOWN_TIMEZONE
        return DeliveryReason.LEDGER_LOST if self._is_lost(candidate.send) else DeliveryReason.MISSED

    def _record(self, key: EditionKey, cadences: _Due, reason: DeliveryReason) -> None:
        """Write down that this send gets no brief now, for everyone who was to get it."""
        lost = reason is DeliveryReason.LEDGER_LOST
        with self.sessions.begin() as session:
            opened = open_mornings(session, cadences.opening, key.on, self.now, missed=not lost)
            closed = close_mornings(session, [*opened, *cadences.closing], key.on, self.now)
            taken = sorted({*opened, *closed})
            for group in due_groups(session, taken, key, created_before=key.send_at) if taken else []:
                state = BriefState.MISSED if reason is DeliveryReason.MISSED else BriefState.PLANNED
                brief = brief_of(session, edition_id(session, key), group.languages, group.topics, state)
                settled = (BatchState.UNKNOWN if lost else BatchState.SKIPPED, reason)
                ids = self._fill(session, taken, key, group, brief, settled)
                if reason is DeliveryReason.UNKNOWN_TIMEZONE:
                    keep_windows_open(session, ids)
                self._tally(reason, group.readers)

    def _tally(self, reason: DeliveryReason, readers: int) -> None:
        if reason is DeliveryReason.MISSED:
            self.planned.missed += readers
        elif reason is DeliveryReason.LEDGER_LOST:
            self.planned.lost += readers
        else:
            self.planned.without_zone += readers

    def _plan(self, key: EditionKey, due: _Due) -> None:
        """Write the deliveries of one send."""
        with self.sessions.begin() as session:
            taken = open_mornings(session, due.opening, key.on, self.now)
            if key.send_at <= self.now:
                closed = close_mornings(session, [*taken, *due.closing], key.on, self.now)
                taken = sorted({*taken, *closed})
            for group in due_groups(session, taken, key) if taken else []:
                edition = edition_id(session, _window_of(key, group))
                brief = brief_of(session, edition, group.languages, group.topics, BriefState.PLANNED)
                self._fill(session, taken, key, group, brief, SETTLED[brief.state])
                self._count(edition, group)

    def _count(self, edition: int, group: DueGroup) -> None:
        self.planned.deliveries += group.readers
        if edition not in self.planned.editions:
            self.planned.editions.append(edition)

    def _fill(
        self,
        session: Session,
        taken: list[int],
        key: EditionKey,
        group: DueGroup,
        brief: Brief,
        settled: tuple[BatchState, DeliveryReason | None],
    ) -> list[int]:
        state, reason = settled
        row = {"state": state, "reason": reason, "expires_at": key.send_at + self.policy.grace}
        numbers = range(-(-group.readers // self.batch_size))
        starts = [key.send_at + self.policy.delay(brief.id, number) for number in numbers]
        rows = [row | {"number": number, "not_before_at": starts[number]} for number in numbers]
        ids = add_batches(session, brief, rows)
        fill_batches(session, taken, key, group, ids)
        return ids


def _by_edition(
    sends: list[tuple[_Candidate, bool]], missed: Mapping[int, frozenset[date]], policy: Policy
) -> dict[EditionKey, _Due]:
    found: dict[EditionKey, _Due] = defaultdict(_Due)
    for candidate, opened in sends:
        due = found[
            edition_for(candidate.cadence, candidate.send, missed.get(candidate.cadence_id, frozenset()), policy)
        ]
        (due.closing if opened else due.opening).append(candidate.cadence_id)
    return dict(sorted(found.items()))


def _window_of(key: EditionKey, group: DueGroup) -> EditionKey:
    """The edition for readers who carry their own window start."""
    if group.window_start_at is None:
        return key
    start = min(max(group.window_start_at, key.window_end - LONGEST_WINDOW), key.window_end)
    return EditionKey(key.send_at, key.on, start, key.window_end)
