"""Erasure: everything about an address goes; a keyed hash keeps the promise not to write again."""

from datetime import datetime

from digest.store.database import Sessions
from digest.store.subscribers import find, release, suppress_hash


def erase_subscriber(sessions: Sessions, address: str, address_hash: str, now: datetime) -> bool:
    """Delete the subscriber with deliveries, consents, letters and events; False when there is none.

    Args:
        address: in any spelling.
        address_hash: the address under the newest key, see ``Application.address_hashes``.
    """
    with sessions.begin() as session:
        subscriber = find(session, address, lock=True)
        release(session, address)
        suppress_hash(session, address_hash, now)
        if subscriber is None:
            return False
        session.delete(subscriber)
        return True
