"""What a list says about readers who are there already: taken over only where the operator asks for it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from digest.domain.language import LanguageChoice
from digest.domain.schedule import Cadence
from digest.domain.subscriber import EndReason, SubscriberState
from digest.domain.suppression import SuppressionReason
from digest.steps.list_rows import Row
from digest.steps.manage_subscriptions import give_wishes
from digest.store.cadences import cadence_id
from digest.store.database import Sessions
from digest.store.staged import Known
from digest.store.subscribers import Wishes, get, lock_free, set_states, suppress_keys, those
from digest.store.tables import Subscriber

READS = frozenset({SubscriberState.ACTIVE, SubscriberState.PAUSED})
"""Who may be changed: whoever ended or has not confirmed stays as they are."""
AT_ONCE = 1_000
"""Readers in one transaction: so few that nobody who changes something themselves waits to be noticed."""
CADENCE = frozenset({"timezone", "time", "weekdays"})
"""The columns that say when."""
Pair = tuple[Subscriber, Row]


def update_known(
    sessions: Sessions, known: Sequence[Known], rows: Mapping[int, Row], now: datetime, *, is_rehearsal: bool
) -> set[int]:
    """Bring readers up to what their rows say, or end them where the row says so; nobody is revived.

    A cell that is empty, or a column that is not there, changes nothing.

    Returns:
        the numbers of the rows that changed something, or would.
    """
    by_id = {one.id: rows[one.number] for one in known if one.state in READS}
    changed: set[int] = set()
    for ids in _some(sorted(by_id)):
        some = {one: by_id[one] for one in ids}
        changed |= _rehearse(sessions, some) if is_rehearsal else _update(sessions, some, now)
    return changed


def _some(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for first in range(0, len(ids), AT_ONCE):
        yield ids[first : first + AT_ONCE]


def _rehearse(sessions: Sessions, rows: Mapping[int, Row]) -> set[int]:
    with sessions() as session:
        return {row.number for _, row in _differing(those(session, rows), rows)}


def _update(sessions: Sessions, rows: Mapping[int, Row], now: datetime) -> set[int]:
    """In a few statements; whoever is being changed by somebody else comes after them, one by one."""
    _make_cadences(sessions, rows, now)
    with sessions.begin() as session:
        free = lock_free(session, rows)
        changed = _take_over(session, _differing(free, rows), now)
    for subscriber_id in rows.keys() - {one.id for one in free}:
        with sessions.begin() as session:
            one = get(session, subscriber_id, lock=True)
            changed |= _take_over(session, _differing([one] if one else [], rows), now)
    return changed


def _make_cadences(sessions: Sessions, rows: Mapping[int, Row], now: datetime) -> None:
    """Before any reader is locked: a sign-up that makes the same one may want that reader next.

    Where a row says nothing of when, or everything, its cadence is there already.
    """
    partly = {one: row for one, row in rows.items() if CADENCE.intersection(row.standing.said) not in (set(), CADENCE)}
    if partly:
        with sessions.begin() as session:
            _cadences(session, _differing(those(session, partly), partly), now)


def _differing(readers: Sequence[Subscriber], rows: Mapping[int, Row]) -> list[Pair]:
    """Readers of whom the list says something else; of one who has moved to another address since, it says nothing."""
    pairs = [(one, rows[one.id]) for one in readers if one.state in READS and one.email_key == rows[one.id].key]
    return [(one, row) for one, row in pairs if _ends(row) or _meant(one, row) != _has(one)]


def _ends(row: Row) -> bool:
    return row.standing.state is SubscriberState.ENDED or row.standing.bar is not None


def _has(one: Subscriber) -> tuple[LanguageChoice, Cadence, str, str]:
    return one.languages, one.cadence_row.cadence, one.topics, one.name


def _meant(one: Subscriber, row: Row) -> tuple[LanguageChoice, Cadence, str, str]:
    said, asked, had = row.standing.said, row.standing, one.cadence_row.cadence
    cadence = Cadence(
        asked.cadence.timezone if "timezone" in said else had.timezone,
        asked.cadence.at if "time" in said else had.at,
        asked.cadence.weekdays if "weekdays" in said else had.weekdays,
    )
    languages = asked.languages if "language" in said else one.languages
    return languages, cadence, asked.topics if "topics" in said else one.topics, row.name or one.name


def _take_over(session: Session, pairs: Sequence[Pair], now: datetime) -> set[int]:
    _end(session, [pair for pair in pairs if _ends(pair[1])], now)
    _change(session, [pair for pair in pairs if not _ends(pair[1])], now)
    return {row.number for _, row in pairs}


def _end(session: Session, pairs: Sequence[Pair], now: datetime) -> None:
    set_states(session, [(one, _reason(row)) for one, row in pairs], SubscriberState.ENDED, now)
    barred: defaultdict[SuppressionReason, list[str]] = defaultdict(list)
    for one, row in pairs:
        if row.standing.bar is not None:
            barred[row.standing.bar].append(one.email_key)
    for reason, keys in barred.items():
        suppress_keys(session, keys, reason, now)


def _reason(row: Row) -> EndReason:
    """They said goodbye elsewhere and need no letter about it here."""
    reason = row.standing.reason
    return EndReason.IMPORTED if reason is None or reason is EndReason.UNSUBSCRIBED else reason


def _change(session: Session, pairs: Sequence[Pair], now: datetime) -> None:
    cadences = _cadences(session, pairs, now)
    wanted = []
    for one, row in pairs:
        languages, cadence, topics, one.name = _meant(one, row)
        wanted.append((one, Wishes(languages, cadences[cadence], topics)))
    give_wishes(session, wanted, now)


def _cadences(session: Session, pairs: Sequence[Pair], now: datetime) -> dict[Cadence, int]:
    """The ids of the cadences that readers get."""
    meant = {_meant(one, row)[1] for one, row in pairs if not _ends(row)}
    return {cadence: cadence_id(session, cadence, now) for cadence in meant}
