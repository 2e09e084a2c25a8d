"""The audit log of the staff: written before an act, completed after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from digest.domain.staff import ActKind, Role
from digest.store.tables import Act

DONE = "done"
LONGEST_OUTCOME = 200


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, in which role, and from where."""

    name: str
    role: Role
    remote: str = field(default="", repr=False)


def begin_act(
    session: Session, actor: Actor, kind: ActKind, target: str, facts: Mapping[str, Any], now: datetime
) -> int:
    """Write down what is about to be done; returns its id. Facts and target name ids, never addresses."""
    act = Act(
        acted_at=now,
        who=actor.name,
        role=actor.role,
        kind=kind,
        target=target,
        facts=dict(facts),
        remote=actor.remote,
        outcome="",
    )
    session.add(act)
    session.flush()
    return act.id


def end_act(session: Session, act_id: int, outcome: str = DONE) -> None:
    """Write down how it went."""
    session.execute(update(Act).where(Act.id == act_id).values(outcome=outcome[:LONGEST_OUTCOME]))


def acts_of(session: Session, target: str, limit: int) -> Sequence[Act]:
    """What was done to one thing, the newest first."""
    return session.scalars(select(Act).where(Act.target == target).order_by(Act.id.desc()).limit(limit)).all()


def newest_acts(session: Session, limit: int, before: int | None = None) -> Sequence[Act]:
    """The audit log, the newest first, a page at a time."""
    wanted = select(Act).order_by(Act.id.desc()).limit(limit)
    return session.scalars(wanted if before is None else wanted.where(Act.id < before)).all()
