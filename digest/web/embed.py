"""The sign-up form for other sites: a script, and plain HTML where scripts are not wanted."""

from fastapi import APIRouter
from starlette.responses import Response

from digest.domain.language import Language
from digest.web.edge import EdgeOf
from digest.web.language import LanguageOf
from digest.web.methods import READ
from digest.web.phrases import marked, say
from digest.web.sign_up import EMBED

PATH = "/embed.js"
KEPT = {
    "Cache-Control": "public, max-age=3600, stale-while-revalidate=86400, stale-if-error=604800",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
"""For any page to load, those that isolate themselves too (the Fetch standard's CORP)."""
WORDS = {
    "label": marked("E-mail address"),
    "button": marked("Subscribe"),
    "asked": marked("Check your inbox: a message is on its way. Press the button in it, and you’re subscribed."),
    "first": marked("First brief, once you confirm:"),
    "later": marked("Not possible just now. Please try again in a while."),
}

router = APIRouter(include_in_schema=False)


@router.api_route(PATH, methods=READ)
def script(edge: EdgeOf) -> Response:
    """The script. It sends the form itself where that is allowed, else it lets the browser open our page."""
    settings = {
        "base": edge.application.links.base_url,
        "source": EMBED,
        # A challenge's widget belongs on our own page, which asks for it.
        "sends": edge.application.challenge is None,
        "words": {str(language): {name: say(text, language) for name, text in WORDS.items()} for language in Language},
    }
    text = edge.pages.render_file("embed.js", Language.ENGLISH, {"settings": settings})
    return Response(text, 200, KEPT, "text/javascript")


@router.api_route("/embed", methods=READ)
def show_forms(edge: EdgeOf, language: LanguageOf) -> Response:
    """Both forms to copy, with the script at work."""
    values = {"switch_path": "/embed", "script": PATH, "source": EMBED}
    return edge.pages.answer("embed", language, values)
