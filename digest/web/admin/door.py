"""In and out: the token opens a session, few tries a minute, every one written down."""

import re

import structlog
from fastapi import APIRouter, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from digest.domain.staff import ActKind, Role, Staff
from digest.health.examine import look_here
from digest.health.findings import problems
from digest.health.servers import look_at_database
from digest.store.acts import Actor
from digest.web.acts import written_down
from digest.web.admin.desk import COOKIE, ELSEWHERE, PATH, SIGN_IN, Desk, ViewerActs, check_open, session_of, set_cookie
from digest.web.admin.session import new_session
from digest.web.admin_token import member_with
from digest.web.client import RemoteOf
from digest.web.edge import Edge, EdgeOf
from digest.web.fields import Posted
from digest.web.language import LanguageOf
from digest.web.methods import READ
from digest.web.pages import PRIVATE

NOBODY = "nobody"
_OWN_PAGE = re.compile(rf"{PATH}(?:/[A-Za-z0-9_-]+)*")
"""Where a sign-in may lead: a path of these pages, with no host, query or climb in it."""

router = APIRouter(include_in_schema=False)
log = structlog.get_logger()


@router.api_route(SIGN_IN, methods=READ)
def show_sign_in(edge: EdgeOf, request: Request, language: LanguageOf, next: str = "") -> Response:  # noqa: A002 - the name in the address
    """The form, or on to the pages where somebody is signed in already."""
    check_open(edge)
    if session_of(request, edge.clock()):
        return RedirectResponse(edge.pages.path(PATH), 303, PRIVATE)
    values = {"next": _own(next), "wrong": False, "switch_path": SIGN_IN}
    return edge.pages.answer("admin/login", language, values, headers=PRIVATE)


@router.post(SIGN_IN)
def sign_in(edge: EdgeOf, request: Request, fields: Posted, language: LanguageOf, remote: RemoteOf) -> Response:
    """Open a session for who brings the token of one of the staff."""
    check_open(edge)
    if request.headers.get("sec-fetch-site") in ELSEWHERE:
        raise HTTPException(403, "sign in on this site's own page")
    if seconds := edge.admission.may_sign_in(remote):
        raise HTTPException(429, "Too many sign-ins just now.", {"Retry-After": str(seconds)})
    goes_to = _own(fields.text("next") or "")
    member = member_with(edge, fields.text("token") or "")
    if look_at_database(edge.application.engine).stops:
        return _without_database(edge, request, member)
    if member is None:
        with written_down(edge, Actor(NOBODY, Role.VIEWER, remote), ActKind.SIGN_IN_REFUSED):
            values = {"next": goes_to, "wrong": True, "switch_path": SIGN_IN}
        return edge.pages.answer("admin/login", language, values, status=401, headers=PRIVATE)
    with written_down(edge, Actor(member.name, member.role, remote), ActKind.SIGNED_IN):
        answer = RedirectResponse(edge.pages.path(goes_to or PATH), 303, PRIVATE)
        set_cookie(edge, answer, new_session(member, edge.clock()))
    return answer


def _without_database(edge: Edge, request: Request, member: Staff | None) -> Response:
    """What is wrong, to one of the staff; no session, since nothing can be written down."""
    log.warning("signed_in_without_database", name=member.name if member else NOBODY)
    if member is None:
        raise HTTPException(503, "Not possible just now.", {"Retry-After": "60"})
    now = edge.clock()
    found = problems(look_here(edge.application, now))
    answer = Desk(edge, request, new_session(member, now), now).page("down", {"findings": found}, status=503)
    del answer.headers["set-cookie"]
    return answer


@router.post(f"{PATH}/logout")
def sign_out(desk: ViewerActs) -> Response:
    """End the session on this browser."""
    with desk.acting(ActKind.SIGNED_OUT):
        answer = RedirectResponse(desk.edge.pages.path(SIGN_IN), 303, PRIVATE)
        answer.delete_cookie(COOKIE, path=f"{desk.edge.pages.links.prefix}{PATH}")
    return answer


def _own(path: str) -> str:
    return path if _OWN_PAGE.fullmatch(path) else ""
