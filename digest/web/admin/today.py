"""How this morning went, at a glance."""

from fastapi import APIRouter
from starlette.responses import Response

from digest.web.admin.desk import PATH, Viewer
from digest.web.methods import READ

router = APIRouter(include_in_schema=False)


@router.api_route(PATH, methods=READ)
def show_today(desk: Viewer) -> Response:
    """The first page."""
    return desk.page("today", {})
