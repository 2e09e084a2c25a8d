"""What every page of the staff gets: who looks, in which language, the page frame, and the audit log."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hmac import compare_digest
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from markupsafe import escape
from starlette.responses import RedirectResponse, Response

from digest.domain.address import masked
from digest.domain.errors import PermanentError
from digest.domain.language import Language
from digest.domain.staff import ActKind, Role
from digest.health.wording import check_name, finding_words
from digest.rendering.dates import short_date
from digest.store.acts import Actor
from digest.web.acts import written_down
from digest.web.admin.refusals import refusal_words
from digest.web.admin.session import SHIFT, Cookies, Session
from digest.web.admin.words import (
    act_word,
    event_word,
    outcome_word,
    reason_short,
    reason_words,
    role_word,
    status_word,
)
from digest.web.client import remote_of
from digest.web.edge import Edge, edge_of
from digest.web.fields import Fields, posted_fields
from digest.web.language import asked_language, page_language
from digest.web.pages import PRIVATE
from digest.web.phrases import BETWEEN_DAYS, marked, say

PATH = "/admin"
COOKIE = "digest-admin"
SIGN_IN = f"{PATH}/login"
ELSEWHERE = frozenset({"cross-site", "same-site"})
"""What Sec-Fetch-Site says of a form on a page that is not of this origin."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Somebody of the staff at a page.

    Attributes:
        now: when it was asked for.
    """

    edge: Edge
    request: Request
    session: Session
    now: datetime

    @property
    def language(self) -> Language:
        """The language asked for, chosen before, or preferred by the browser."""
        return asked_language(self.request) or self.session.language or page_language(self.request)

    def may(self, role: Role) -> bool:
        """Whether somebody with this role or less could do it."""
        return self.session.role.may(role)

    def shown(self, address: str) -> str:
        """An address as this role may see it."""
        return address if self.may(Role.EDITOR) else masked(address)

    def page(self, name: str, values: Mapping[str, object], *, status: int = 200) -> Response:
        """The page ``admin/<name>``."""
        frame = {
            "session": self.session,
            "may_edit": self.may(Role.EDITOR),
            "may_own": self.may(Role.OWNER),
            "now": self.now,
            "here": self.request.url.path.removeprefix(self.edge.pages.links.prefix),
            "here_query": {key: value for key, value in self.request.query_params.items() if key != "lang"},
            "status_word": lambda status: status_word(str(status), self.language),
            "reason_words": lambda reason: reason_words(reason, self.language),
            "reason_short": lambda reason: reason_short(reason, self.language),
            "between": escape(say(BETWEEN_DAYS, self.language)),
            "short_date": lambda on: short_date(on, self.language),
            "role_word": lambda role: role_word(role, self.language),
            "event_word": lambda kind: event_word(str(kind), self.language),
            "outcome_word": lambda outcome: outcome_word(outcome, self.language),
            "act_word": lambda kind: act_word(kind, self.language),
            "check_name": lambda finding: check_name(finding, self.language),
            "finding_words": lambda finding: finding_words(finding, self.language),
        }
        pages = self.edge.pages
        answer = pages.answer(f"admin/{name}", self.language, {**frame, **values}, status=status, headers=PRIVATE)
        return self.kept(answer)

    def moved(self, path: str, **query: object) -> Response:
        """A redirect after an act, so that a reload does not repeat it."""
        return self.kept(RedirectResponse(self.edge.pages.path(f"{PATH}{path}", **query), 303, PRIVATE))

    def kept(self, answer: Response) -> Response:
        """The answer with a fresh cookie where it is time for one."""
        if renewed := self.session.renewed(self.now, asked_language(self.request)):
            set_cookie(self.edge, answer, renewed)
        return answer

    @contextmanager
    def acting(self, kind: ActKind, target: str = "", **facts: Any) -> Iterator[None]:  # noqa: ANN401 - JSON values
        """Do something that is written down.

        Raises:
            Refusal: what can't be done is told to whoever tried.
        """
        actor = Actor(self.session.name, self.session.role, remote_of(self.request))
        try:
            with written_down(self.edge, actor, kind, target, **facts):
                yield
        except Refusal:
            raise
        except PermanentError as error:
            raise Refusal(self, 422, "{words}", words=refusal_words(error, self.language)) from error


class Refusal(PermanentError):  # noqa: N818 - what its page is called
    """Stops a page or an act; answered with a page that says why.

    Args:
        desk: of whoever asked.
        status: of the answer.
        text: why, and what to do; a message of the catalogue.
        values: what goes into it.
    """

    def __init__(self, desk: Desk, status: int, text: str, **values: str) -> None:
        self.desk, self.status = desk, status
        self.words = say(text, desk.language, **values)
        super().__init__(text.format(**values))


def show_refusal(_: Request, error: Exception) -> Response:
    """The page of a refusal."""
    if not isinstance(error, Refusal):
        raise error
    return error.desk.page("refused", {"words": error.words}, status=error.status)


def cookies_of(edge: Edge) -> Cookies:
    """Reads and writes the cookies of this site's staff."""
    return Cookies(edge.application.links.secret_keys, edge.application.settings.everyone)


