"""The list -> rows that import again into the same list."""

from collections.abc import Iterator
from datetime import UTC

from sqlalchemy.orm import Session

from digest.domain.schedule import weekdays_text
from digest.domain.subscriber import SubscriberState
from digest.steps.list_rows import BARRED, COLUMNS, ERASED, MORE_COLUMNS
from digest.store.exporting import Agreed, Listed, bars_of_nobody, everyone
from digest.store.tables import Subscriber, Suppression

HEADING = (*COLUMNS, *MORE_COLUMNS)


def list_rows(session: Session) -> Iterator[tuple[str, ...]]:
    """Every reader, then every address that must not be written to and is no reader's; cells as :data:`HEADING`."""
    for one in everyone(session):
        yield _reader(one)
    for bar in bars_of_nobody(session):
        yield _bar(bar)


def _reader(listed: Listed) -> tuple[str, ...]:
    one, bar = listed.subscriber, listed.bar
    cadence, agreed = one.cadence_row.cadence, _agreed(one, listed.agreed)
    return (
        one.email,
        one.languages.value,
        cadence.timezone,
        f"{cadence.at:%H:%M}",
        weekdays_text(cadence.weekdays),
        one.topics,
        one.state.value,
        agreed.source,
        one.name,
        one.reason.value if one.reason else "",
        one.paused_until_on.isoformat() if one.paused_until_on else "",
        agreed.confirmed_at.astimezone(UTC).isoformat() if agreed.confirmed_at else "",
        agreed.wording,
        bar.value if bar else "",
    )


def _agreed(one: Subscriber, agreed: Agreed) -> Agreed:
    """A pending reader's request says where it came from; of one that ended only what was agreed to counts."""
    if one.state is SubscriberState.ENDED and agreed.confirmed_at is None:
        return Agreed("", "", None)
    if one.state in {SubscriberState.ACTIVE, SubscriberState.PAUSED} and not agreed.source:
        return agreed._replace(source="import")
    return agreed


def _bar(bar: Suppression) -> tuple[str, ...]:
    """An address in clear, or the keyed hash that is left of one; the latter bars under the same secret keys only."""
    said = {
        "email": bar.email_key or f"{ERASED}{bar.address_hash}",
        "status": BARRED,
        "suppressed": bar.reason.value,
    }
    return tuple(said.get(name, "") for name in HEADING)
