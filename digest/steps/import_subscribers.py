"""A list from elsewhere -> subscribers. Never revives anyone, never activates without a word on consent.

Rows go to the database some thousand at a time, each lot in a transaction of its own: a run that is killed keeps what
it had, and the same run again passes over that and ends with the same list.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from sqlalchemy.exc import DataError, IntegrityError

from digest.domain.imported import Imported, Verdict
from digest.domain.subscriber import SubscriberState
from digest.steps.list_rows import COLUMNS, MORE_COLUMNS, Defaults, Fault, Row, RowReader
from digest.steps.save_lots import Lots, Saved
from digest.steps.update_imported import READS, update_known
from digest.store.database import Sessions
from digest.store.staged import Known, newest_id

__all__ = ("COLUMNS", "MORE_COLUMNS", "Defaults", "Imported", "Plan", "Verdict", "import_subscribers")

LOT = 10_000
"""Rows that are committed together."""
AGAIN = frozenset({Verdict.KNOWN, Verdict.UPDATED, Verdict.SKIPPED, Verdict.SUPPRESSED})
"""What a row is as often as it stands in the file."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a list is imported.

    Attributes:
        is_rehearsal: look and count; change nothing.
        updates: bring what readers asked for up to what the file says.
        tell: called with every row's number, what became of it, and why.
        advance: called with the number of rows after each lot.
    """

    is_rehearsal: bool = False
    updates: bool = False
    tell: Callable[[int, Verdict, str], None] | None = None
    advance: Callable[[int], None] | None = None


def import_subscribers(
    sessions: Sessions,
    rows: Iterable[tuple[int, Mapping[str, str]]],
    defaults: Defaults,
    hashes: Callable[[str], Sequence[str]],
    now: datetime,
    plan: Plan | None = None,
) -> Imported:
    """Add the new readers of a list. A row that can't be used is reported with its number and stops no other.

    Args:
        rows: row number and cells by column name, see :data:`COLUMNS` and :data:`MORE_COLUMNS`.
        hashes: the keyed hashes of an address, to find erased ones.
        plan: how; None: as usual.
    """
    importing = _Import(sessions, Lots(hashes, now), now, plan or Plan())
    checked = RowReader(defaults, now).read(rows)
    # The next lot is read while the database works on this one.
    with ThreadPoolExecutor(1) as reader:
        ahead = reader.submit(_lot, checked)
        while lot := ahead.result():
            ahead = reader.submit(_lot, checked)
            importing.take(lot)
    importing.lots.close()
    return importing.imported


def _as_before(first: tuple[Verdict, str] | None) -> tuple[Verdict, str]:
    """What a repeated row is, after what its first was: known or barred as that one, else a duplicate."""
    if first is None or first[0] not in AGAIN:
        return Verdict.DUPLICATE, ""
    return (Verdict.KNOWN, "") if first[0] is Verdict.UPDATED else first


def _lot(rows: Iterator[Row | Fault]) -> list[Row | Fault]:
    return list(islice(rows, LOT))


class _Import:
    """One run over a list."""

    def __init__(self, sessions: Sessions, lots: Lots, now: datetime, plan: Plan) -> None:
        self.imported, self.lots = Imported(), lots
        self._sessions, self._now, self._plan = sessions, now, plan
        self._told: dict[int, tuple[Verdict, str]] = {}
        with sessions() as session:
            self._newest = newest_id(session)

    def take(self, lot: Sequence[Row | Fault]) -> None:
        """Import some rows, and tell what became of each."""
        self._told = {}
        rows: dict[str, Row] = {}
        repeats: list[tuple[int, int]] = []
        for one in lot:
            if isinstance(one, Fault):
                self._told[one.number] = (Verdict.REFUSED, one.words)
            elif (first := rows.setdefault(one.key or one.address, one)) is not one:
                repeats.append((one.number, first.number))
            elif one.standing.state is None:
                self._told[one.number] = (Verdict.BARRED, "")
        self._write(list(rows.values()))
        self._told.update({number: _as_before(self._told.get(first)) for number, first in repeats})
        self._count(lot)

    def _write(self, rows: list[Row]) -> None:
        """One transaction; where a row is at fault that looked right, halves, until it stands alone."""
        try:
            with self._sessions.begin() as session:
                saved = (self.lots.rehearse if self._plan.is_rehearsal else self.lots.save)(session, rows)
        except (DataError, IntegrityError):
            self.lots.forget()
            middle = len(rows) // 2
            if middle == 0:
                self._told[rows[0].number] = (Verdict.REFUSED, "the database can't hold this row.")
                return
            self._write(rows[:middle])
            self._write(rows[middle:])
        else:
            self._judge(rows, saved)

    def _judge(self, rows: Sequence[Row], saved: Saved) -> None:
        self.imported.by_status.update(saved.states)
        self.imported.letters += saved.states[SubscriberState.PENDING]
        self._told.update({number: (Verdict.SUPPRESSED, reason) for number, reason in saved.barred})
        self._told.update(dict.fromkeys(saved.repeated, (Verdict.DUPLICATE, "")))
        self._told.update({one.number: self._verdict(one) for one in saved.known})
        if self._plan.updates and saved.known:
            by_number = {row.number: row for row in rows}
            dry = self._plan.is_rehearsal
            changed = update_known(self._sessions, saved.known, by_number, self._now, is_rehearsal=dry)
            self._told.update(dict.fromkeys(changed, (Verdict.UPDATED, "")))

    def _verdict(self, one: Known) -> tuple[Verdict, str]:
        if one.id > self._newest and one.created_at == self._now:
            return Verdict.DUPLICATE, ""
        return (Verdict.KNOWN, one.state) if one.state in READS else (Verdict.SKIPPED, one.reason or one.state)

    def _count(self, lot: Sequence[Row | Fault]) -> None:
        """Count the rows; those that nothing was said of are new readers."""
        for number, (verdict, why) in self._told.items():
            self.imported.note(number, verdict, why)
        self.imported.new += len(lot) - len(self._told)
        if self._plan.tell:
            for one in lot:
                self._plan.tell(one.number, *self._told.get(one.number, (Verdict.IMPORTED, "")))
        if self._plan.advance:
            self._plan.advance(len(lot))
