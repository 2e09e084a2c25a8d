"""Finding one's way back: briefs by month, stories by topic, by source and by their words."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException
from starlette.responses import Response

from digest.domain.language import Language
from digest.domain.topics import Topic, topic_named, topic_tree
from digest.steps.read_archive import Month, Shelf, month_of_briefs, search_shelf, source_shelf, topic_shelf
from digest.web.edge import Edge, EdgeOf
from digest.web.language import LanguageOf
from digest.web.methods import READ
from digest.web.sign_up import box_of

LONGEST_QUESTION = 200
MOST_PAGES = 1000
LARGEST_ID = 2**63 - 1

router = APIRouter(include_in_schema=False)


async def page_number(page: str = "1") -> int:
    """The page of a list that ``?page=`` asks for.

    Raises:
        HTTPException: 404 where it names none.
    """
    if page.isascii() and page.isdecimal() and 0 < int(page[:9]) <= MOST_PAGES:
        return int(page[:9])
    raise HTTPException(404)


PageOf = Annotated[int, Depends(page_number)]


@router.api_route("/archive", methods=READ)
def show_archive(edge: EdgeOf, language: LanguageOf, page: PageOf, q: str = "") -> Response:
    """The newest month of briefs; with ``?q=`` the stories that have these words."""
    question = q.strip()[:LONGEST_QUESTION]
    if question:
        found = search_shelf(edge.application.sessions, question, language, page, edge.clock())
        return _shelf(edge, language, found, "/archive", {"question": question})
    return _month(edge, language, month_of_briefs(edge.application.sessions, None, edge.clock()), "/archive")


@router.api_route("/archive/{month}", methods=READ)
def show_month(edge: EdgeOf, language: LanguageOf, month: str) -> Response:
    """The briefs of one month, ``2026-12``."""
    found = month_of_briefs(edge.application.sessions, read_month(month), edge.clock())
    if found is None:
        raise HTTPException(404)
    return _month(edge, language, found, f"/archive/{month}")


@router.api_route("/topics/{name}", methods=READ)
def show_topic(edge: EdgeOf, language: LanguageOf, page: PageOf, name: str) -> Response:
    """The stories of one topic and of those below it."""
    topic = topic_named(name)
    if topic is None or topic.name != name:
        raise HTTPException(404)
    found = topic_shelf(edge.application.sessions, name, language, page, edge.clock())
    return _shelf(edge, language, found, f"/topics/{name}", {"topic": topic, "near": near(topic)})


@router.api_route("/sources/{source_id}", methods=READ)
def show_source(edge: EdgeOf, language: LanguageOf, page: PageOf, source_id: str) -> Response:
    """The stories of one source."""
    is_id = source_id.isascii() and source_id.isdecimal() and len(source_id) < len(str(LARGEST_ID))
    sessions, now = edge.application.sessions, edge.clock()
    found = source_shelf(sessions, int(source_id), language, page, now) if is_id else None
    if found is None or not found.shelf.stories:
        raise HTTPException(404)
    return _shelf(edge, language, found.shelf, f"/sources/{int(source_id)}", {"source": found})


def read_month(text: str) -> date:
    """The first day of a month written ``2026-12``.

    Raises:
        HTTPException: 404 for anything else.
    """
    try:
        first = date.fromisoformat(f"{text}-01")
    except ValueError as error:
        raise HTTPException(404) from error
    if f"{first:%Y-%m}" != text:
        raise HTTPException(404)
    return first


def near(topic: Topic) -> list[Topic]:
    """The topic above, and those below."""
    return [one for one in topic_tree() if one.name == topic.parent or one.parent == topic.name]


def _month(edge: Edge, language: Language, month: Month | None, path: str) -> Response:
    tops = [topic.name for topic in topic_tree() if not topic.parent]
    values = {"month": month, "topics": tops, "switch_path": path, "is_newest": path == "/archive"}
    return edge.pages.answer("archive", language, {**values, **box_of(edge, language)})


def _shelf(edge: Edge, language: Language, shelf: Shelf, path: str, about: dict[str, object]) -> Response:
    """A page of a list; what it is a list of is in ``about``: a question, a topic or a source."""
    if shelf.page > 1 and not shelf.stories:
        raise HTTPException(404)
    question = about.get("question", "")
    values = {
        "shelf": shelf,
        "question": question,
        "topic": None,
        "near": (),
        "source": None,
        "switch_path": path,
        "switch_query": {"q": question} if question else {},
        **about,
    }
    return edge.pages.answer("shelf", language, {**values, **box_of(edge, language)})
