"""From where a reader's next brief starts, when that is not where everybody's does."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Select, case, or_, select, true, update
from sqlalchemy.orm import Session

from digest.store.tables import Batch, Brief, Delivery, Edition, Subscriber


def move_windows(session: Session, subscriber_ids: Iterable[int] | Select[Any], edition: Edition) -> None:
    """These readers have read up to the end of the edition: no window start of their own lies before it any more.

    A reader goes back to the shared window where that begins at this very end. It does not when their settings changed
    after the cut-off, nor after an edition made at its own instant, outside every rhythm.

    Args:
        session: of a transaction that commits this.
        subscriber_ids: the readers, or a query for them.
        edition: what they have read.
    """
    end = edition.window_end_at
    is_of_a_rhythm = end < edition.send_at
    changed = Subscriber.changed_at > end if is_of_a_rhythm else true()
    theirs = subscriber_ids if isinstance(subscriber_ids, Select) else list(subscriber_ids)
    session.execute(
        update(Subscriber)
        .where(Subscriber.id.in_(theirs), or_(Subscriber.window_start_at.is_not(None), changed))
        .values(window_start_at=case((changed, end), else_=None))
        .execution_options(synchronize_session=False)
    )


def keep_windows_open(session: Session, batch_ids: Sequence[int]) -> None:
    """The readers of these batches missed the brief: their next one starts where it would have."""
    missed = (
        select(Edition.window_start_at)
        .join(Brief, Brief.edition_id == Edition.id)
        .join(Batch, Batch.brief_id == Brief.id)
        .join(Delivery, Delivery.batch_id == Batch.id)
        .where(Batch.id.in_(batch_ids), Delivery.subscriber_id == Subscriber.id)
        .limit(1)
        .scalar_subquery()
    )
    theirs = select(Delivery.subscriber_id).where(Delivery.batch_id.in_(batch_ids), Delivery.state.is_(None))
    session.execute(
        update(Subscriber)
        .where(Subscriber.id.in_(theirs), Subscriber.window_start_at.is_(None))
        .values(window_start_at=missed)
        .execution_options(synchronize_session=False)
    )
