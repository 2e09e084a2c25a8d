"""What a reported fact means for the reader: when a subscription ends, when an address is barred, and the way back."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from digest.domain.event import EventKind
from digest.domain.subscriber import EndReason


class SuppressionReason(StrEnum):
    """Why an address is barred; outlives the subscriber."""

    BOUNCED = "bounced"
    SOFT_BOUNCED = "soft_bounced"
    """Its mailbox took nothing for so many mornings that it counts as left."""
    COMPLAINED = "complained"
    ERASED = "erased"
    """Its owner had everything erased; only a keyed hash is left."""
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class SoftBounces:
    """When a mailbox that keeps taking nothing counts as left.

    Attributes:
        limit: mornings with a soft bounce and no delivery since.
        window: how far back a morning counts.
    """

    limit: int = 5
    window: timedelta = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Consequence:
    """What follows from a fact: the subscription ends; the address is barred, or not."""

    ends: EndReason
    bars: SuppressionReason | None = None


_AT_ONCE: dict[EventKind, Consequence] = {
    EventKind.BOUNCED: Consequence(EndReason.BOUNCED, SuppressionReason.BOUNCED),
    EventKind.COMPLAINED: Consequence(EndReason.COMPLAINED, SuppressionReason.COMPLAINED),
    EventKind.UNSUBSCRIBED: Consequence(EndReason.UNSUBSCRIBED),
}
_DROPPED: dict[str, EventKind] = {
    "bounced address": EventKind.BOUNCED,
    "invalid": EventKind.BOUNCED,
    "spam reporting address": EventKind.COMPLAINED,
    "unsubscribed address": EventKind.UNSUBSCRIBED,
}
"""Reasons of ``dropped`` that repeat what the reader or their mailbox once said. The others (spam content, quota, a
malformed request, an expired one) are about us, and nothing follows."""
_STATUS = re.compile(r"^(?:[a-z]+ )?[245]\.\d+\.\d+ ")

_STRENGTH = (
    SuppressionReason.SOFT_BOUNCED,
    SuppressionReason.BOUNCED,
    SuppressionReason.COMPLAINED,
    SuppressionReason.OPERATOR,
)
_MAY_ASK_AFTER: dict[SuppressionReason, timedelta] = {
    SuppressionReason.SOFT_BOUNCED: timedelta(0),
    SuppressionReason.BOUNCED: timedelta(days=30),
}
"""How long after the bar its owner's own sign-up gets a confirmation again. What is not here takes the operator."""


def meaning_of(kind: EventKind, detail: str) -> EventKind:
    """The kind whose rule applies: a ``dropped`` is read by its reason, all else is what it is."""
    if kind is not EventKind.DROPPED:
        return kind
    return _DROPPED.get(_STATUS.sub("", detail.strip().lower()), kind)


def consequence_of(kind: EventKind, soft_mornings: int, rule: SoftBounces) -> Consequence | None:
    """What follows from a fact; None for most.

    Args:
        kind: as :func:`meaning_of` returned it.
        soft_mornings: mornings with a soft bounce since the last delivery and within the window, this one included.
        rule: when they are too many.
    """
    if kind is EventKind.SOFT_BOUNCED and soft_mornings >= rule.limit:
        return Consequence(EndReason.BOUNCED, SuppressionReason.SOFT_BOUNCED)
    return _AT_ONCE.get(kind)


def weaker_than(reason: SuppressionReason) -> tuple[SuppressionReason, ...]:
    """The reasons that this one takes the place of where an address is barred already."""
    return _STRENGTH[: _STRENGTH.index(reason)]


def may_ask_again(reason: SuppressionReason, barred_at: datetime, now: datetime) -> bool:
    """Whether a sign-up for a barred address gets a confirmation, whose button then lifts the bar.

    Typing the address is not enough, for anybody can; the letter and the button show that the mailbox lives and its
    owner wants the brief. After a complaint only the operator lifts the bar: another letter could be another complaint.
    """
    wait = _MAY_ASK_AFTER.get(reason)
    return wait is not None and now - barred_at >= wait
