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
from digest.store.archive import briefs_between, neighbours
from digest.store.corrections import corrections_of, notices_in
from digest.store.database import Sessions
from digest.store.shelves import source_of
from digest.store.stories import more_from, newest, stories_with_ids, story_with_slug
from digest.store.tables import Brief, Edition

WELCOME_REACH = timedelta(days=7)
"""How far back the stories of a welcome may come from."""
MORE_STORIES = 4


@dataclass(frozen=True, slots=True)
class WebBrief:
    """A compiled brief, for its page.

    Attributes:
        languages: those that have a brief of this date.
        before, after: the dates of its neighbours in the same language.
    """

    brief_id: int
    on: date
    language: Language
    subject: str
    stories: Sequence[BriefStory]
    notices: Sequence[Notice] = ()
    languages: Sequence[Language] = ()
    before: date | None = None
    after: date | None = None

    @property
    def title(self) -> str:
        """Of its first story; empty where an editor took all of them off."""
        return self.stories[0].text.title if self.stories else ""


@dataclass(frozen=True, slots=True)
class WebStory:
    """A story, for its page.

    Attributes:
        text: in ``shown_in``, the language asked for where the story has it.
        told: the report that the text is from.
        also: the other reports of its event.
        more: other stories of the same source, which ``source_id`` names.
    """

    story: Candidate
    text: StoryText
    shown_in: Language
    told: Report
    also: Sequence[Report]
    more: Sequence[BriefStory]
    corrections: Sequence[Notice] = ()
    source_id: int = 0


def web_brief(sessions: Sessions, on: date, language: Language, brief_id: int | None, now: datetime) -> WebBrief | None:
    """The brief of a date in a language: with an id that very one, else the one that stands for the date."""
    with sessions() as session:
        dated = {brief.language: brief.brief_id for brief in briefs_between(session, on, on, now)}
        found = _ready_brief(session, brief_id or dated.get(language, 0), on, language, now)
        if found is None:
            return None
        brief, window_end = found
        return WebBrief(
            brief.id,
            on,
            language,
            brief.subject,
            in_language(stories_with_ids(session, brief.story_ids, window_end), language),
            notices_in(session, brief.id),
            tuple(dated),
            *neighbours(session, on, language, now),
        )


def _ready_brief(
    session: Session, brief_id: int, on: date, language: Language, now: datetime
) -> tuple[Brief, datetime] | None:
    """The brief with that id if it is one of that date and language, and the end of its window."""
    wanted = select(Brief, Edition.window_end_at).join(Edition, Edition.id == Brief.edition_id)
    is_its = (Brief.id == brief_id) & (Edition.on == on) & Brief.languages.in_(choices_of(language))
    can_be_read = (Brief.state == BriefState.READY) & (Edition.send_at <= now)
    row = session.execute(wanted.where(is_its, can_be_read)).one_or_none()
    return None if row is None else (row[0], row[1])


def in_language(stories: Iterable[Candidate], language: Language) -> list[BriefStory]:
    """The stories in their order, each in ``language`` where it has a text in it, else in its own."""
    return [shown_in(story, language if language in story.texts else story.language) for story in stories]


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
            source_of(session, story.id),
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
