"""The provider's suppression lists -> our own, and back where a reader has said yes since."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from digest.domain.address import address_key
from digest.domain.event import EventKind, ProviderEvent
from digest.domain.subscriber import SubscriberState
from digest.domain.suppression import SoftBounces
from digest.ports import Account, Held
from digest.steps.record_events import USUAL, record_events
from digest.store.database import Sessions
from digest.store.subscribers import ids_of, those
from digest.store.tables import Switch

AT_ONCE = 500
EVERY = timedelta(days=1)
MIRRORED = "mirrored"


@dataclass(slots=True)
class Mirrored:
    """What came of it.

    Attributes:
        held: addresses that the provider holds mail back from.
        ours: of these, readers of ours.
        new: facts that no webhook had told us, or only under another name.
        let_go: addresses freed at the provider, since their owners confirmed after the fact.
        faults: facts that could not be recorded.
    """

    held: int = 0
    ours: int = 0
    new: int = 0
    let_go: int = 0
    faults: int = 0


def mirror_suppressions(sessions: Sessions, account: Account, now: datetime, rule: SoftBounces = USUAL) -> Mirrored:
    """Record what the provider knows of our readers as its events are recorded, by the same rules.

    Of strangers nothing is kept: an address that was erased must not come back by this door. The entries of readers
    who are active after all this are taken out at the provider, which would drop their briefs in silence.

    Raises:
        DigestError: the provider did not answer, or refuses; what was recorded stays.
    """
    mirrored, freed = Mirrored(), list[Held]()
    for some in _some(account.held()):
        freed += _mirror(sessions, account.name, some, mirrored, now, rule)
    # Only now: an entry that goes moves those behind it up, past the page that is read next.
    for held in freed:
        account.let_go(held)
        mirrored.let_go += 1
    return mirrored


def mirror_if_time(sessions: Sessions, account: Account, now: datetime, rule: SoftBounces = USUAL) -> Mirrored | None:
    """Mirror once a day; None when it was done within the day. Twice at one time does no harm."""
    with sessions() as session:
        mark = session.get(Switch, MIRRORED)
    if mark is not None and timedelta(0) <= now - mark.changed_at < EVERY:
        return None
    mirrored = mirror_suppressions(sessions, account, now, rule)
    with sessions.begin() as session:
        session.merge(Switch(name=MIRRORED, value="", changed_at=now))
    return mirrored


def _some(held: Iterable[Held]) -> Iterator[list[Held]]:
    rest = iter(held)
    while some := list(islice(rest, AT_ONCE)):
        yield some


def _mirror(
    sessions: Sessions, provider: str, some: Sequence[Held], mirrored: Mirrored, now: datetime, rule: SoftBounces
) -> list[Held]:
    """Record some entries; returns those whose readers are active all the same."""
    with sessions() as session:
        ids = ids_of(session, [address_key(one.address) for one in some])
    ours = [(one, ids[key]) for one in some if (key := address_key(one.address)) in ids]
    recorded = record_events(sessions, [_event(provider, one, reader) for one, reader in ours], now, rule)
    mirrored.held, mirrored.ours = mirrored.held + len(some), mirrored.ours + len(ours)
    mirrored.new, mirrored.faults = mirrored.new + recorded.new, mirrored.faults + len(recorded.faults)
    with sessions() as session:
        reading = {one.id for one in those(session, ids.values()) if one.state is SubscriberState.ACTIVE}
    return [one for one, reader in ours if reader in reading and one.kind is not EventKind.COMPLAINED]


def _event(provider: str, held: Held, subscriber_id: int) -> ProviderEvent:
    return ProviderEvent(
        provider,
        f"mirror-{held.book}-{subscriber_id}-{held.held_at:%Y%m%dT%H%M%S}",
        held.kind,
        held.held_at,
        recipient_key=f"reader-{subscriber_id}",
        address=held.address,
        detail=held.detail,
    )