def set_cookie(edge: Edge, answer: Response, session: Session) -> None:
    """Send the session along, for the staff's pages alone, out of reach of scripts and other sites' forms."""
    answer.set_cookie(
        COOKIE,
        cookies_of(edge).write(session),
        max_age=int(SHIFT.total_seconds()),
        path=f"{edge.pages.links.prefix}{PATH}",
        secure=edge.application.links.base_url.startswith("https:"),
        httponly=True,
        samesite="lax",
    )


def session_of(request: Request, now: datetime) -> Session | None:
    """Who is signed in on this browser."""
    return cookies_of(edge_of(request)).read(request.cookies.get(COOKIE, ""), now)


def check_open(edge: Edge) -> None:
    """404 where nobody may sign in, as if nothing were here."""
    if not edge.application.settings.everyone:
        raise HTTPException(404)


def desk_of(request: Request, needed: Role) -> Desk:
    """The desk of whoever asks.

    Raises:
        HTTPException: 303 to the sign-in for who is not signed in.
        Refusal: 403 for a role that may not.
    """
    edge = edge_of(request)
    check_open(edge)
    now = edge.clock()
    session = session_of(request, now)
    if session is None:
        here = request.url.path.removeprefix(edge.pages.links.prefix)
        query = {"next": here} if request.method == "GET" else {}
        raise HTTPException(303, headers={"Location": edge.pages.path(SIGN_IN, **query)} | PRIVATE)
    desk = Desk(edge, request, session, now)
    if not session.role.may(needed):
        roles = {"needed": role_word(needed, desk.language), "role": role_word(session.role, desk.language)}
        raise Refusal(desk, 403, marked("this takes the role {needed}, and yours is {role}"), **roles)
    return desk


def check_form(desk: Desk, fields: Fields) -> None:
    """Refuse a form that is not from this session's own pages."""
    given, elsewhere = fields.text("csrf") or "", desk.request.headers.get("sec-fetch-site") in ELSEWHERE
    if elsewhere or not compare_digest(given.encode(errors="replace"), desk.session.csrf.encode()):
        raise Refusal(
            desk, 403, marked("the form was not from this session: open its page again and send it from there")
        )


def _looking(needed: Role) -> Callable[[Request], Desk]:
    def look(request: Request) -> Desk:
        return desk_of(request, needed)

    return look


def _acting(needed: Role) -> Callable[[Request, Fields], Desk]:
    def act(request: Request, fields: Annotated[Fields, Depends(posted_fields)]) -> Desk:
        desk = desk_of(request, needed)
        check_form(desk, fields)
        return desk

    return act


Viewer = Annotated[Desk, Depends(_looking(Role.VIEWER))]
Editor = Annotated[Desk, Depends(_looking(Role.EDITOR))]
Owner = Annotated[Desk, Depends(_looking(Role.OWNER))]
ViewerActs = Annotated[Desk, Depends(_acting(Role.VIEWER))]
EditorActs = Annotated[Desk, Depends(_acting(Role.EDITOR))]
OwnerActs = Annotated[Desk, Depends(_acting(Role.OWNER))]
