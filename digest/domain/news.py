"""What other programs may be told of."""

from enum import StrEnum

from digest.domain.subscriber import EndReason, SubscriberState


class News(StrEnum):
    """Kinds of news, as Standard Webhooks spells event types."""

    CONFIRMED = "subscriber.confirmed"
    LEFT = "subscriber.left"
    BOUNCED = "subscriber.bounced"
    COMPLAINED = "subscriber.complained"
    MORNING_DONE = "morning.done"


_ENDINGS = {
    EndReason.UNSUBSCRIBED: News.LEFT,
    EndReason.BOUNCED: News.BOUNCED,
    EndReason.COMPLAINED: News.COMPLAINED,
}


def news_of(before: SubscriberState, after: SubscriberState, reason: EndReason | None) -> News | None:
    """What a subscriber's move is to the world outside; None where it is nothing: pauses, and their ends."""
    if after is SubscriberState.ENDED:
        return _ENDINGS.get(reason) if reason else None
    if after is SubscriberState.ACTIVE and before in {SubscriberState.PENDING, SubscriberState.ENDED}:
        return News.CONFIRMED
    return None
