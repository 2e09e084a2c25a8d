"""The list: subscribers, their consents, suppressions."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, exists, func, or_, select, update
from sqlalchemy.orm import Session, joinedload

from digest.domain.address import address_key
from digest.domain.delivery import BatchState, DeliveryState
from digest.domain.language import LanguageChoice
from digest.domain.news import News, news_of
from digest.domain.subscriber import EndReason, SubscriberState
from digest.domain.suppression import SuppressionReason, weaker_than
from digest.store.announcements import announce_all
from digest.store.dialects import insert_new
from digest.store.tables import Batch, Brief, Consent, Delivery, Edition, Subscriber, Suppression


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a reader wants, as rows hold it: languages, cadence, topics."""

    languages: LanguageChoice
    cadence_id: int
    topics: str = ""


def find(session: Session, address: str, *, lock: bool = False) -> Subscriber | None:
    """The subscriber with this address, however it is spelled."""
    return _one(session, lock=lock, email_key=address_key(address))


def get(session: Session, subscriber_id: int, *, lock: bool = False) -> Subscriber | None:
    """The subscriber with this id; ``lock`` holds the row until the end of the transaction."""
    return _one(session, lock=lock, id=subscriber_id)


def _one(session: Session, *, lock: bool, **where: Any) -> Subscriber | None:  # noqa: ANN401 - column values
    wanted = select(Subscriber).filter_by(**where).options(joinedload(Subscriber.cadence_row))
    if lock:
        wanted = wanted.with_for_update(of=Subscriber).execution_options(populate_existing=True)
    return session.scalars(wanted).one_or_none()


def those(session: Session, ids: Collection[int]) -> Sequence[Subscriber]:
    """The subscribers with these ids."""
    wanted = select(Subscriber).where(Subscriber.id.in_(ids)).options(joinedload(Subscriber.cadence_row))
    return session.scalars(wanted.order_by(Subscriber.id)).all() if ids else []


def lock_free(session: Session, ids: Collection[int]) -> Sequence[Subscriber]:
    """Those of these subscribers whom nobody else is changing, locked; many at once, so it waits for nobody.

    The lock lets deliveries be planned meanwhile, as changing a row's settings does.
    """
    wanted = select(Subscriber).where(Subscriber.id.in_(ids)).options(joinedload(Subscriber.cadence_row))
    locked = wanted.with_for_update(of=Subscriber, key_share=True, skip_locked=True)
    return session.scalars(locked.order_by(Subscriber.id).execution_options(populate_existing=True)).all()


def ids_of(session: Session, keys: Collection[str]) -> dict[str, int]:
    """The ids of the subscribers with these address keys, by key."""
    wanted = select(Subscriber.email_key, Subscriber.id).where(Subscriber.email_key.in_(keys))
    return {row.email_key: row.id for row in session.execute(wanted)}


def add(session: Session, address: str, wishes: Wishes, state: SubscriberState, now: datetime) -> Subscriber:
    """The subscriber with this address, made in ``state`` if there is none; locked either way."""
    values = {
        "email": address,
        "email_key": address_key(address),
        "state": state,
        "languages": wishes.languages,
        "cadence_id": wishes.cadence_id,
        "topics": wishes.topics,
        "created_at": now,
        "changed_at": now,
    }
    session.execute(insert_new(session, Subscriber).values(values))
    found = find(session, address, lock=True)
    if found is None:
        raise LookupError("a subscriber just inserted is gone")
    return found


def apply_wishes(subscriber: Subscriber, wishes: Wishes, now: datetime) -> None:
    """What, when and in which language the reader wants."""
    subscriber.languages = wishes.languages
    subscriber.cadence_id = wishes.cadence_id
    subscriber.topics = wishes.topics
    subscriber.changed_at = now


def set_state(
    session: Session, subscriber: Subscriber, state: SubscriberState, now: datetime, reason: EndReason | None = None
) -> None:
    """Move the subscriber to ``state``; only an ended one has a reason. What that is to others is written down too."""
    set_states(session, [(subscriber, reason)], state, now)


def set_states(
    session: Session, those: Sequence[tuple[Subscriber, EndReason | None]], state: SubscriberState, now: datetime
) -> None:
    """Move many at once, as :func:`set_state` does one; each with the reason of its own."""
    news: defaultdict[News, dict[str, dict[str, int]]] = defaultdict(dict)
    for one, reason in those:
        if kind := news_of(one.state, state, reason):
            news[kind][f"{one.id}:{now:%Y%m%dT%H%M%S%fZ}"] = {"subscriber": one.id}
        one.state, one.reason, one.changed_at = state, reason, now
        one.paused_until_on = one.left_because = None
    for kind, named in news.items():
        announce_all(session, kind, named, now)


def last_window_ends(session: Session, ids: Collection[int]) -> dict[int, datetime]:
    """Up to where readers have read: the end of the window of the newest brief of each that reached the provider."""
    sent = or_(Delivery.state == DeliveryState.SENT, Delivery.state.is_(None) & (Batch.state == BatchState.SENT))
    newest = func.max(Edition.window_end_at, type_=Edition.window_end_at.type)
    wanted = (
        select(Delivery.subscriber_id, newest)
        .select_from(Edition)
        .join(Brief, Brief.edition_id == Edition.id)
        .join(Batch, Batch.brief_id == Brief.id)
        .join(Delivery, Delivery.batch_id == Batch.id)
        .where(Delivery.subscriber_id.in_(ids), sent)
        .group_by(Delivery.subscriber_id)
    )
    return {row[0]: row[1] for row in session.execute(wanted)} if ids else {}


