"""The local mailbox, with provider ``outbox`` only: what would have been sent, as its reader would see it."""

from fastapi import APIRouter, HTTPException
from starlette.responses import HTMLResponse, Response

from digest.providers.outbox import Opened, list_messages, read_message
from digest.web.edge import Edge, EdgeOf
from digest.web.language import LanguageOf
from digest.web.methods import READ
from digest.web.pages import PRIVATE

VIEWS = ("html", "text", "source")
SANDBOX = "allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
MAIL_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data: https:; base-uri 'none'; "
    f"form-action 'none'; frame-ancestors 'self'; sandbox {SANDBOX}"
)
"""Mail has its styles inline and may not run or send anything; its links open in the whole window."""
WHOLE_WINDOW = '<base target="_top">'

router = APIRouter(include_in_schema=False)


@router.api_route("/outbox", methods=READ)
def show_outbox(edge: EdgeOf, language: LanguageOf) -> Response:
    """The newest messages first."""
    _check_open(edge)
    messages = list_messages(edge.application.settings.outbox_dir)
    values = {"messages": messages, "switch_path": "/outbox", "is_private": True}
    return edge.pages.answer("outbox", language, values, headers=PRIVATE)


@router.api_route("/outbox/{name}", methods=READ)
def show_message(edge: EdgeOf, language: LanguageOf, name: str, view: str = "html") -> Response:
    """One message: as HTML, as text, or its source."""
    opened = _open(edge, name)
    values = {
        "message": opened,
        "view": view if view in VIEWS else "html",
        "views": VIEWS,
        "sandbox": SANDBOX,
        "switch_path": f"/outbox/{opened.name}",
        "is_private": True,
    }
    return edge.pages.answer("outbox_message", language, values, headers=PRIVATE)


@router.api_route("/outbox/{name}/html", methods=READ)
def show_html(edge: EdgeOf, name: str) -> Response:
    """The HTML part alone, for the frame of the page above."""
    html = _open(edge, name).html
    before, head, rest = html.partition("<head>")
    framed = before + head + WHOLE_WINDOW + rest if head else WHOLE_WINDOW + html
    return HTMLResponse(framed, headers=PRIVATE | {"Content-Security-Policy": MAIL_POLICY})


def _check_open(edge: Edge) -> None:
    if edge.application.settings.provider != "outbox":
        raise HTTPException(404)


def _open(edge: Edge, name: str) -> Opened:
    _check_open(edge)
    opened = read_message(edge.application.settings.outbox_dir, name)
    if opened is None:
        raise HTTPException(404)
    return opened
