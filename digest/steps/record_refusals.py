"""A refusal in the provider's own answer says of a mailbox what a bounce would say later, and counts alike."""

from collections.abc import Mapping
from datetime import datetime

from digest.domain.event import ProviderEvent
from digest.ports import Refusal
from digest.steps.record_events import record_events
from digest.store.database import Sessions


def record_refusals(sessions: Sessions, provider: str, refused: Mapping[str, Refusal], now: datetime) -> None:
    """Record those refusals that are about the mailbox as bounces, once per delivery.

    Args:
        provider: who says so.
        refused: recipient key -> refusal, as :class:`digest.ports.HandOver` holds them.
        now: when the answer came.
    """
    events = [
        ProviderEvent(
            provider=provider,
            identifier=f"refused-{key}",
            kind=refusal.bounce,
            occurred_at=now,
            recipient_key=key,
            detail=refusal.detail,
        )
        for key, refusal in refused.items()
        if refusal.bounce is not None
    ]
    record_events(sessions, events, now)
