"""What a list says about readers who are there already: taken over only where the operator asks for it."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from digest.domain.language import LanguageChoice
from digest.domain.schedule import Cadence
from digest.domain.subscriber import EndReason, SubscriberState
from digest.steps.list_rows import Row
from digest.steps.manage_subscriptions import change_wishes, unsubscribe
from digest.store.database import Sessions
from digest.store.staged import Known
from digest.store.subscribers import find, suppress, those
from digest.store.tables import Subscriber

READS = frozenset({SubscriberState.ACTIVE, SubscriberState.PAUSED})
"""Who may be changed: whoever ended or has not confirmed stays as they are."""


def update_known(
    sessions: Sessions, known: Sequence[Known], rows: Mapping[int, Row], now: datetime, *, is_rehearsal: bool
) -> set[int]:
    """Bring readers up to what their rows say, or end them where the row says so; nobody is revived.

    A cell that is empty, or a column that is not there, changes nothing.

    Returns:
        the numbers of the rows that changed something, or would.
    """
    by_id = {one.id: rows[one.number] for one in known if one.state in READS}
    with sessions() as session:
        changing = [(one.id, row) for one in those(session, by_id) if _differs(one, row := by_id[one.id])]
    if not is_rehearsal:
        for subscriber_id, row in changing:
            _update(sessions, subscriber_id, row, now)
    return {row.number for _, row in changing}


def _differs(one: Subscriber, row: Row) -> bool:
    ends = row.standing.state is SubscriberState.ENDED or row.standing.bar is not None
    meant = (*_wishes(one, row), row.name or one.name)
    return ends or meant != (one.languages, one.cadence_row.cadence, one.topics, one.name)


def _wishes(one: Subscriber, row: Row) -> tuple[LanguageChoice, Cadence, str]:
    said, asked, had = row.standing.said, row.standing, one.cadence_row.cadence
    cadence = Cadence(
        asked.cadence.timezone if "timezone" in said else had.timezone,
        asked.cadence.at if "time" in said else had.at,
        asked.cadence.weekdays if "weekdays" in said else had.weekdays,
    )
    languages = asked.languages if "language" in said else one.languages
    return languages, cadence, asked.topics if "topics" in said else one.topics


def _update(sessions: Sessions, subscriber_id: int, row: Row, now: datetime) -> None:
    if row.standing.state is SubscriberState.ENDED or row.standing.bar is not None:
        reason = row.standing.reason
        # They said goodbye elsewhere and need no letter about it here.
        kept = EndReason.IMPORTED if reason in {None, EndReason.UNSUBSCRIBED} else reason
        unsubscribe(sessions, subscriber_id, now, reason=kept or EndReason.IMPORTED)
        _bar(sessions, row, now)
        return
    with sessions.begin() as session:
        one = find(session, row.address, lock=True)
        if one is None or one.state not in READS:
            return
        one.name = row.name or one.name
        languages, cadence, topics = _wishes(one, row)
    change_wishes(sessions, subscriber_id, languages, cadence, topics, now)


def _bar(sessions: Sessions, row: Row, now: datetime) -> None:
    if row.standing.bar is not None:
        with sessions.begin() as session:
            suppress(session, row.address, row.standing.bar, now)
