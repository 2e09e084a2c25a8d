"""A planned brief -> its words, once for everybody who shares it."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, update
from sqlalchemy.orm import Session, joinedload

from digest.domain.brief import BriefState, BriefStory, Limits, OtherLanguage, choose
from digest.domain.correction import Notice
from digest.domain.leftover import more_from_source
from digest.domain.subscriber import topics_of
from digest.links import Links
from digest.rendering.brief import render_brief
from digest.rendering.site import Site
from digest.rendering.templates import Templates
from digest.store.corrections import add_late, keep_notices, notices_for
from digest.store.database import Sessions
from digest.store.planning import settle_batches
from digest.store.stories import candidates
from digest.store.tables import Brief

MOST_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Press:
    """What compiling needs besides the database."""

    templates: Templates
    links: Links
    site: Site
    limits: Limits
    other: OtherLanguage


def compile_brief(sessions: Sessions, press: Press, brief_id: int, now: datetime) -> BriefState:
    """Choose, rank and render the brief, then set its batches free; returns its state.

    The attempt is counted and committed first: a brief that kills its process ends as failed, not in an endless loop.
    """
    brief = _begin(sessions, brief_id)
    if brief is None:
        return _state(sessions, brief_id)
    with sessions() as session:
        stories, more = _stories(session, brief, press)
        notices = notices_for(session, brief, now)
    if not stories:
        return _finish(sessions, brief, {"state": BriefState.EMPTY, "compiled_at": now})
    message = render_brief(
        press.templates,
        press.links,
        press.site,
        brief_id=brief.id,
        stories=stories,
        language=brief.language,
        on=brief.edition.on,
        nonce=secrets.token_hex(8),
        more=more,
        notices=notices,
        is_both=brief.languages.is_both,
        limit_bytes=press.limits.html_bytes,
    )
    words = {
        "state": BriefState.READY,
        "compiled_at": now,
        "subject": message.subject,
        "html": message.html,
        "text": message.text,
        "slots": dict(message.slots),
        "story_ids": [story.id for story in stories],
    }
    return _finish(sessions, brief, words, notices, now)


def _begin(sessions: Sessions, brief_id: int) -> Brief | None:
    with sessions.begin() as session:
        brief = session.get(Brief, brief_id, options=[joinedload(Brief.edition)], with_for_update={"of": Brief})
        if brief is None or brief.state is not BriefState.PLANNED:
            return None
        if brief.attempts >= MOST_ATTEMPTS:
            brief.state = BriefState.FAILED
            session.flush()
            settle_batches(session)
            return None
        brief.attempts += 1
        return brief


def _state(sessions: Sessions, brief_id: int) -> BriefState:
    with sessions() as session:
        brief = session.get(Brief, brief_id)
        return BriefState.FAILED if brief is None else brief.state


def _stories(session: Session, brief: Brief, press: Press) -> tuple[list[BriefStory], list[BriefStory]]:
    """The stories, and what more there is from the first one's source."""
    edition = brief.edition
    found = candidates(session, edition.window_start_at, edition.window_end_at)
    topics = topics_of(brief.topics)
    # Who reads both languages can read a story that is only in the other one.
    other = OtherLanguage.LABEL if brief.languages.is_both else press.other
    stories = choose(found, brief.language, topics, press.limits, other)
    return stories, more_from_source(found, stories, brief.language, topics)


def _finish(
    sessions: Sessions,
    brief: Brief,
    words: dict[str, Any],
    notices: Sequence[Notice] = (),
    begun_at: datetime | None = None,
) -> BriefState:
    """Of two workers that compiled the same brief the first one's words stay."""
    with sessions.begin() as session:
        mine = update(Brief).where(Brief.id == brief.id, Brief.state == BriefState.PLANNED).values(words)
        is_mine = cast("CursorResult[object]", session.execute(mine)).rowcount == 1
        if is_mine and begun_at is not None:
            keep_notices(session, brief.id, notices)
            add_late(session, brief.id, words["story_ids"], begun_at)
        settle_batches(session)
    return _state(sessions, brief.id)
