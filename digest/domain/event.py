"""What a provider reports after the hand-over, in one vocabulary."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class EventKind(StrEnum):
    """The facts a provider can report; ``other`` keeps what is not understood."""

    PROCESSED = "processed"
    DEFERRED = "deferred"
    DELIVERED = "delivered"
    BOUNCED = "bounced"
    """The address is dead."""
    SOFT_BOUNCED = "soft_bounced"
    """The mailbox exists and took nothing this time: full, off, out of reach until the provider gave up."""
    BLOCKED = "blocked"
    """Policy, reputation, content or volume: the sender's fault, which says nothing about the reader."""
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


PROVES_HAND_OVER: frozenset[EventKind] = frozenset(
    {
        EventKind.PROCESSED,
        EventKind.DEFERRED,
        EventKind.DELIVERED,
        EventKind.BOUNCED,
        EventKind.SOFT_BOUNCED,
        EventKind.BLOCKED,
        EventKind.DROPPED,
        EventKind.COMPLAINED,
        EventKind.UNSUBSCRIBED,
        EventKind.OPENED,
        EventKind.CLICKED,
    }
)
"""Which facts show that the provider took the message, which settles a delivery whose answer was lost."""

PROVES_DELIVERY: frozenset[EventKind] = frozenset({EventKind.DELIVERED, EventKind.OPENED, EventKind.CLICKED})
"""Which facts show that the mailbox takes mail, after which soft bounces count from zero."""
