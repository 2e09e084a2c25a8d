"""Reading on the web: a brief, a story."""

from datetime import date

from fastapi import APIRouter, HTTPException
from starlette.responses import Response

from digest.domain.brief import reading_minutes
from digest.domain.language import Language
from digest.steps.read_briefs import web_brief, web_story
from digest.web.edge import EdgeOf
from digest.web.language import LanguageOf, other
from digest.web.methods import READ
from digest.web.pages import ONE_LANGUAGE
from digest.web.sign_up import box_of
from digest.web.structured import news_article

router = APIRouter(include_in_schema=False)


@router.api_route("/briefs/{day}/{tongue}", methods=READ)
def show_brief(edge: EdgeOf, day: str, tongue: str, brief: str = "") -> Response:
    """The brief of a date in a language; ``?brief=`` names the very one that a reader got."""
    on, language = read_date(day), read_tongue(tongue)
    brief_id = int(brief) if brief.isdecimal() and brief.isascii() and len(brief) <= len(str(2**63)) - 1 else None
    found = web_brief(edge.application.sessions, on, language, brief_id, edge.clock())
    if found is None:
        raise HTTPException(404)
    switch = f"/briefs/{on.isoformat()}/{other(language)}" if other(language) in found.languages else "/archive"
    values = {
        "brief": found,
        "minutes": reading_minutes(found.stories),
        "switch_path": switch,
        **box_of(edge, language),
    }
    return edge.pages.answer("brief", language, values, headers=ONE_LANGUAGE)


@router.api_route("/stories/{slug}", methods=READ)
def show_story(edge: EdgeOf, slug: str, language: LanguageOf) -> Response:
    """One story in full."""
    # PostgreSQL refuses NUL in a text, so such a slug must not reach it.
    application = edge.application
    weights = application.settings.limits.weights
    found = web_story(application.sessions, slug, language, edge.clock(), weights) if slug.isprintable() else None
    if found is None:
        raise HTTPException(404)
    values = {
        "found": found,
        "structured": news_article(found, edge.pages),
        "switch_path": f"/stories/{found.story.slug}",
        **box_of(edge, language),
    }
    return edge.pages.answer("story", language, values)


def read_date(text: str) -> date:
    """A date written ``2026-12-03``.

    Raises:
        HTTPException: 404 for anything else.
    """
    try:
        on = date.fromisoformat(text)
    except ValueError as error:
        raise HTTPException(404) from error
    if on.isoformat() != text:
        raise HTTPException(404)
    return on


def read_tongue(text: str) -> Language:
    """The language that a part of a path names; raises HTTPException 404 where it names none."""
    if text not in set(Language):
        raise HTTPException(404)
    return Language(text)
