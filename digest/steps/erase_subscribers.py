"""Erasure: everything about an address goes; a keyed hash keeps the promise not to write again."""

from datetime import datetime

from digest.store.addresses import forget_changes_to
from digest.store.database import Sessions
from digest.store.erasures import add_erasure
from digest.store.subscribers import find, release, suppress_hash


def erase_subscriber(sessions: Sessions, address: str, address_hash: str, now: datetime, also_at: str = "") -> bool:
    """Delete the subscriber with deliveries, consents, letters and events; False when there is none.

    Args:
        address: in any spelling.
        address_hash: the address under the newest key, see ``Application.address_hashes``.
        also_at: the provider that is to erase its records, too; the address waits for that, and then goes.
    """
    with sessions.begin() as session:
        subscriber = find(session, address, lock=True)
        release(session, address)
        suppress_hash(session, address_hash, now)
        forget_changes_to(session, address)
        if also_at:
            add_erasure(session, also_at, subscriber.email if subscriber else address, now)
        if subscriber is None:
            return False
        session.delete(subscriber)
        return True
