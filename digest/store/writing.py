"""The writer's desk: which stories wait for it, what it made, what it cost."""

from dataclasses import asdict
from datetime import date, datetime, timedelta
from typing import Any, cast

from sqlalchemy import CursorResult, Select, and_, delete, func, literal, or_, select, update
from sqlalchemy.orm import Session

from digest.domain.language import Language
from digest.domain.story import StoryText
from digest.ports import Draft
from digest.store.dialects import insert_new, insert_new_from
from digest.store.tables import Assignment, DraftRow, Spending, Story

WORTH_WRITING = timedelta(days=2)
"""A story that entered longer ago is in no brief to come."""
AHEAD = timedelta(days=7)


def assign_new(session: Session, now: datetime) -> None:
    """Put the stories on the desk that nobody wrote yet: those that briefs to come may hold."""
    waiting = select(Story.id, literal(now, Assignment.due_at.type), literal(0)).where(
        Story.enters_at > now - WORTH_WRITING,
        Story.enters_at < now + AHEAD,
        Story.written_at.is_not(None),
        Story.written_by == "",
        Story.flag == "",
        Story.edited.is_(False),
        Story.hidden.is_(False),
        Story.lead_id.is_(None),
    )
    insert_new_from(session, Assignment, ("story_id", "due_at", "attempts"), cast("Select[Any]", waiting))


def take_assignments(session: Session, now: datetime, lease: timedelta, at_once: int) -> list[int]:
    """Claim stories to write, so many that no more than ``at_once`` are being written; the newest first."""
    busy = session.scalar(select(func.count()).where(Assignment.lease_until_at > now)) or 0
    free = and_(Assignment.due_at <= now, or_(Assignment.lease_until_at.is_(None), Assignment.lease_until_at <= now))
    wanted = select(Assignment.story_id).where(free).order_by(Assignment.story_id.desc())
    ids = session.scalars(wanted.limit(max(0, at_once - busy)).with_for_update(skip_locked=True)).all()
    values = {"lease_until_at": now + lease, "attempts": Assignment.attempts + 1}
    session.execute(update(Assignment).where(Assignment.story_id.in_(ids)).values(values))
    return list(ids)


def attempts_of(session: Session, story_id: int) -> int:
    """How often it was claimed; 0 where it is not on the desk."""
    return session.scalar(select(Assignment.attempts).where(Assignment.story_id == story_id)) or 0


def put_back(session: Session, story_id: int, due_at: datetime, *, uncounted: bool = False) -> None:
    """Let it wait until then; ``uncounted`` where nothing was tried."""
    values = {"due_at": due_at, "lease_until_at": None}
    counted = {"attempts": Assignment.attempts - 1} if uncounted else {}
    session.execute(update(Assignment).where(Assignment.story_id == story_id).values(values | counted))


def take_off(session: Session, story_id: int) -> None:
    """It is written, or given up."""
    session.execute(delete(Assignment).where(Assignment.story_id == story_id))


def reserve(session: Session, writer: str, on: date, tokens: int, budget: int) -> bool:
    """Set tokens of the day's budget aside; False where it has not so many left."""
    session.execute(insert_new(session, Spending).values(writer=writer, on=on, tokens=0))
    spending = (
        update(Spending)
        .where(Spending.writer == writer, Spending.on == on, Spending.tokens + tokens <= budget)
        .values(tokens=Spending.tokens + tokens)
    )
    return cast("CursorResult[object]", session.execute(spending)).rowcount == 1


def settle(session: Session, writer: str, on: date, reserved: int, used: int) -> None:
    """Give back what was set aside and not used."""
    spending = update(Spending).where(Spending.writer == writer, Spending.on == on)
    session.execute(spending.values(tokens=Spending.tokens - reserved + used))


def spent(session: Session, on: date) -> int:
    """Tokens of a day, all writers together."""
    return session.scalar(select(func.coalesce(func.sum(Spending.tokens), 0)).where(Spending.on == on)) or 0


def kept_draft(session: Session, key: str) -> Draft | None:
    """The draft made of this very text before."""
    row = session.get(DraftRow, key)
    if row is None:
        return None
    texts = {Language(language): _text(words) for language, words in row.texts.items()}
    return Draft(texts, tuple(row.topics), row.fault)


def keep_draft(session: Session, key: str, draft: Draft, now: datetime) -> None:
    """Keep a draft; of two that were made at once the first stays."""
    texts = {language.value: asdict(text) for language, text in draft.texts.items()}
    values = {"key": key, "texts": texts, "topics": list(draft.topics), "fault": draft.fault, "created_at": now}
    session.execute(insert_new(session, DraftRow).values(values))


def flags_of(session: Session, limit: int) -> dict[int, str]:
    """Why an editor should look at a story, by its id, the newest first."""
    rows = session.execute(select(Story.id, Story.flag).where(Story.flag != "").order_by(Story.id.desc()).limit(limit))
    return {story_id: why for story_id, why in rows}  # noqa: C416 - rows are not pairs to mypy


def _text(words: dict[str, object]) -> StoryText:
    return StoryText(**{name: tuple(value) if isinstance(value, list) else value for name, value in words.items()})  # type: ignore[arg-type] # as asdict wrote it
