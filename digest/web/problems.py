"""Answers to what can't be done: a page for readers, a problem document (RFC 9457) for programs."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import OperationalError
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
from digest.web.phrases import marked

PROBLEM = "application/problem+json"
FOR_PROGRAMS = ("/api/", "/webhooks/")
"""Places that no reader looks at; behind a path prefix too."""
UNPROCESSABLE, UNAVAILABLE = 422, 503
AGAIN_AFTER_SECONDS = "60"
FAULT = {
    "field": {"type": "string", "description": marked("Which value")},
    "value": {"type": "string", "description": marked("What was sent")},
    "mend": {"type": "string", "description": marked("What to do about it")},
    "message": {"type": "string", "description": marked("The same for a reader, in the language asked for")},
}
PROBLEM_SCHEMA = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string", "description": marked("What happened")},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": marked("What happened this time")},
        "errors": {
            "type": "array",
            "items": {"type": "object", "required": ["field", "value", "mend"], "properties": FAULT},
            "description": marked("Every value that can’t be used"),
        },
        **{name: {"type": "string"} for name in FAULT},
    },
}
"""A problem document (RFC 9457). The first fault stands at the top too."""
MEANT = {
    400: marked("The body is no JSON document"),
    404: marked("There is no such thing"),
    413: marked("The body is too long"),
    422: marked("Values that can’t be used, each with what to do about it"),
    429: marked("Too much just now; Retry-After says in how many seconds to come again"),
    503: marked("Not possible just now; Retry-After says in how many seconds to come again"),
}

log = structlog.get_logger()


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What an operation of the API may answer instead, for its description."""
    content = {PROBLEM: {"schema": PROBLEM_SCHEMA}}
    return {status: {"description": MEANT[status], "content": content} for status in statuses}


PAGES = {404: "not_found", 405: "not_found", 410: "expired", 413: "too_long", 429: "too_many", 503: "too_many"}
"""Status -> the part of the problem page that explains it; others are explained in general."""


def problem_document(errors: Sequence[BadInputError], messages: Mapping[str, str] | None = None) -> Response:
    """422 with one entry per value: its field, the value, and what to do about it.

    Args:
        messages: field -> the same for a reader, in the reader's language.
    """
    faults = [_fault(error, messages or {}) for error in errors]
    document = {
        "type": "about:blank",
        "title": "A value can’t be used",
        "status": UNPROCESSABLE,
        "detail": " ".join(str(error) for error in errors),
        "errors": faults,
        **(faults[0] if faults else {}),
    }
    return JSONResponse(document, UNPROCESSABLE, {"Cache-Control": "no-store"}, media_type=PROBLEM)


def _fault(error: BadInputError, messages: Mapping[str, str]) -> dict[str, str]:
    fault = {"field": error.field, "value": shown(error.value)[1:-1], "mend": error.mend}
    return fault | ({"message": messages[error.field]} if error.field in messages else {})


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


def _of_parameter(_: Request, error: Exception) -> Response:
    """A parameter of the API that is not what its description says."""
    given = error.errors() if isinstance(error, RequestValidationError) else []
    return problem_document([_parameter_fault(one) for one in given])


def _parameter_fault(given: Mapping[str, Any]) -> BadInputError:
    words = str(given["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    return BadInputError(".".join(map(str, given["loc"][1:])) or "body", str(given["input"]), f"{words}.")


def _of_token(request: Request, error: Exception) -> Response:
    if isinstance(error, ExpiredTokenError):
        again = request.url.path.removeprefix(edge_of(request).pages.path(""))
        return problem_page(request, 410, {"again": f"{again}/again" if again.startswith("/confirm/") else ""})
    wait = edge_of(request).admission.may_guess(remote_of(request))
    answer = problem_page(request, 429 if wait else 404)
    answer.headers.update({"Retry-After": str(wait)} if wait else {})
    return answer


def _of_later(request: Request, _: Exception) -> Response:
    if _is_program(request):
        answer = _status_document(UNAVAILABLE, "Not possible just now.")
    else:
        answer = problem_page(request, UNAVAILABLE, {"problem": "other"})
    answer.headers["Retry-After"] = AGAIN_AFTER_SECONDS
    return answer


def _of_database(request: Request, error: Exception) -> Response:
    """The database is away or can't work just now; its own words hold no values."""
    log.error("database_failed", why=type(error).__name__, detail=str(getattr(error, "orig", error)))
    return _of_later(request, error)


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
    app.add_exception_handler(RequestValidationError, _of_parameter)
    app.add_exception_handler(TryAgainError, _of_later)
    app.add_exception_handler(OperationalError, _of_database)
    app.add_exception_handler(BadTokenError, _of_token)
    app.add_exception_handler(ExpiredTokenError, _of_token)
