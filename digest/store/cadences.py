"""The distinct rhythms of the list."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from digest.domain.schedule import Cadence
from digest.store.dialects import insert_new
from digest.store.tables import CadenceRow


def cadence_id(session: Session, cadence: Cadence, now: datetime) -> int:
    """The id of the row for ``cadence``, made if there is none."""
    wanted = select(CadenceRow.id).where(
        CadenceRow.timezone == cadence.timezone,
        CadenceRow.send_time == cadence.at,
        CadenceRow.weekdays == cadence.weekdays,
    )
    found = session.scalar(wanted)
    if found is None:
        values = {
            "timezone": cadence.timezone,
            "send_time": cadence.at,
            "weekdays": cadence.weekdays,
            "created_at": now,
        }
        session.execute(insert_new(session, CadenceRow).values(values))
        found = session.scalars(wanted).one()
    return found


def all_cadences(session: Session) -> Sequence[CadenceRow]:
    """Every cadence that some subscriber has or had."""
    return session.scalars(select(CadenceRow).order_by(CadenceRow.id)).all()
