"""Briefs as they were sent, their batches, and who was in each."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Annotated, TypeVar

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, Response

from digest.domain.delivery import BatchState, DeliveryReason
from digest.domain.staff import ActKind
from digest.ports import Message
from digest.rendering.examples import for_example_reader
from digest.store.ledger import retry_batch
from digest.store.staff_lists import (
    PAGE,
    batch_with_id,
    batches_by_brief,
    batches_in,
    batches_of_brief,
    brief_with_id,
    briefs_of_date,
    count_members,
    members_of,
    newest_dates,
)
from digest.store.tables import Batch, Brief
from digest.web.admin.desk import PATH, Desk, OwnerActs, Refusal, Viewer
from digest.web.methods import READ
from digest.web.outbox import MAIL_POLICY, SANDBOX
from digest.web.pages import PRIVATE
from digest.web.phrases import marked

DATES = 14
LARGEST_ID = 2**63 - 1
Row = TypeVar("Row", Brief, Batch)
Key = Annotated[int, Query(ge=0, le=LARGEST_ID)]

router = APIRouter(include_in_schema=False)
NOT_FREED = marked("batch {number} is not unknown, failed or late: nothing was changed")
NO_BRIEF, NO_BATCH = marked("there is no brief {number}"), marked("there is no batch {number}")


@router.api_route(f"{PATH}/mornings", methods=READ)
def show_date(desk: Viewer, on: date | None = None, after: Key = 0) -> Response:
    """The briefs of one local date around the world."""
    with desk.edge.application.sessions() as session:
        dates = newest_dates(session, desk.now.date() + timedelta(days=2), DATES)
        chosen = on or next((each for each in dates if each <= desk.now.date()), desk.now.date())
        briefs = briefs_of_date(session, chosen, after)
        states = batches_by_brief(session, [brief.id for brief in briefs])
    values = {"on": chosen, "dates": dates, "briefs": briefs, "states": states, "next": _next(briefs)}
    return desk.page("mornings", values)


@router.api_route(PATH + "/briefs/{brief_id}", methods=READ)
def show_brief(desk: Viewer, brief_id: int) -> Response:
    """One brief as it was sent, with its batches."""
    with desk.edge.application.sessions() as session:
        brief = _found(desk, brief_with_id(session, brief_id) if _is_id(brief_id) else None, NO_BRIEF, brief_id)
        batches = batches_of_brief(session, brief_id)
    return desk.page("brief", {"brief": brief, "batches": batches, "sandbox": SANDBOX})


@router.api_route(PATH + "/briefs/{brief_id}/html", methods=READ)
def show_html(desk: Viewer, brief_id: int) -> Response:
    """The HTML part, with an example reader's links in it: no link on it is anybody's."""
    with desk.edge.application.sessions() as session:
        brief = _found(desk, brief_with_id(session, brief_id) if _is_id(brief_id) else None, NO_BRIEF, brief_id)
        message = Message("", "brief", brief.language, brief.subject, brief.html, brief.text, dict(brief.slots))
    shown = for_example_reader(message, desk.edge.application.links, brief.edition.on)
    return HTMLResponse(shown.html, headers=PRIVATE | {"Content-Security-Policy": MAIL_POLICY})


@router.api_route(f"{PATH}/batches", methods=READ)
def show_batches(desk: Viewer, state: BatchState | None = None, before: Key | None = None) -> Response:
    """The newest batches, or those in one state."""
    with desk.edge.application.sessions() as session:
        batches = batches_in(session, state, before)
    values = {"batches": batches, "state": state, "states": list(BatchState), "next": _next(batches)}
    return desk.page("batches", values)


@router.api_route(PATH + "/batches/{batch_id}", methods=READ)
def show_batch(desk: Viewer, batch_id: int, after: Key = 0) -> Response:
    """One batch: what was tried, what came of it, and for whom."""
    with desk.edge.application.sessions() as session:
        batch = _found(desk, batch_with_id(session, batch_id) if _is_id(batch_id) else None, NO_BATCH, batch_id)
        members, counts = members_of(session, batch_id, after), count_members(session, batch_id)
    values = {
        "batch": batch,
        "members": [(member, desk.shown(member.email)) for member in members],
        "counts": counts,
        "next": members[-1].subscriber_id if len(members) == PAGE else None,
        "can_retry": is_retriable(batch),
    }
    return desk.page("batch", values)


@router.post(PATH + "/batches/{batch_id}/retry")
def retry(desk: OwnerActs, batch_id: int) -> Response:
    """Hand the batch over (again): the owner's word, not a guess."""
    application = desk.edge.application
    with desk.acting(ActKind.BATCH_RETRIED, f"batch {batch_id}"):
        with application.sessions.begin() as session:
            is_freed = _is_id(batch_id) and retry_batch(
                session, batch_id, desk.now, desk.now + application.settings.policy.grace
            )
        if not is_freed:
            raise Refusal(desk, 409, NOT_FREED, number=str(batch_id))
    return desk.moved(f"/batches/{batch_id}")


def is_retriable(batch: Batch) -> bool:
    """Whether the owner's word could free it; the same rule as the ledger's own."""
    if batch.reason is DeliveryReason.NOT_COMPILED:
        return False
    is_late = batch.state is BatchState.SKIPPED and batch.reason is DeliveryReason.LATE
    return is_late or batch.state in {BatchState.UNKNOWN, BatchState.FAILED}


def _is_id(number: int) -> bool:
    return 0 < number <= LARGEST_ID


def _found(desk: Desk, row: Row | None, text: str, number: int) -> Row:
    if row is None:
        raise Refusal(desk, 404, text, number=str(number))
    return row


def _next(rows: Sequence[Brief] | Sequence[Batch]) -> int | None:
    """The key of the next page, where there may be one."""
    return rows[-1].id if len(rows) == PAGE else None
