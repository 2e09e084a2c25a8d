"""The sending switch, the suppressions and the audit log."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from digest.domain.address import mend_address
from digest.domain.delivery import BatchState
from digest.domain.staff import ActKind
from digest.domain.suppression import SuppressionReason
from digest.store.acts import newest_acts
from digest.store.sending import PAUSED, set_paused
from digest.store.staff_lists import PAGE, batches_in, newest_suppressions
from digest.store.subscribers import suppress
from digest.store.tables import Switch
from digest.web.admin.desk import PATH, OwnerActs, Refusal, Viewer
from digest.web.admin.mornings import LARGEST_ID
from digest.web.fields import Posted
from digest.web.methods import READ
from digest.web.phrases import marked

Key = Annotated[int, Query(ge=1, le=LARGEST_ID)]
LONGEST_WHY = 200

router = APIRouter(include_in_schema=False)


@router.api_route(f"{PATH}/sending", methods=READ)
def show_switch(desk: Viewer) -> Response:
    """Whether mail may leave, who stopped it, and what waits."""
    with desk.edge.application.sessions() as session:
        paused = session.get(Switch, PAUSED)
        waiting = batches_in(session, BatchState.READY)
        sending = batches_in(session, BatchState.SENDING)
    values = {"paused": paused, "waiting": waiting, "sending": sending, "most": PAGE}
    return desk.page("sending", values)


@router.post(f"{PATH}/sending")
def turn(desk: OwnerActs, fields: Posted) -> Response:
    """Pause every hand-over, everywhere, or let them go on at the next tick."""
    paused = fields.text("paused")
    if paused not in {"yes", "no"}:
        raise Refusal(desk, 422, marked("paused must be yes or no"))
    kind = ActKind.SENDING_PAUSED if paused == "yes" else ActKind.SENDING_RESUMED
    why = " ".join((fields.text("why") or "").split())[:LONGEST_WHY]
    with desk.acting(kind), desk.edge.application.sessions.begin() as session:
        words = f"{desk.session.name}: {why}" if why else "operator"
        set_paused(session, paused=paused == "yes", now=desk.now, why=words if paused == "yes" else "")
    return desk.moved("/sending")


@router.api_route(f"{PATH}/suppressions", methods=READ)
def show_suppressions(desk: Viewer, before: Key | None = None) -> Response:
    """Who must not be written to, and why; the newest first."""
    with desk.edge.application.sessions() as session:
        rows = newest_suppressions(session, before)
    shown = [(row, desk.shown(row.email_key) if row.email_key else "") for row in rows]
    return desk.page("suppressions", {"rows": shown, "next": rows[-1].id if len(rows) == PAGE else None})


@router.post(f"{PATH}/suppressions")
def bar(desk: OwnerActs, fields: Posted) -> Response:
    """Suppress an address, of a subscriber or not."""
    address = mend_address(fields.text("address") or "")
    local, at, domain = address.rpartition("@")
    if not (local and at and domain) or any(sign.isspace() for sign in address):
        raise Refusal(desk, 422, marked("that is no e-mail address: nothing was changed"))
    with desk.acting(ActKind.ADDRESS_BARRED), desk.edge.application.sessions.begin() as session:
        suppress(session, address, SuppressionReason.OPERATOR, desk.now)
    return desk.moved("/suppressions")


@router.api_route(f"{PATH}/acts", methods=READ)
def show_acts(desk: Viewer, before: Key | None = None) -> Response:
    """The audit log, the newest first."""
    with desk.edge.application.sessions() as session:
        acts = newest_acts(session, PAGE, before)
    return desk.page("acts", {"acts": acts, "next": acts[-1].id if len(acts) == PAGE else None})
