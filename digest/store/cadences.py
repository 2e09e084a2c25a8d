"""The distinct rhythms of the list."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, select
from sqlalchemy.orm import Session

from digest.domain.schedule import Cadence
from digest.store.dialects import insert_new
from digest.store.tables import CadenceRow

IS_CADENCE = and_(
    CadenceRow.timezone == bindparam("timezone"),
    CadenceRow.send_time == bindparam("send_time"),
    CadenceRow.weekdays == bindparam("weekdays"),
)
"""For a statement that is given :func:`cadence_values`."""
ID = select(CadenceRow.id).where(IS_CADENCE)
"""Built once: every sign-up asks."""


def cadence_values(cadence: Cadence) -> dict[str, Any]:
    """The columns that tell a cadence from others."""
    return {"timezone": cadence.timezone, "send_time": cadence.at, "weekdays": cadence.weekdays}


def cadence_id(session: Session, cadence: Cadence, now: datetime) -> int:
    """The id of the row for ``cadence``, made if there is none."""
    values = cadence_values(cadence)
    connection = session.connection()
    found: int | None = connection.scalar(ID, values)
    if found is None:
        connection.execute(insert_new(session, CadenceRow).values(values | {"created_at": now}))
        found = connection.scalars(ID, values).one()
    return found


def all_cadences(session: Session) -> Sequence[CadenceRow]:
    """Every cadence that some subscriber has or had."""
    return session.scalars(select(CadenceRow).order_by(CadenceRow.id)).all()
