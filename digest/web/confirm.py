"""Confirming a subscription: GET shows a button, POST is the reader's yes. Safe to repeat."""

from fastapi import APIRouter
from starlette.responses import Response

from digest.steps.manage_subscriptions import Confirmation, confirm, look_up_confirmation
from digest.steps.renew_confirmation import renew_confirmation
from digest.web.edge import Edge, EdgeOf
from digest.web.language import AskedLanguage
from digest.web.methods import READ
from digest.web.pages import PRIVATE
from digest.web.readers import next_brief, preferences_path

router = APIRouter(include_in_schema=False)


@router.api_route("/confirm/{token}", methods=READ)
def show_confirmation(edge: EdgeOf, asked: AskedLanguage, token: str) -> Response:
    """What the link is for; changes nothing."""
    now = edge.clock()
    consent_id = edge.application.links.read_confirm(token, now)
    return _page(edge, asked, token, look_up_confirmation(edge.application.sessions, consent_id, now))


@router.post("/confirm/{token}")
def confirm_subscription(edge: EdgeOf, asked: AskedLanguage, token: str) -> Response:
    """The subscription stands from now on."""
    now = edge.clock()
    consent_id = edge.application.links.read_confirm(token, now)
    policy = edge.application.settings.policy
    return _page(edge, asked, token, confirm(edge.application.sessions, consent_id, now, policy))


@router.post("/confirm/{token}/again")
def send_new_link(edge: EdgeOf, asked: AskedLanguage, token: str) -> Response:
    """A new link to the same address, where the old one has expired; it is never shown here."""
    consent_id = edge.application.links.read_old_confirm(token)
    return _page(edge, asked, token, renew_confirmation(edge.application.sessions, consent_id, edge.clock()))


def _page(edge: Edge, asked: AskedLanguage, token: str, found: Confirmation) -> Response:
    language = asked or found.language
    reader = found.reader
    values = {
        "status": found.status,
        "action": edge.pages.path(f"/confirm/{token}", lang=language),
        "switch_path": f"/confirm/{token}",
        "reader": reader,
        "next_brief": next_brief(reader, language, edge.clock()) if reader else "",
        "preferences": preferences_path(edge, reader.id, language) if reader else "",
        "is_private": True,
    }
    status = 410 if found.status == "gone" else 200
    after = edge.after(found.letters)
    return edge.pages.answer("confirm", language, values, status=status, headers=PRIVATE, after=after)
