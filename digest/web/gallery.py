"""Every e-mail with its example data, in every language, light and dark: for those who work on them."""

from fastapi import APIRouter, HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from digest.domain.language import Language
from digest.ports import Message
from digest.rendering.examples import KINDS, example_message, for_example_reader
from digest.rendering.templates import Templates
from digest.web.edge import Edge, EdgeOf
from digest.web.language import LanguageOf
from digest.web.methods import READ
from digest.web.outbox import MAIL_POLICY, SANDBOX
from digest.web.pages import PRIVATE

SCHEMES = {"light": "not all", "dark": "all"}
"""What stands in a frame for the reader's wish: a frame has that of the page around it."""
CONDITION = "(prefers-color-scheme: dark)"

router = APIRouter(include_in_schema=False)


@router.api_route("/emails", methods=READ)
def show_gallery(edge: EdgeOf, language: LanguageOf, scheme: str = "light") -> Response:
    """Each e-mail in a row, each language in a column."""
    _check_open(edge)
    templates = Templates(edge.application.templates.folder)
    rows = [(kind, [_example(edge, templates, tongue, kind) for tongue in Language]) for kind in KINDS]
    values = {
        "rows": rows,
        "scheme": scheme if scheme in SCHEMES else "light",
        "schemes": list(SCHEMES),
        "sandbox": SANDBOX,
        "switch_path": "/emails",
        "is_private": True,
    }
    return edge.pages.answer("gallery", language, values, headers=PRIVATE)


@router.api_route("/emails/{kind}/{tongue}", methods=READ)
def show_email(edge: EdgeOf, kind: str, tongue: str, scheme: str = "light", view: str = "html") -> Response:
    """One e-mail alone, as HTML or as text, from the templates as they are on the disk now."""
    _check_open(edge)
    if kind not in KINDS or tongue not in set(Language):
        raise HTTPException(404)
    message = _example(edge, Templates(edge.application.templates.folder), Language(tongue), kind)
    if view == "text":
        return PlainTextResponse(message.text, headers=PRIVATE)
    html = message.html.replace(CONDITION, SCHEMES.get(scheme, CONDITION))
    return HTMLResponse(html, headers=PRIVATE | {"Content-Security-Policy": MAIL_POLICY})


def _check_open(edge: Edge) -> None:
    if edge.application.settings.is_public:
        raise HTTPException(404)


def _example(edge: Edge, templates: Templates, language: Language, kind: str) -> Message:
    application = edge.application
    message = example_message(templates, application.links, application.site, language, kind)
    return for_example_reader(message, application.links, edge.clock().date())
