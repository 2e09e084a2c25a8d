"""Corrections: which briefs went out with the wrong text, whose readers are still to be told, and which briefs told."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Select, exists, select
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from digest.domain.brief import BriefState
from digest.domain.correction import TOLD_FOR, Notice
from digest.domain.delivery import BatchState, DeliveryState
from digest.domain.language import Language
from digest.store.dialects import insert_new
from digest.store.ledger import STATUS
from digest.store.tables import Batch, Brief, CorrectedBrief, Correction, Delivery, Edition, Story, StoryTextRow

GOT_IT = (DeliveryState.SENT.value, BatchState.UNKNOWN.value)
"""Who may have the brief: those whose hand-over is in doubt too."""


def briefs_with(session: Session, story: Story) -> list[Brief]:
    """The compiled briefs that hold a story. Only those can whose window it entered in."""
    wanted = (
        select(Brief)
        .join(Edition, Edition.id == Brief.edition_id)
        .where(Edition.window_start_at <= story.enters_at, Edition.window_end_at > story.enters_at)
        .where(Brief.state == BriefState.READY)
    )
    return [brief for brief in session.scalars(wanted) if story.id in brief.story_ids]


def is_being_sent(session: Session, story: Story, now: datetime) -> bool:
    """Whether the cut-off of a brief that may hold it has passed and the brief is not compiled."""
    wanted = (
        select(Brief.id)
        .join(Edition, Edition.id == Brief.edition_id)
        .where(Edition.window_start_at <= story.enters_at, Edition.window_end_at > story.enters_at)
        .where(Edition.window_end_at <= now, Brief.state == BriefState.PLANNED)
    )
    return session.scalar(wanted.limit(1)) is not None


def add_correction(
    session: Session, story: Story, notes: Mapping[Language, str], wrong: Sequence[Brief], now: datetime
) -> int:
    """Write down a correction and the briefs that went out before it; returns its id."""
    row = Correction(story_id=story.id, notes={str(of): note for of, note in notes.items()}, created_at=now)
    session.add(row)
    session.flush()
    for brief in wrong:
        session.add(CorrectedBrief(correction_id=row.id, brief_id=brief.id, is_notice=False))
    return row.id


def notices_for(session: Session, brief: Brief, now: datetime) -> list[Notice]:
    """What the readers of a planned brief are to be told: those of them who got a wrong one and no notice since.

    Briefs are shared, so one such reader is enough for all of that brief to be told.
    """
    candidates = select(Correction).where(Correction.created_at > now - TOLD_FOR).order_by(Correction.id)
    found = session.scalars(candidates.where(_untold(brief.id))).all()
    return [notice for notice in _notices(session, found) if notice.note_in(brief.language)]


def notices_in(session: Session, brief_id: int) -> list[Notice]:
    """The notices that a compiled brief carries."""
    wanted = select(Correction).join(CorrectedBrief, CorrectedBrief.correction_id == Correction.id)
    wanted = wanted.where(CorrectedBrief.brief_id == brief_id, CorrectedBrief.is_notice.is_(True))
    return _notices(session, session.scalars(wanted.order_by(Correction.id)).all())


def notices_between(session: Session, language: Language, start: datetime, end: datetime) -> list[Notice]:
    """Corrections of a stretch of time that some brief of that language needs; for a look ahead."""
    wrong = exists().where(CorrectedBrief.correction_id == Correction.id, CorrectedBrief.is_notice.is_(False))
    wanted = select(Correction).where(Correction.created_at >= start, Correction.created_at < end, wrong)
    found = session.scalars(wanted.order_by(Correction.id)).all()
    return [notice for notice in _notices(session, found) if notice.note_in(language)]


def corrections_of(session: Session, story_id: int) -> list[Notice]:
    """Every correction of a story, the oldest first."""
    wanted = select(Correction).where(Correction.story_id == story_id).order_by(Correction.id)
    return _notices(session, session.scalars(wanted).all())


def keep_notices(session: Session, brief_id: int, notices: Sequence[Notice]) -> None:
    """Write down that the brief carries these."""
    for notice in notices:
        values = {"correction_id": notice.correction_id, "brief_id": brief_id, "is_notice": True}
        session.execute(insert_new(session, CorrectedBrief).values(values))


def add_late(session: Session, brief_id: int, story_ids: Sequence[int], since: datetime) -> None:
    """A brief that was being compiled while a story of it was corrected may hold the old words: count it as wrong."""
    wanted = select(Correction.id).where(Correction.created_at >= since, Correction.story_id.in_(story_ids))
    for correction_id in session.scalars(wanted).all():
        values = {"correction_id": correction_id, "brief_id": brief_id, "is_notice": False}
        session.execute(insert_new(session, CorrectedBrief).values(values))


def _untold(brief_id: int) -> ColumnElement[bool]:
    """Some reader of the brief got a wrong one and no notice."""
    mine, my_batch = aliased(Delivery), aliased(Batch)
    got_wrong = exists(_received(mine.subscriber_id, is_notice=False).correlate(mine, Correction))
    was_told = exists(_received(mine.subscriber_id, is_notice=True).correlate(mine, Correction))
    return exists(
        select(mine.subscriber_id)
        .join(my_batch, my_batch.id == mine.batch_id)
        .where(my_batch.brief_id == brief_id, got_wrong, ~was_told)
        .correlate(Correction)
    )


def _received(subscriber_id: InstrumentedAttribute[int], *, is_notice: bool) -> Select[int]:
    """Deliveries of a subscriber that brought a brief of the correction."""
    return (
        select(Delivery.subscriber_id)
        .join(Batch, Batch.id == Delivery.batch_id)
        .join(CorrectedBrief, CorrectedBrief.brief_id == Batch.brief_id)
        .where(CorrectedBrief.correction_id == Correction.id, CorrectedBrief.is_notice.is_(is_notice))
        .where(Delivery.subscriber_id == subscriber_id, STATUS.in_(GOT_IT))
    )


def _notices(session: Session, rows: Sequence[Correction]) -> list[Notice]:
    return [_notice(session, row) for row in rows]


def _notice(session: Session, row: Correction) -> Notice:
    titles = session.execute(
        select(StoryTextRow.language, StoryTextRow.title).where(StoryTextRow.story_id == row.story_id)
    )
    slug = session.scalars(select(Story.slug).where(Story.id == row.story_id)).one()
    named = {language: title for language, title in titles}  # noqa: C416 - rows are not pairs to mypy
    notes = {Language(of): note for of, note in row.notes.items()}
    return Notice(row.id, slug, named, notes, row.created_at)
