"""Reading by program: the archive, a brief, and the search, as JSON."""

from datetime import date, datetime
from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from digest.domain.brief import BriefStory, reading_minutes
from digest.domain.language import Language
from digest.rendering.clean import clean, web_address
from digest.steps.read_archive import month_of_briefs, search_shelf
from digest.steps.read_briefs import web_brief
from digest.store.archive import DatedBrief
from digest.web.archive import LONGEST_QUESTION, MOST_PAGES, read_month
from digest.web.edge import Edge, EdgeOf
from digest.web.language import LanguageOf
from digest.web.pages import ONE_LANGUAGE, PUBLIC
from digest.web.phrases import marked
from digest.web.problems import problems

router = APIRouter(prefix="/api/v1", tags=[marked("Reading")])


class ToldStory(BaseModel):
    """A story in one language."""

    title: str
    url: str = Field(description=marked("Its page here"))
    source: str
    source_url: str = Field(description=marked("The report at its source; empty where that is no web address"))
    published_at: datetime | None = Field(description=marked("When its source published it, where that is known"))
    language: Language = Field(description=marked("The language its words are in"))
    topics: list[str]
    score: int = Field(description=marked("The signal score, 0 to 100"))
    quick_answer: str
    quick_take: str
    key_points: list[str]
    why_it_matters: str


class ListedBrief(BaseModel):
    """A brief of the archive."""

    date: str
    language: Language
    title: str = Field(description=marked("Of its first story"))
    url: str = Field(description=marked("Its page here"))


class ListedMonth(BaseModel):
    """One month of the archive."""

    month: str
    months: list[str] = Field(description=marked("Every month that has a brief, the newest first"))
    briefs: list[ListedBrief] = Field(description=marked("The briefs of this month, the newest first"))


class ToldBrief(ListedBrief):
    """A brief with its stories."""

    reading_minutes: int
    stories: list[ToldStory] = Field(description=marked("In the order of the brief"))


class FoundStories(BaseModel):
    """One page of what a search found."""

    stories: list[ToldStory] = Field(description=marked("The newest first"))
    next: str = Field(description=marked("The address of the next page; empty where this is the last"))


MonthParameter = Annotated[
    str,
    Query(
        description=marked("Month, YYYY-MM; the newest when left out"),
        pattern=r"^(\d{4}-\d{2})?$",
        examples=["2026-12"],
    ),
]
Question = Annotated[
    str,
    Query(
        description=marked("Words that a story must all have; Han text is found in passages"),
        min_length=1,
        max_length=LONGEST_QUESTION,
        examples=["GB300"],
    ),
]
DateParameter = Annotated[date, Path(description=marked("Date, YYYY-MM-DD"), examples=["2026-12-02"])]
TongueParameter = Annotated[Language, Path(description=marked("Language, en or zh"), examples=["zh"])]
PageParameter = Annotated[int, Query(description=marked("Page of the list"), ge=1, le=MOST_PAGES)]


@router.head("/briefs", include_in_schema=False)
@router.get(
    "/briefs",
    summary=marked("The briefs of a month"),
    description=marked("Every date of the month with its brief in each language that has one."),
    response_description=marked("The month"),
    responses=problems(404, 422),
)
def list_briefs(edge: EdgeOf, response: Response, month: MonthParameter = "") -> ListedMonth:
    """The briefs of a month; 404 where it has none."""
    found = month_of_briefs(edge.application.sessions, read_month(month) if month else None, edge.clock())
    if found is None:
        raise HTTPException(404, "There is no brief of that month.")
    response.headers.update(ONE_LANGUAGE)
    briefs = [_listed(edge, brief) for day in found.days for brief in day.briefs.values()]
    months = [f"{first:%Y-%m}" for first in found.all_months]
    return ListedMonth(month=f"{found.first:%Y-%m}", months=months, briefs=briefs)


@router.head("/briefs/{date}/{language}", include_in_schema=False)
@router.get(
    "/briefs/{date}/{language}",
    summary=marked("One brief"),
    description=marked("The brief of a date in a language, with its stories."),
    response_description=marked("The brief"),
    responses=problems(404, 422),
)
def show_brief(edge: EdgeOf, response: Response, date: DateParameter, language: TongueParameter) -> ToldBrief:
    """The brief of a date in a language; 404 where there is none."""
    found = web_brief(edge.application.sessions, date, language, None, edge.clock())
    if found is None:
        raise HTTPException(404, "There is no brief of that date in that language.")
    response.headers.update(ONE_LANGUAGE)
    listed = _listed(edge, DatedBrief(found.brief_id, date, language, found.title))
    stories = [_told(edge, story) for story in found.stories]
    return ToldBrief(**listed.model_dump(), reading_minutes=reading_minutes(found.stories), stories=stories)


@router.head("/search", include_in_schema=False)
@router.get(
    "/search",
    summary=marked("Find stories"),
    description=marked("Stories with every word of the question in their title, answer, take or key points."),
    response_description=marked("A page of stories"),
    responses=problems(422),
)
def search(
    edge: EdgeOf, response: Response, language: LanguageOf, q: Question, page: PageParameter = 1
) -> FoundStories:
    """The stories that have these words in either language, told in the one asked for where they have it."""
    found = search_shelf(edge.application.sessions, q, language, page, edge.clock())
    response.headers.update(PUBLIC)
    following = edge.pages.full("/api/v1/search", q=q, lang=language, page=page + 1) if found.has_more else ""
    return FoundStories(stories=[_told(edge, story) for story in found.stories], next=following)


def _listed(edge: Edge, brief: DatedBrief) -> ListedBrief:
    date = brief.on.isoformat()
    url = edge.pages.full(f"/briefs/{date}/{brief.language}")
    return ListedBrief(date=date, language=brief.language, title=clean(brief.title), url=url)


def _told(edge: Edge, story: BriefStory) -> ToldStory:
    text = story.text
    return ToldStory(
        title=clean(text.title),
        url=edge.pages.full(f"/stories/{story.slug}", lang=story.language),
        source=clean(story.source),
        source_url=web_address(story.url),
        published_at=story.published_at,
        language=story.language,
        topics=list(story.topics),
        score=story.score,
        quick_answer=clean(text.quick_answer),
        quick_take=clean(text.quick_take),
        key_points=[clean(point) for point in text.key_points],
        why_it_matters=clean(text.why_it_matters),
    )
