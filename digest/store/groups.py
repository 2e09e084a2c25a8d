"""Groups of stories that report one event, as they are read: who else reports it, and the texts they lend."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import ColumnElement, and_, exists, func, or_, select
from sqlalchemy.orm import Session, aliased, joinedload, selectinload

from digest.domain.language import Language
from digest.domain.story import Report
from digest.store.tables import Story, StoryTextRow


@dataclass(frozen=True, slots=True)
class Group:
    """What the others of a story's group add to it.

    Attributes:
        reports: theirs, the first one first.
        lent: their texts in languages that the story has none in, each with whose it is.
    """

    reports: tuple[Report, ...] = ()
    lent: Mapping[Language, tuple[StoryTextRow, Report]] = field(default_factory=dict)


NOBODY = Group()


def groups_of(session: Session, stories: Sequence[Story], as_of: datetime) -> dict[int, Group]:
    """The group of each story by its id, of what had entered before that instant and no editor hid.

    A story that is led by another one is lent nothing: its reader has the leader for that.
    """
    by_lead: dict[int, list[Story]] = defaultdict(list)
    for member in _members(session, {_lead(story) for story in stories}, as_of):
        by_lead[_lead(member)].append(member)
    return {story.id: _group(story, by_lead[_lead(story)]) for story in stories}


def _lead(story: Story) -> int:
    return story.lead_id or story.id


def _members(session: Session, leads: set[int], as_of: datetime) -> Sequence[Story]:
    followed = select(Story.lead_id).where(Story.lead_id.in_(leads))
    wanted = select(Story).where(or_(Story.lead_id.in_(leads), Story.id.in_(followed)))
    wanted = wanted.where(Story.hidden.is_(False), Story.enters_at < as_of)
    options = (selectinload(Story.texts), joinedload(Story.source))
    return session.scalars(wanted.options(*options).order_by(Story.id)).all()


def _group(story: Story, members: Sequence[Story]) -> Group:
    others = [member for member in members if member.id != story.id]
    if not others:
        return NOBODY
    own = {row.language for row in story.texts}
    lent: dict[Language, tuple[StoryTextRow, Report]] = {}
    for member in others if story.lead_id is None else []:
        for row in member.texts:
            if row.language not in own:
                lent.setdefault(row.language, (row, _report(member)))
    return Group(tuple(_report(member) for member in others), lent)


def _report(story: Story) -> Report:
    title = next((row.title for row in story.texts if row.language is story.language), "")
    return Report(story.id, story.source.name, story.url, title, story.language, story.published_at)


def leads_or_translates(start: datetime) -> ColumnElement[bool]:
    """Whether a story is to be chosen from: it leads, or it is the first of its group in its language.

    The second only where the leader entered before ``start`` and was not hidden: a later one lends it its place.
    """
    lead, earlier = aliased(Story), aliased(Story)
    is_open = exists().where(lead.id == Story.lead_id, lead.enters_at < start, lead.hidden.is_(False))
    same_group = or_(earlier.id == Story.lead_id, earlier.lead_id == Story.lead_id)
    told = exists().where(
        same_group,
        earlier.id < Story.id,
        StoryTextRow.story_id == earlier.id,
        StoryTextRow.language == Story.language,
    )
    return or_(Story.lead_id.is_(None), and_(is_open, ~told))


def count_sources(source: str, reports: Sequence[Report]) -> int:
    """How many other sources report it."""
    return len({report.source for report in reports} - {source})


def take_out(session: Session, story_id: int) -> bool:
    """Take a story out of its group, so that it stands alone; returns whether it was in one.

    Where it leads, the next one leads the others.
    """
    story = session.get_one(Story, story_id)
    heir = session.scalar(select(func.min(Story.id)).where(Story.lead_id == story_id))
    if heir is not None:
        hand_on(session, story_id, heir)
    was_led = story.lead_id is not None
    story.lead_id = None
    return was_led or heir is not None


def hand_on(session: Session, lead_id: int, heir_id: int) -> None:
    """Let another story of the group lead it."""
    for member in session.scalars(select(Story).where(Story.lead_id == lead_id)):
        member.lead_id = None if member.id == heir_id else heir_id
    session.flush()
