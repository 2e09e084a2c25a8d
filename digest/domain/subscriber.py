"""A subscriber's states and why a subscription ended."""

from enum import StrEnum


class SubscriberState(StrEnum):
    """Only ``active`` is ever sent a brief."""

    PENDING = "pending"
    ACTIVE = "active"
    PAUSED = "paused"
    ENDED = "ended"


class EndReason(StrEnum):
    """Why a subscription ended; also a metric label."""

    UNSUBSCRIBED = "unsubscribed"
    COMPLAINED = "complained"
    BOUNCED = "bounced"
    IMPORTED = "imported"
    """It came from another system's list as already ended."""


class LeaveReason(StrEnum):
    """What a reader says about why they left; asked after the fact, and never needed."""

    TOO_OFTEN = "too_often"
    NOT_USEFUL = "not_useful"
    NO_TIME = "no_time"
    NEVER_ASKED = "never_asked"
    OTHER = "other"


ALL_TOPICS = ""
"""The topic set of a reader who chose none: everything."""


def topics_key(topics: list[str] | tuple[str, ...]) -> str:
    """The one spelling of a set of topics, by which readers share a brief: lower case, sorted, comma between."""
    return ",".join(sorted({topic.strip().lower() for topic in topics if topic.strip()}))


def topics_of(key: str) -> tuple[str, ...]:
    """The topics in a key made by :func:`topics_key`."""
    return tuple(key.split(",")) if key else ()
