"""Stories -> texts in every language, by a writer on the network; nothing waits for it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum

from digest.domain.language import Language
from digest.domain.story import Story as CollectedStory
from digest.domain.story import StoryText
from digest.ports import Draft, NotWrittenError, Writer
from digest.store.database import Sessions
from digest.store.stories import as_collected, save_texts
from digest.store.tables import Story
from digest.store.writing import (
    assign_new,
    attempts_of,
    keep_draft,
    kept_draft,
    put_back,
    reserve,
    settle,
    take_assignments,
    take_off,
)

LEASE = timedelta(minutes=15)
"""Well above the longest that two answers may take."""
MOST_ATTEMPTS = 5
FIRST_WAIT = timedelta(minutes=1)
MOST_TOPICS = 3


class Written(StrEnum):
    """What became of one story."""

    WRITTEN = "written"
    KEPT = "kept"
    """A draft of the same text was there already."""
    FAULTY = "faulty"
    AGAIN = "again"
    GIVEN_UP = "given_up"
    NO_BUDGET = "no_budget"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class WritersDesk:
    """What writing needs besides the database.

    Attributes:
        daily_tokens: most tokens of one day, UTC.
        at_once: how many stories are being written at most, all processes together.
    """

    writer: Writer
    daily_tokens: int
    at_once: int


def take_stories(sessions: Sessions, desk: WritersDesk, now: datetime) -> list[int]:
    """The ids of stories to write now; claimed, so that nobody else writes them."""
    with sessions.begin() as session:
        assign_new(session, now)
        return take_assignments(session, now, LEASE, desk.at_once)


def write_story(sessions: Sessions, desk: WritersDesk, story_id: int, now: datetime) -> Written:
    """Have a claimed story written. No transaction is open while the writer works.

    A draft with a fault leaves the source's own words in place and flags the story for the operator, as do too many
    failures of the service. An empty budget lets it wait for the next day.
    """
    with sessions() as session:
        story = as_collected(session, story_id)
        attempts = attempts_of(session, story_id)
        draft = kept_draft(session, desk.writer.key(story)) if story else None
    if story is None or not attempts:
        return Written.GONE
    if draft is not None:
        return _finish(sessions, desk, story_id, story, draft, Written.KEPT)
    try:
        draft = _paid(sessions, desk, story, now)
    except NotWrittenError as error:
        return _again(sessions, story_id, attempts, error, now)
    if draft is None:
        with sessions.begin() as session:
            put_back(session, story_id, _next_day(now), uncounted=True)
        return Written.NO_BUDGET
    with sessions.begin() as session:
        keep_draft(session, desk.writer.key(story), draft, now)
    return _finish(sessions, desk, story_id, story, draft, Written.WRITTEN)


def write_waiting(sessions: Sessions, desk: WritersDesk, now: datetime, limit: int) -> dict[Written, int]:
    """Write what waits, one after the other, in this process; returns how many came to what."""
    outcomes: dict[Written, int] = {}
    for _ in range(limit):
        ids = take_stories(sessions, replace(desk, at_once=max(1, desk.at_once)), now)
        for story_id in ids:
            outcome = write_story(sessions, desk, story_id, now)
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
        if not ids or sum(outcomes.values()) >= limit:
            break
    return outcomes


def _paid(sessions: Sessions, desk: WritersDesk, story: CollectedStory, now: datetime) -> Draft | None:
    """The draft, or None where the day's budget has not enough left; what it cost is written down whatever happens."""
    writer, on, most = desk.writer, now.astimezone(UTC).date(), desk.writer.most_tokens(story)
    with sessions.begin() as session:
        if not reserve(session, writer.name, on, most, desk.daily_tokens):
            return None
    used = most
    try:
        draft = writer.write(story)
        used = draft.tokens
    except NotWrittenError as error:
        used = error.tokens
        raise
    finally:
        _settle(sessions, writer.name, on, most, used)
    return draft


def _settle(sessions: Sessions, name: str, on: date, reserved: int, used: int) -> None:
    with sessions.begin() as session:
        settle(session, name, on, reserved, used)


def _again(sessions: Sessions, story_id: int, attempts: int, error: NotWrittenError, now: datetime) -> Written:
    """Back on the desk with a growing wait, or off it with a flag when it was tried often enough."""
    with sessions.begin() as session:
        if attempts < MOST_ATTEMPTS:
            wait = max(FIRST_WAIT * 2 ** (attempts - 1), timedelta(seconds=error.after_seconds or 0))
            put_back(session, story_id, now + wait)
            return Written.AGAIN
        take_off(session, story_id)
        row = session.get(Story, story_id)
        if row is not None:
            row.flag = f"not written: {error}"
    return Written.GIVEN_UP


def _finish(
    sessions: Sessions, desk: WritersDesk, story_id: int, story: CollectedStory, draft: Draft, outcome: Written
) -> Written:
    with sessions.begin() as session:
        take_off(session, story_id)
        row = session.get(Story, story_id, with_for_update=True)
        if row is None or row.edited or row.body != story.body:
            # A person or the source was quicker; what they wrote stays, and the new text gets its own turn.
            return Written.GONE
        if draft.fault:
            row.flag = draft.fault
            return Written.FAULTY
        save_texts(session, story_id, _merged(story, draft.texts))
        row.written_by = desk.writer.name
        row.topics = list(dict.fromkeys([*draft.topics, *row.topics]))[: max(MOST_TOPICS, len(draft.topics))]
    return outcome


def _merged(story: CollectedStory, drafted: Mapping[Language, StoryText]) -> dict[Language, StoryText]:
    """The draft with the source's own title and quotation, and its words wherever the draft has none."""
    own = story.texts[story.language]
    texts = dict(drafted)
    given = drafted[story.language]
    values = {name: getattr(given, name) or getattr(own, name) for name in StoryText.__dataclass_fields__}
    texts[story.language] = StoryText(
        **values | {"title": own.title, "source_excerpt": own.source_excerpt or given.source_excerpt}
    )
    return texts


def _next_day(now: datetime) -> datetime:
    return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
