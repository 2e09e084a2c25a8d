"""The pages of the tables: sqladmin under ``/admin/tables``, behind our own door and in our own frame."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, FastAPI
from sqladmin import Admin
from sqladmin.authentication import AuthenticationBackend
from sqladmin.pagination import Pagination
from sqlalchemy import Engine
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from digest.domain.address import masked
from digest.domain.staff import Role
from digest.web.admin.desk import PATH, Desk, Refusal, Viewer, desk_of, show_refusal
from digest.web.admin.tables import MOST, SHOWN, Rows, number_of, views
from digest.web.methods import READ

TABLES = f"{PATH}/tables"
ADDRESS = re.compile(r"[^\s<>\"',;:()]+@[^\s<>\"',;:()]+")
LONGEST_CELL = 160
EDITORS_ONLY = frozenset({"raw", "remote"})
"""Columns that those who don't see addresses don't see either."""
LIST, DETAILS = "tables_list", "tables_row"

router = APIRouter(include_in_schema=False)


@router.api_route(TABLES, methods=READ)
def show_tables(desk: Viewer) -> Response:
    """The tables there are."""
    names = [(shown.table.__tablename__, _identity(shown.table.__name__)) for shown in SHOWN]
    return desk.page("tables", {"tables": names})


def _identity(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


class _Door(AuthenticationBackend):
    """Lets in who has a session with us; the library's own sessions and sign-in are not used."""

    def __init__(self) -> None:
        self.middlewares = []

    async def authenticate(self, request: Request) -> Response | bool:
        """Put the desk of whoever asks on the request; the answer instead where nobody is signed in."""
        try:
            request.state.desk = desk_of(request, Role.VIEWER)
        except Refusal as refusal:
            return show_refusal(request, refusal)
        except HTTPException as error:
            if error.headers and (place := error.headers.get("Location")):
                return RedirectResponse(place, error.status_code)
            raise
        key = request.path_params.get("pk")
        if key is not None and number_of(key) < 0:
            raise HTTPException(404)
        return True


class _Templates:
    """Stands where the library's templates were: what it found goes into pages of ours, as plain values."""

    async def TemplateResponse(  # noqa: N802 - the library's name
        self, request: Request, name: str, context: Mapping[str, Any] | None = None, status_code: int = 200
    ) -> Response:
        """The page for a template of the library's."""
        desk: Desk | None = getattr(request.state, "desk", None)
        given = context or {}
        if desk is None:
            return PlainTextResponse(str(given.get("message", "")), status_code)
        if name.endswith("list.html"):
            return desk.page(LIST, await _list_values(desk, request, given["model_view"], given["pagination"]))
        if name.endswith("details.html"):
            return desk.page(DETAILS, await _row_values(desk, request, given["model_view"], given["model"]))
        return desk.page("refused", {"words": str(given.get("message", "")).lower()}, status=status_code)


async def _list_values(desk: Desk, request: Request, view: Rows, page: Pagination) -> dict[str, object]:
    names = [name for name in view._list_prop_names if _may_see(desk, name)]  # noqa: SLF001 - as the library's template does
    rows = []
    for row in page.rows:
        cells = [_cell(desk, (await view.get_list_value(row, name, request))[1], LONGEST_CELL) for name in names]
        rows.append((row.id, cells))
    wanted = request.query_params.get("search", "")
    return {
        "table": view.name_plural,
        "identity": view.identity,
        "names": names,
        "rows": rows,
        "page": page,
        "is_cut": page.count >= MOST,
        "searched": sorted(view.searched),
        "wanted": wanted,
        "query": urlencode({"search": wanted}) if wanted else "",
    }


async def _row_values(desk: Desk, request: Request, view: Rows, row: Any) -> dict[str, object]:  # noqa: ANN401 - a row of any table
    names = [name for name in view._details_prop_names if _may_see(desk, name)]  # noqa: SLF001 - as above
    cells = [(name, _cell(desk, (await view.get_detail_value(row, name, request))[1])) for name in names]
    return {"table": view.name_plural, "identity": view.identity, "number": row.id, "cells": cells}


def _may_see(desk: Desk, name: str) -> bool:
    return name not in EDITORS_ONLY or desk.may(Role.EDITOR)


def _cell(desk: Desk, value: object, longest: int | None = None) -> str:
    """A value as text; addresses in it, wherever they stand, as this role may see them."""
    text = str(value)
    if not desk.may(Role.EDITOR):
        text = ADDRESS.sub(lambda found: masked(found[0]), text)
    return f"{text[:longest]}…" if longest and len(text) > longest else text


class _Tables(Admin):
    """The library with our pages in the place of its own, and only its routes that read."""

    def init_templating_engine(self) -> Any:  # noqa: ANN401 - what the library calls a templating engine
        """Ours."""
        return _Templates()


def install_tables(app: FastAPI, engine: Engine) -> None:
    """Give the app the pages of the tables."""
    tables = _Tables(app, engine=engine, base_url=TABLES, authentication_backend=_Door())
    tables.admin.router.routes = [
        Route("/{identity}/list", endpoint=tables.list, name="list"),
        Route("/{identity}/details/{pk}", endpoint=tables.details, name="details"),
    ]
    tables.admin.state.edge = app.state.edge
    for view in views():
        tables.add_view(view)
