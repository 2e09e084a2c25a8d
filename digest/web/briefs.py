"""Reading on the web: a brief, the archive, a story."""

from datetime import date
from itertools import groupby

from fastapi import APIRouter, HTTPException
from starlette.responses import Response

from digest.domain.brief import reading_minutes
from digest.domain.language import Language
from digest.steps.read_briefs import archive, web_brief, web_story
from digest.web.edge import Edge, EdgeOf
from digest.web.language import LanguageOf, other
from digest.web.methods import READ
from digest.web.sign_up import form_of, usual_wishes

MOST_DAYS = 400

router = APIRouter(include_in_schema=False)


@router.api_route("/briefs/{day}/{tongue}", methods=READ)
def show_brief(edge: EdgeOf, day: str, tongue: str, brief: str = "") -> Response:
    """The brief of a date in a language; ``?brief=`` names the very one that a reader got."""
    on, language = _date(day), _language(tongue)
    brief_id = int(brief) if brief.isdecimal() and brief.isascii() and len(brief) <= len(str(2**63)) - 1 else None
    found = web_brief(edge.application.sessions, on, language, brief_id, edge.clock())
    if found is None:
        raise HTTPException(404)
    values = {
        "brief": found,
        "minutes": reading_minutes(found.stories),
        "switch_path": f"/briefs/{on.isoformat()}/{other(language)}",
        **_box(edge, language),
    }
    return edge.pages.answer("brief", language, values)


@router.api_route("/archive", methods=READ)
def show_archive(edge: EdgeOf, language: LanguageOf) -> Response:
    """All briefs by month, newest first."""
    days: dict[date, list[Language]] = {}
    for on, tongue in archive(edge.application.sessions, edge.clock(), MOST_DAYS * len(Language)):
        days.setdefault(on, []).append(tongue)
    dated = sorted(days.items(), reverse=True)
    months = [(first, list(group)) for first, group in groupby(dated, key=lambda day: day[0].replace(day=1))]
    return edge.pages.answer("archive", language, {"months": months, "switch_path": "/archive", **_box(edge, language)})


@router.api_route("/stories/{slug}", methods=READ)
def show_story(edge: EdgeOf, slug: str, language: LanguageOf) -> Response:
    """One story in full."""
    # PostgreSQL refuses NUL in a text, so such a slug must not reach it.
    application = edge.application
    weights = application.settings.limits.weights
    found = web_story(application.sessions, slug, language, edge.clock(), weights) if slug.isprintable() else None
    if found is None:
        raise HTTPException(404)
    values = {"found": found, "switch_path": f"/stories/{found.story.slug}", **_box(edge, language)}
    return edge.pages.answer("story", language, values)


def _box(edge: Edge, language: Language) -> dict[str, object]:
    return {"form": form_of(usual_wishes(edge.application.settings, language))}


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise HTTPException(404) from error


def _language(text: str) -> Language:
    if text not in set(Language):
        raise HTTPException(404)
    return Language(text)
