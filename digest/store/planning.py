"""The rows a morning is made of: mornings, editions, briefs, batches and deliveries, written as sets."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, case, delete, exists, func, insert, literal, or_, select, update
from sqlalchemy.orm import Session

from digest.domain.brief import BriefState
from digest.domain.delivery import BatchState, DeliveryReason
from digest.domain.edition import EditionKey
from digest.domain.language import LanguageChoice
from digest.domain.subscriber import SubscriberState
from digest.store.dialects import insert_new, insert_new_from
from digest.store.tables import Batch, Brief, Delivery, Edition, Morning, Subscriber


@dataclass(frozen=True, slots=True)
class DueGroup:
    """Readers of one send who share a brief.

    Attributes:
        created_before: only readers whose row is this old belong to it; None means all.
    """

    languages: LanguageChoice
    topics: str
    window_start_at: datetime | None
    readers: int
    created_before: datetime | None = None


def mornings_of(session: Session, cadence_ids: Collection[int], since: date) -> dict[tuple[int, date], bool]:
    """The mornings of these cadences from ``since`` on that were dealt with, each with whether it is closed."""
    wanted = select(Morning.cadence_id, Morning.on, Morning.closed_at.is_not(None))
    rows = session.execute(wanted.where(Morning.cadence_id.in_(cadence_ids), Morning.on >= since))
    return {(cadence_id, on): closed for cadence_id, on, closed in rows}


def missed_dates(session: Session, cadence_ids: Collection[int], since: date) -> dict[int, frozenset[date]]:
    """The dates from ``since`` on that went by without a brief, by cadence."""
    wanted = select(Morning.cadence_id, Morning.on)
    found: dict[int, set[date]] = defaultdict(set)
    for cadence_id, on in session.execute(
        wanted.where(Morning.cadence_id.in_(cadence_ids), Morning.on >= since, Morning.missed)
    ):
        found[cadence_id].add(on)
    return {cadence_id: frozenset(dates) for cadence_id, dates in found.items()}


def open_mornings(
    session: Session, cadence_ids: Sequence[int], on: date, now: datetime, *, missed: bool = False
) -> list[int]:
    """Take ``on`` for these cadences; returns those that nobody had taken.

    The insert is the lock: a second scheduler at the same moment waits for the first and is then given nothing.
    """
    if not cadence_ids:
        return []
    closed_at = now if missed else None
    rows = [
        {"cadence_id": c, "on": on, "planned_at": now, "closed_at": closed_at, "missed": missed} for c in cadence_ids
    ]
    taken = session.scalars(insert_new(session, Morning).values(rows).returning(Morning.cadence_id))
    return sorted(taken)


def close_mornings(session: Session, cadence_ids: Sequence[int], on: date, now: datetime) -> list[int]:
    """Close ``on`` for these cadences; returns those that were open."""
    closing = (
        update(Morning)
        .where(Morning.cadence_id.in_(cadence_ids), Morning.on == on, Morning.closed_at.is_(None))
        .values(closed_at=now)
        .returning(Morning.cadence_id)
    )
    return sorted(session.scalars(closing))


def edition_id(session: Session, key: EditionKey) -> int:
    """The id of the edition for ``key``, made if there is none."""
    values = {
        "send_at": key.send_at,
        "on": key.on,
        "window_start_at": key.window_start,
        "window_end_at": key.window_end,
    }
    session.execute(insert_new(session, Edition).values(values))
    return session.scalars(
        select(Edition.id).where(
            Edition.send_at == key.send_at,
            Edition.on == key.on,
            Edition.window_start_at == key.window_start,
            Edition.window_end_at == key.window_end,
        )
    ).one()


def brief_of(session: Session, edition: int, languages: LanguageChoice, topics: str, state: BriefState) -> Brief:
    """The edition's brief for a choice of languages and topic set, made in ``state`` if there is none."""
    values = {"edition_id": edition, "languages": languages, "topics": topics, "state": state, "slots": {}}
    session.execute(insert_new(session, Brief).values(values | {"story_ids": []}))
    wanted = select(Brief).where(Brief.edition_id == edition, Brief.languages == languages, Brief.topics == topics)
    return session.scalars(wanted).one()


def _due(cadence_ids: Collection[int], key: EditionKey) -> list[ColumnElement[bool]]:
    """Who is due: active readers of these cadences, active at the instant, with nothing for that date yet."""
    has_one = exists().where(Delivery.subscriber_id == Subscriber.id, Delivery.on == key.on)
    return [
        Subscriber.cadence_id.in_(cadence_ids),
        Subscriber.state == SubscriberState.ACTIVE,
        or_(Subscriber.active_from_at.is_(None), Subscriber.active_from_at <= key.send_at),
        ~has_one,
    ]


