"""Briefs and stories as the web shows them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from digest.domain.brief import BriefState, BriefStory, Candidate, Limits, OtherLanguage, choose, scored, shown_in
from digest.domain.correction import Notice
from digest.domain.language import Language, choices_of
from digest.domain.ranking import DEFAULT_WEIGHTS, Weights
from digest.domain.story import Report, StoryText, typeset
from digest.domain.subscriber import ALL_TOPICS
from digest.store.corrections import corrections_of, notices_in
from digest.store.database import Sessions
from digest.store.stories import listed, more_from, newest, stories_with_ids, story_with_slug
from digest.store.tables import Brief, Edition

WELCOME_REACH = timedelta(days=7)
"""How far back the stories of a welcome may come from."""
MORE_STORIES = 4


@dataclass(frozen=True, slots=True)
class WebBrief:
    """A compiled brief, for its page."""

    brief_id: int
    on: date
    language: Language
    subject: str
    stories: Sequence[BriefStory]
    notices: Sequence[Notice] = ()


@dataclass(frozen=True, slots=True)
class WebStory:
    """A story, for its page.

    Attributes:
        text: in ``shown_in``, the language asked for where the story has it.
        told: the report that the text is from.
        also: the other reports of its event.
        more: other stories of the same source.
    """

    story: Candidate
    text: StoryText
    shown_in: Language
    told: Report
    also: Sequence[Report]
    more: Sequence[BriefStory]
    corrections: Sequence[Notice] = ()


def web_brief(sessions: Sessions, on: date, language: Language, brief_id: int | None, now: datetime) -> WebBrief | None:
    """The brief of a date in a language: with an id that very one, else the newest for all topics."""
    with sessions() as session:
        wanted = (
            select(Brief, Edition)
            .join(Edition, Edition.id == Brief.edition_id)
            .where(Edition.on == on, Brief.languages.in_(choices_of(language)), Brief.state == BriefState.READY)
            .where(Edition.send_at <= now)
        )
        wanted = wanted.where(Brief.id == brief_id) if brief_id else wanted.where(Brief.topics == ALL_TOPICS)
        row = session.execute(wanted.order_by(Edition.send_at.desc(), Brief.languages, Brief.id).limit(1)).one_or_none()
        if row is None:
            return None
        brief, edition = row
        found = stories_with_ids(session, brief.story_ids, edition.window_end_at)
        notices = notices_in(session, brief.id)
        return WebBrief(brief.id, on, language, brief.subject, in_language(found, language), notices)


def in_language(stories: Iterable[Candidate], language: Language) -> list[BriefStory]:
    """The stories in their order, each in ``language`` where it has a text in it, else in its own."""
    return [shown_in(story, language if language in story.texts else story.language) for story in stories]


def archive(sessions: Sessions, now: datetime, limit: int) -> list[tuple[date, Language]]:
    """The dates and languages that have a brief, newest first."""
    with sessions() as session:
        rows = session.execute(
            select(Edition.on, Brief.languages)
            .join(Brief, Brief.edition_id == Edition.id)
            .where(Brief.state == BriefState.READY, Brief.topics == ALL_TOPICS, Edition.send_at <= now)
            .distinct()
            .order_by(Edition.on.desc(), Brief.languages)
            .limit(limit * len(Language))
        )
        return list(dict.fromkeys((on, languages.language) for on, languages in rows))[:limit]


def front_stories(sessions: Sessions, language: Language, now: datetime, limit: int) -> list[BriefStory]:
    """The newest stories that have a text in ``language``."""
    with sessions() as session:
        found = listed(session, now, limit * len(Language), entered=True)
    return in_language([story for story in found if language in story.texts], language)[:limit]


def web_story(
    sessions: Sessions, slug: str, language: Language, now: datetime, weights: Weights = DEFAULT_WEIGHTS
) -> WebStory | None:
    """One story, scored under ``weights``, and others of its source."""
    with sessions() as session:
        story = story_with_slug(session, slug, now)
        if story is None or story.enters_at > now:
            return None
        tongue = language if language in story.texts else next(iter(story.texts))
        more = in_language(more_from(session, story, now, MORE_STORIES), language)
        return WebStory(
            scored(story, weights),
            typeset(story.texts[tongue], tongue),
            tongue,
            *_reports(story, tongue),
            more,
            corrections_of(session, story.id),
        )


def _reports(story: Candidate, tongue: Language) -> tuple[Report, Sequence[Report]]:
    """The report that is shown in that language, and the others."""
    title = story.texts[story.language].title if story.language in story.texts else story.texts[tongue].title
    own = Report(story.id, story.source, story.url, title, story.language, story.published_at)
    told = story.told_by.get(tongue, own)
    return told, [report for report in (own, *story.reports) if report.id != told.id]


def latest_stories(
    session: Session, language: Language, topics: Sequence[str], limits: Limits, now: datetime
) -> list[BriefStory]:
    """What a new reader is welcomed with: the best of the last days."""
    found = newest(session, now, WELCOME_REACH, limits.stories * 10)
    return choose(found, language, topics, limits, OtherLanguage.LEAVE_OUT)
