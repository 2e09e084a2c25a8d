"""The whole list, a page at a time."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session, contains_eager

from digest.domain.suppression import SuppressionReason
from digest.store.tables import Consent, Subscriber, Suppression

PAGE = 5000


class Agreed(NamedTuple):
    """What is kept of a reader's consent."""

    source: str
    wording: str
    confirmed_at: datetime | None


NOTHING = Agreed("", "", None)


class Listed(NamedTuple):
    """One reader with what a list says of them."""

    subscriber: Subscriber
    agreed: Agreed
    bar: SuppressionReason | None


def how_many(session: Session) -> int:
    """How many subscribers there are, whatever their state."""
    return session.scalar(select(func.count()).select_from(Subscriber)) or 0


def everyone(session: Session) -> Iterator[Listed]:
    """Every reader in the order of their ids; no more than a page of them is held."""
    after = 0
    while rows := _page(session, after):
        agreed = _agreed(session, rows[0][0].id, rows[-1][0].id)
        for subscriber, bar in rows:
            yield Listed(subscriber, agreed.get(subscriber.id, NOTHING), bar)
        after = rows[-1][0].id
        session.expunge_all()


def _page(session: Session, after: int) -> Sequence[tuple[Subscriber, SuppressionReason | None]]:
    wanted = (
        select(Subscriber, Suppression.reason)
        .join(Subscriber.cadence_row)
        .outerjoin(Suppression, Suppression.email_key == Subscriber.email_key)
        .options(contains_eager(Subscriber.cadence_row))
    )
    rows = session.execute(wanted.where(Subscriber.id > after).order_by(Subscriber.id).limit(PAGE))
    return [(subscriber, bar) for subscriber, bar in rows]


def _agreed(session: Session, first: int, last: int) -> dict[int, Agreed]:
    """Of each reader the newest consent that was confirmed, else the newest that was asked for."""
    wanted = select(Consent.subscriber_id, Consent.source, Consent.wording, Consent.confirmed_at)
    rows = session.execute(wanted.where(Consent.subscriber_id.between(first, last)).order_by(Consent.requested_at))
    found: dict[int, Agreed] = {}
    for subscriber_id, source, wording, confirmed_at in rows:
        one = Agreed(source, wording, confirmed_at)
        kept = found.get(subscriber_id)
        if kept is None or kept.confirmed_at is None or (one.confirmed_at or kept.confirmed_at) > kept.confirmed_at:
            found[subscriber_id] = one
    return found


def bars_of_nobody(session: Session) -> Iterator[Suppression]:
    """The suppressions of addresses that no subscriber has, those of erased readers among them."""
    theirs = exists().where(Subscriber.email_key == Suppression.email_key)
    keys = (Suppression.email_key.is_(None), Suppression.email_key, Suppression.address_hash)
    wanted = select(Suppression).where(~theirs).order_by(*keys)
    yield from session.scalars(wanted.execution_options(yield_per=PAGE))