def withdraw_planned(session: Session, ids: Collection[int], now: datetime) -> None:
    """Take readers out of briefs that are planned but may not leave yet: their settings just changed.

    The batches are locked first: a worker that claims one now either waits and reads its members without these readers,
    or claimed before and keeps the deliveries, so there is never a second one for the date.
    """
    theirs = select(Delivery.batch_id).where(Delivery.subscriber_id.in_(ids), Delivery.state.is_(None))
    waiting = (
        select(Batch.id)
        .where(
            Batch.id.in_(theirs),
            Batch.state.in_([BatchState.PLANNED, BatchState.READY]),
            Batch.not_before_at > now,
        )
        .order_by(Batch.id)
        .with_for_update()
    )
    if batches := session.scalars(waiting).all():
        session.execute(delete(Delivery).where(Delivery.subscriber_id.in_(ids), Delivery.batch_id.in_(batches)))


def is_suppressed(session: Session, address: str, hashes: Sequence[str]) -> bool:
    """Whether mail to this address is barred; ``hashes`` are its keyed hashes under every key still in use."""
    return bar_on(session, address, hashes) is not None


def bar_on(session: Session, address: str, hashes: Sequence[str] = ()) -> Suppression | None:
    """The suppression that bars this address, if one does; a hash, of an erased reader, goes first."""
    barred = or_(Suppression.email_key == address_key(address), Suppression.address_hash.in_(hashes))
    return session.scalars(select(Suppression).where(barred).order_by(Suppression.email_key.is_not(None))).first()


def suppress(
    session: Session, address: str, reason: SuppressionReason, now: datetime, event_id: int | None = None
) -> None:
    """Bar the address, once; of several reasons the one that is hardest to come back from stays."""
    suppress_keys(session, [address_key(address)], reason, now, event_id)


def suppress_keys(
    session: Session, keys: Sequence[str], reason: SuppressionReason, now: datetime, event_id: int | None = None
) -> None:
    """Bar the addresses with these keys, as :func:`suppress` does one."""
    values = {"reason": reason, "created_at": now, "event_id": event_id}
    session.execute(insert_new(session, Suppression), [values | {"email_key": key} for key in keys])
    weaker = Suppression.reason.in_(weaker_than(reason))
    session.execute(update(Suppression).where(Suppression.email_key.in_(keys), weaker).values(values))


def suppress_hash(session: Session, address_hash: str, now: datetime) -> None:
    """Bar an erased address by its keyed hash alone."""
    values = {"address_hash": address_hash, "reason": SuppressionReason.ERASED, "created_at": now}
    session.execute(insert_new(session, Suppression).values(values))


def release(session: Session, address: str, hashes: Sequence[str] = ()) -> None:
    """Forget the suppression kept in clear and these hashes: the reader came back, or a hash takes its place."""
    barred = or_(Suppression.email_key == address_key(address), Suppression.address_hash.in_(hashes))
    session.execute(delete(Suppression).where(barred))


def recent_consents(session: Session, subscriber_id: int, since: datetime) -> int:
    """How many confirmations were asked for since then."""
    asked = select(func.count()).where(Consent.subscriber_id == subscriber_id, Consent.requested_at > since)
    return session.scalar(asked) or 0


def has_more_pending_than(session: Session, number: int) -> bool:
    """Whether more than that many wait for confirmation."""
    beyond = select(Subscriber.id).where(Subscriber.state == SubscriberState.PENDING).offset(number).limit(1)
    return session.scalar(beyond) is not None


def delete_pending(session: Session, before: datetime) -> int:
    """Delete who never confirmed: those whose last request, or whose row where there is none, is from before then."""
    asked = exists().where(Consent.subscriber_id == Subscriber.id, Consent.requested_at >= before)
    gone = (
        delete(Subscriber)
        .where(Subscriber.state == SubscriberState.PENDING, Subscriber.created_at < before, ~asked)
        .returning(Subscriber.id)
        .execution_options(synchronize_session=False)
    )
    return len(session.scalars(gone).all())


def confirmed_consent(session: Session, subscriber_id: int) -> Consent | None:
    """The newest confirmed consent of a reader."""
    wanted = select(Consent).where(Consent.subscriber_id == subscriber_id, Consent.confirmed_at.is_not(None))
    return session.scalars(wanted.order_by(Consent.confirmed_at.desc()).limit(1)).one_or_none()


def count_by_leave_reason(session: Session) -> dict[str, int]:
    """What those who left said about it, and how many said so."""
    said = select(Subscriber.left_because, func.count()).where(Subscriber.left_because.is_not(None))
    rows = session.execute(said.group_by(Subscriber.left_because))
    return {reason.value: number for reason, number in rows if reason is not None}


def count_by_state(session: Session) -> dict[str, int]:
    """How many subscribers are in each state."""
    rows = session.execute(select(Subscriber.state, func.count()).group_by(Subscriber.state))
    return {state.value: number for state, number in rows}
