"""Some thousand checked rows of a list -> subscribers, consents, letters, bars, in one transaction."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.orm import Session

from digest.domain.schedule import Cadence
from digest.domain.subscriber import SubscriberState
from digest.domain.suppression import SuppressionReason
from digest.steps.list_rows import ERASED, Row, Standing
from digest.store.cadences import cadence_id
from digest.store.seen import Seen
from digest.store.staged import (
    Known,
    add_bars,
    add_consents,
    add_letters,
    add_subscribers,
    has_hashes,
    staged_by_state,
    take_barred,
    take_known,
)
from digest.store.staging import add_hashes, free_id, stage
from digest.store.subscribers import suppress_hash


@dataclass(frozen=True, slots=True)
class Saved:
    """What a lot came to; a row that is in none of the lists is a new reader, or a new bar.

    Attributes:
        barred: row numbers of addresses that must not be written to, and why.
        repeated: row numbers of addresses that an earlier lot had; a rehearsal alone tells them from known ones.
        states: how many new readers are in each state.
    """

    known: Sequence[Known] = ()
    barred: Sequence[tuple[int, SuppressionReason]] = ()
    repeated: Sequence[int] = ()
    states: Counter[str] = field(default_factory=Counter)


class Lots:
    """Saves lots of one list, or finds out what saving them would come to.

    Args:
        hashes: the keyed hashes of an address, to find erased ones.
    """

    def __init__(self, hashes: Callable[[str], Sequence[str]], now: datetime) -> None:
        self._hashes, self._now = hashes, now
        self._seen = Seen()
        self._cadences: dict[Cadence, int] = {}

    def close(self) -> None:
        """Let go of the temporary file."""
        self._seen.close()

    def forget(self) -> None:
        """A transaction was taken back, and maybe the cadences that it made."""
        self._cadences.clear()

    def save(self, session: Session, rows: Sequence[Row]) -> Saved:
        """Write what is new."""
        for row in rows:
            if not row.key:
                suppress_hash(session, row.address.removeprefix(ERASED), self._now)
        readers = [row for row in rows if row.key]
        self._stage(session, readers)
        barred = take_barred(session)
        new = add_subscribers(session, self._now)
        known = take_known(session) if new < len(readers) else []
        add_consents(session, self._now)
        add_letters(session, self._now)
        add_bars(session, self._now)
        return Saved(known, barred, (), staged_by_state(session))

    def rehearse(self, session: Session, rows: Sequence[Row]) -> Saved:
        """What :meth:`save` would find; only tables of the transaction's own are written to."""
        readers = [row for row in rows if row.key]
        self._stage(session, readers)
        barred, known = take_barred(session), take_known(session)
        out = {number for number, _ in barred} | {one.number for one in known}
        new = [row for row in readers if row.number not in out and row.standing.state]
        repeats = self._seen.repeats(row.key for row in new)
        states = Counter(str(row.standing.state) for row in new if row.key not in repeats)
        repeated = [row.number for row in new if row.key in repeats]
        return Saved(known, barred, repeated, states)

    def _stage(self, session: Session, rows: Iterable[Row]) -> None:
        numbers: dict[Standing, int] = {}
        staged = [(*row[:-1], numbers.setdefault(row.standing, len(numbers))) for row in rows]
        kinds = [(number, *self._kind(session, one)) for one, number in numbers.items()]
        stage(session, staged, kinds, free_id(session))
        if has_hashes(session):
            add_hashes(session, ((row.number, one) for row in rows for one in self._hashes(row.address)))

    def _kind(self, session: Session, one: Standing) -> tuple[object, ...]:
        """A row of the table of what rows have in common."""
        source = one.consent_source or ("" if one.state is SubscriberState.ENDED else "import")
        languages, cadence = one.languages, self._cadence(session, one.cadence)
        words = (one.topics, source, one.consent_wording, one.paused_until_on)
        return one.state, one.reason, one.bar, languages, languages.language, cadence, *words

    def _cadence(self, session: Session, cadence: Cadence) -> int:
        if cadence not in self._cadences:
            self._cadences[cadence] = cadence_id(session, cadence, self._now)
        return self._cadences[cadence]