def due_groups(
    session: Session, cadence_ids: Collection[int], key: EditionKey, *, created_before: datetime | None = None
) -> list[DueGroup]:
    """How many readers are due, by what they share."""
    by = (Subscriber.languages, Subscriber.topics, Subscriber.window_start_at)
    counting = select(*by, func.count()).where(*_due(cadence_ids, key)).group_by(*by)
    if created_before is not None:
        counting = counting.where(Subscriber.created_at <= created_before)
    return [DueGroup(*row, created_before) for row in session.execute(counting)]


def add_batches(session: Session, brief: Brief, rows: Sequence[dict[str, Any]]) -> list[int]:
    """Batches of ``brief``; returns their ids."""
    values = [{"brief_id": brief.id} | row for row in rows]
    return list(session.scalars(insert(Batch).returning(Batch.id), values))


def fill_batches(
    session: Session, cadence_ids: Collection[int], key: EditionKey, group: DueGroup, batch_ids: Sequence[int]
) -> None:
    """Write the group's deliveries into its batches, cut evenly in order of id, in one statement."""
    rows = _numbered(cadence_ids, key, group, len(batch_ids)).subquery()
    own = Batch.id.in_(batch_ids)
    pairs = select(rows.c.id, literal(key.on), Batch.id).join(Batch, (Batch.number == rows.c.number) & own)
    insert_new_from(session, Delivery, ["subscriber_id", "local_on", "batch_id"], pairs)
    filled = exists().where(Delivery.batch_id == Batch.id)
    session.execute(delete(Batch).where(own, ~filled).execution_options(synchronize_session=False))


def _numbered(cadence_ids: Collection[int], key: EditionKey, group: DueGroup, batches: int) -> Select[Any]:
    """The group's readers, each with the number of its batch; whoever joined since the count goes to the last."""
    number = (func.row_number().over(order_by=Subscriber.id) - 1) // -(-group.readers // batches)
    window = (
        Subscriber.window_start_at.is_(None)
        if group.window_start_at is None
        else Subscriber.window_start_at == group.window_start_at
    )
    rows = select(Subscriber.id, case((number < batches, number), else_=batches - 1).label("number")).where(
        *_due(cadence_ids, key), Subscriber.languages == group.languages, Subscriber.topics == group.topics, window
    )
    return rows if group.created_before is None else rows.where(Subscriber.created_at <= group.created_before)


def add_delivery(session: Session, subscriber_id: int, on: date, batch_id: int) -> bool:
    """One delivery; False when the reader has one for that date."""
    values = {"subscriber_id": subscriber_id, "on": on, "batch_id": batch_id}
    added = session.scalars(insert_new(session, Delivery).values(values).returning(Delivery.subscriber_id))
    return added.one_or_none() is not None


SETTLED: dict[BriefState, tuple[BatchState, DeliveryReason | None]] = {
    BriefState.PLANNED: (BatchState.PLANNED, None),
    BriefState.READY: (BatchState.READY, None),
    BriefState.EMPTY: (BatchState.SKIPPED, DeliveryReason.NOTHING_NEW),
    BriefState.FAILED: (BatchState.FAILED, DeliveryReason.NOT_COMPILED),
    BriefState.MISSED: (BatchState.SKIPPED, DeliveryReason.MISSED),
}
"""The state a batch takes from its brief's."""


def settle_batches(session: Session) -> None:
    """Bring planned batches to where their brief is: also those planned while it was being compiled."""
    for brief_state, (state, reason) in SETTLED.items():
        if brief_state is BriefState.PLANNED:
            continue
        behind = exists().where(Brief.id == Batch.brief_id, Brief.state == brief_state)
        session.execute(
            update(Batch)
            .where(Batch.state == BatchState.PLANNED, behind)
            .values(state=state, reason=reason)
            .execution_options(synchronize_session=False)
        )


def readers_of_briefs(session: Session, brief_ids: Collection[int]) -> dict[str, int]:
    """How many deliveries of these briefs are skipped, by reason."""
    counting = (
        select(Batch.reason, func.count())
        .join(Delivery, Delivery.batch_id == Batch.id)
        .where(Batch.brief_id.in_(brief_ids), Batch.state == BatchState.SKIPPED)
        .group_by(Batch.reason)
    )
    return {str(reason): number for reason, number in session.execute(counting)}
