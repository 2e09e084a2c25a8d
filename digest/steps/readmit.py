"""The operator lifts a bar, on a person's word that is written down. It subscribes nobody."""

from collections.abc import Sequence
from datetime import datetime

from digest.domain.event import EventKind, ProviderEvent
from digest.domain.suppression import SuppressionReason
from digest.store.database import Sessions
from digest.store.events import add_event
from digest.store.subscribers import bar_on, find, release

OPERATOR = "operator"


def readmit(
    sessions: Sessions, address: str, hashes: Sequence[str], because: str, now: datetime
) -> SuppressionReason | None:
    """Let an address sign up again, whatever barred it; returns what did, None where nothing does.

    A subscription that ended stays ended: its owner has to ask and confirm anew. The act is kept as an event of
    provider ``operator``.

    Args:
        hashes: the keyed hashes of the address, for one that was erased.
        because: why, in the operator's words.
    """
    with sessions.begin() as session:
        bar = bar_on(session, address, hashes)
        if bar is None:
            return None
        reason, subscriber = bar.reason, find(session, address)
        words = f"readmitted after {reason}: {because}"
        act = ProviderEvent(OPERATOR, f"readmit-{bar.id}-{now.timestamp():.6f}", EventKind.OTHER, now, detail=words)
        add_event(session, act, subscriber.id if subscriber else None, None, now)
        release(session, address, hashes)
    return reason
