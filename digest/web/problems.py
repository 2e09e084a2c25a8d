"""Answers to what can't be done: a page for readers, a problem document (RFC 9457) for programs."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from digest.domain.errors import BadInputError, TryAgainError, shown
from digest.links import BadTokenError, ExpiredTokenError
from digest.web.client import remote_of
from digest.web.edge import edge_of
from digest.web.guards import HEADERS
from digest.web.language import page_language
from digest.web.pages import PRIVATE

PROBLEM = "application/problem+json"
FOR_PROGRAMS = ("/api/", "/webhooks/")
"""Places that no reader looks at; behind a path prefix too."""
UNPROCESSABLE = 422
PROBLEMS: dict[str, dict[str, object]] = {
    status: {"description": words, "content": {PROBLEM: {"schema": {"type": "object"}}}}
    for status, words in {
        "400": "The body is no JSON document",
        "413": "The body is too long",
        "422": "Values that can’t be used, each with what to do about it (RFC 9457)",
        "429": "Too much just now; Retry-After says in how many seconds to come again",
        "503": "Too much waits for confirmation; Retry-After says when to come again",
    }.items()
}
"""What an operation of the API may answer instead, for its description."""
PAGES = {404: "not_found", 405: "not_found", 410: "expired", 413: "too_long", 429: "too_many", 503: "too_many"}
"""Status -> the part of the problem page that explains it; others are explained in general."""


def problem_document(errors: Sequence[BadInputError]) -> Response:
    """422 with one entry per value: its field, the value, and what to do about it."""
    faults = [{"field": error.field, "value": shown(error.value)[1:-1], "mend": error.mend} for error in errors]
    document = {
        "type": "about:blank",
        "title": "A value can’t be used",
        "status": UNPROCESSABLE,
        "detail": " ".join(str(error) for error in errors),
        "errors": faults,
        **(faults[0] if faults else {}),
    }
    return JSONResponse(document, UNPROCESSABLE, {"Cache-Control": "no-store"}, media_type=PROBLEM)


def _status_document(status: int, detail: str) -> Response:
    document = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return JSONResponse(document, status, {"Cache-Control": "no-store"}, media_type=PROBLEM)


def problem_page(request: Request, status: int, values: Mapping[str, object] | None = None) -> Response:
    """A page that says what happened and where to go from here."""
    values = {"status": status, "problem": PAGES.get(status, "other"), "again": "", **(values or {})}
    return edge_of(request).pages.answer("problem", page_language(request), values, status=status, headers=PRIVATE)


def _of_status(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = str(error.detail) if isinstance(error, HTTPException) else "Something went wrong on our side."
    answer = _status_document(status, detail) if _is_program(request) else problem_page(request, status)
    # A failure is answered outside the middleware that adds the headers of every other answer.
    answer.headers.update(dict(error.headers or {}) if isinstance(error, HTTPException) else HEADERS | PRIVATE)
    return answer


def _of_input(_: Request, error: Exception) -> Response:
    return problem_document([error] if isinstance(error, BadInputError) else [])


def _of_token(request: Request, error: Exception) -> Response:
    if isinstance(error, ExpiredTokenError):
        again = request.url.path.removeprefix(edge_of(request).pages.path(""))
        return problem_page(request, 410, {"again": f"{again}/again" if again.startswith("/confirm/") else ""})
    wait = edge_of(request).admission.may_guess(remote_of(request))
    answer = problem_page(request, 429 if wait else 404)
    answer.headers.update({"Retry-After": str(wait)} if wait else {})
    return answer


def _of_later(request: Request, _: Exception) -> Response:
    return _of_status(request, HTTPException(503, "Not possible just now.", {"Retry-After": "60"}))


def _of_nobody(_: Request, __: Exception) -> Response:
    """The client went away before its request was whole; nobody reads the answer, and it is no failure of ours."""
    return Response(status_code=400)


def _is_program(request: Request) -> bool:
    return any(place in request.url.path for place in FOR_PROGRAMS)


def install_problems(app: FastAPI) -> None:
    """Answer every failure of an endpoint in the site's own words."""
    app.add_exception_handler(HTTPException, _of_status)
    app.add_exception_handler(Exception, _of_status)
    app.add_exception_handler(BadInputError, _of_input)
    app.add_exception_handler(ClientDisconnect, _of_nobody)
    app.add_exception_handler(TryAgainError, _of_later)
    app.add_exception_handler(BadTokenError, _of_token)
    app.add_exception_handler(ExpiredTokenError, _of_token)
