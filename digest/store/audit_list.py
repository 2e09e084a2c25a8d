"""What must hold for the list, the suppressions and the events; each query finds what breaks it."""

from sqlalchemy import Select, func, select

from digest.domain.subscriber import SubscriberState
from digest.store.tables import Consent, Event, Subscriber, Suppression

READS = (SubscriberState.ACTIVE, SubscriberState.PAUSED)
"""Who gets the brief, or will again."""


def same_address() -> Select[str]:
    """Addresses that more than one subscriber has."""
    return select(Subscriber.email_key).group_by(Subscriber.email_key).having(func.count() > 1)


def barred_but_subscribed() -> Select[int]:
    """Readers whose address is suppressed."""
    return (
        select(Subscriber.id)
        .join(Suppression, Suppression.email_key == Subscriber.email_key)
        .where(Subscriber.state.in_(READS))
    )


def without_consent() -> Select[int]:
    """Readers who get the brief, or will after their pause, and never said yes."""
    agreed = select(Consent.id).where(Consent.subscriber_id == Subscriber.id, Consent.confirmed_at.is_not(None))
    return select(Subscriber.id).where(Subscriber.state.in_(READS), ~agreed.exists())


def double_events() -> Select[str, str]:
    """Provider's ids under which more than one event is kept."""
    by = (Event.provider, Event.identifier)
    return select(*by).group_by(*by).having(func.count() > 1)
