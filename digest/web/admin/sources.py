"""Sources with their health: what was read when, what went wrong, and how much their stories count."""

from datetime import datetime, timedelta

from fastapi import APIRouter
from starlette.responses import Response

from digest.domain.staff import ActKind
from digest.steps.keep_sources import change_source, list_sources, wake_source
from digest.store.tables import Source
from digest.web.admin.desk import PATH, Desk, EditorActs, Refusal, Viewer
from digest.web.admin.mornings import LARGEST_ID
from digest.web.fields import Posted
from digest.web.methods import READ
from digest.web.phrases import marked

SILENT_AFTER = timedelta(days=2)

router = APIRouter(include_in_schema=False)


@router.api_route(f"{PATH}/sources", methods=READ)
def show_sources(desk: Viewer) -> Response:
    """Every source, those in trouble first."""
    sources = list_sources(desk.edge.application.sessions)
    rows = sorted(((source, health_of(source, desk.now)) for source in sources), key=_trouble_first)
    return desk.page("sources", {"rows": rows})


def health_of(source: Source, now: datetime) -> str:
    """One word: ``imported``, ``new``, ``gone``, ``resting``, ``failing``, ``silent`` or ``well``."""
    if source.feed_url is None:
        return "imported"
    if source.rest is not None:
        return "gone" if source.rest == "gone" else "resting"
    if source.error:
        return "failing"
    if source.fetched_at is None:
        return "new"
    return "silent" if now - source.fetched_at > SILENT_AFTER else "well"


ORDER = ("gone", "resting", "failing", "silent", "new", "well", "imported")


def _trouble_first(row: tuple[Source, str]) -> tuple[int, str]:
    return ORDER.index(row[1]), row[0].name.casefold()


@router.post(PATH + "/sources/{source_id}")
def change(desk: EditorActs, source_id: int, fields: Posted) -> Response:
    """How much its stories count, and whether their pages are read."""
    weight, reads_pages = fields.text("weight") or "", fields.text("reads_pages") == "yes"
    share = int(weight) / 100 if weight.isascii() and weight.isdecimal() else -1
    if not 0 <= share <= 1:
        raise Refusal(desk, 422, marked("the weight must be a whole number from 0 to 100"))
    _check(desk, source_id)
    with desk.acting(ActKind.SOURCE_CHANGED, f"source {source_id}", weight=share, reads_pages=reads_pages):
        change_source(desk.edge.application.sessions, source_id, reads_pages=reads_pages, weight=share)
    return desk.moved("/sources")


@router.post(PATH + "/sources/{source_id}/wake")
def wake(desk: EditorActs, source_id: int) -> Response:
    """Have it fetched again at the next look, whatever its rest."""
    _check(desk, source_id)
    with desk.acting(ActKind.SOURCE_WOKEN, f"source {source_id}"):
        wake_source(desk.edge.application.sessions, source_id, desk.now)
    return desk.moved("/sources")


def _check(desk: Desk, source_id: int) -> None:
    with desk.edge.application.sessions() as session:
        if not 0 < source_id <= LARGEST_ID or session.get(Source, source_id) is None:
            raise Refusal(desk, 404, marked("there is no source {number}"), number=str(source_id))
