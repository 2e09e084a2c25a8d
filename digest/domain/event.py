"""What a provider reports after the hand-over, in one vocabulary."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from digest.domain.subscriber import EndReason


class EventKind(StrEnum):
    """The facts a provider can report; ``other`` keeps what is not understood."""

    PROCESSED = "processed"
    DEFERRED = "deferred"
    DELIVERED = "delivered"
    BOUNCED = "bounced"
    """The address is dead."""
    BLOCKED = "blocked"
    """This message did not get through; the address may be fine."""
    DROPPED = "dropped"
    COMPLAINED = "complained"
    UNSUBSCRIBED = "unsubscribed"
    OPENED = "opened"
    CLICKED = "clicked"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ProviderEvent:
    """One reported fact.

    Attributes:
        provider: which provider says so.
        identifier: the provider's id of the event, or one derived from its content; the event is stored once.
        recipient_key: the key our hand-over gave the message, where the event carries it.
        address: where the event names one.
        occurred_at: aware UTC, the provider's clock.
        raw: the event as it came.
    """

    provider: str
    identifier: str
    kind: EventKind
    occurred_at: datetime
    recipient_key: str | None = None
    address: str | None = field(default=None, repr=False)
    detail: str = ""
    raw: str = field(default="", repr=False)


ENDS_SUBSCRIPTION: dict[EventKind, EndReason] = {
    EventKind.BOUNCED: EndReason.BOUNCED,
    EventKind.COMPLAINED: EndReason.COMPLAINED,
    EventKind.UNSUBSCRIBED: EndReason.UNSUBSCRIBED,
}
"""Which facts end a subscription, and with which reason."""

SUPPRESSES: frozenset[EventKind] = frozenset({EventKind.BOUNCED, EventKind.COMPLAINED})
"""Which facts bar the address for good, not just this subscription."""

PROVES_HAND_OVER: frozenset[EventKind] = frozenset(
    {
        EventKind.PROCESSED,
        EventKind.DEFERRED,
        EventKind.DELIVERED,
        EventKind.BOUNCED,
        EventKind.BLOCKED,
        EventKind.DROPPED,
        EventKind.COMPLAINED,
        EventKind.UNSUBSCRIBED,
        EventKind.OPENED,
        EventKind.CLICKED,
    }
)
"""Which facts show that the provider took the message, which settles a delivery whose answer was lost."""
