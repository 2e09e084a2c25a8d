"""The front page."""

from collections.abc import Mapping

from fastapi import APIRouter
from starlette.responses import Response

from digest.domain.language import Language
from digest.domain.schedule import next_send
from digest.rendering.topics import TOPICS
from digest.steps.read_archive import front_stories
from digest.web.edge import Edge, EdgeOf
from digest.web.language import LanguageOf
from digest.web.methods import READ
from digest.web.pages import PRIVATE, PUBLIC
from digest.web.phrases import moment
from digest.web.sign_up import FormView, form_choices, form_of, usual_wishes
from digest.web.wording import PROMISES, WORDING

STORIES = 6

router = APIRouter(include_in_schema=False)


@router.api_route("/", methods=READ)
def front(edge: EdgeOf, language: LanguageOf) -> Response:
    """What the brief is, the sign-up form, the newest stories."""
    form = form_of(usual_wishes(edge.application.settings, language))
    return front_page(edge, language, form)


def front_page(edge: Edge, language: Language, form: FormView) -> Response:
    """The front page with ``form``; one with errors is answered with 422 and kept by nobody."""
    stories = front_stories(edge.application.sessions, language, edge.clock(), STORIES)
    values: Mapping[str, object] = {
        "form": form,
        "stories": stories,
        "next_brief": moment(next_send(form.cadence, edge.clock()), form.cadence, language),
        "promises": PROMISES[WORDING],
        "errors": form.errors,
        **form_choices(language, TOPICS),
    }
    failed = bool(form.errors)
    return edge.pages.answer(
        "front", language, values, status=422 if failed else 200, headers=PRIVATE if failed else PUBLIC
    )
