"""What a provider answered -> counters that all processes share."""

from collections.abc import Mapping

import structlog
from sqlalchemy.exc import SQLAlchemyError

from digest.ports import Count
from digest.store.database import Sessions
from digest.store.tallies import count_up

log = structlog.get_logger()


def counting_in(sessions: Sessions) -> Count:
    """Counts in this database, in a short transaction of its own; a count that fails is told to the log and lost."""

    def count(numbers: Mapping[str, Mapping[str, int]]) -> None:
        try:
            with sessions.begin() as session:
                count_up(session, numbers)
        except SQLAlchemyError as error:
            log.warning("answers_not_counted", why=type(error).__name__)

    return count
