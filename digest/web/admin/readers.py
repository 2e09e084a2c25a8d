"""One address: the consent, why each morning came out as it did, all that happened, and what the owner can do."""

import json
from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query
from starlette.responses import Response

from digest.domain.address import address_key, mend_address
from digest.domain.explanation import Why
from digest.domain.schedule import is_known_zone
from digest.domain.staff import ActKind, Role
from digest.domain.suppression import SuppressionReason
from digest.steps.erase_subscribers import erase_subscriber
from digest.steps.explain_reader import Day, Explained, explain_reader
from digest.steps.export_subscriber import export_subscriber
from digest.steps.manage_subscriptions import unsubscribe
from digest.steps.read_subscribers import Reader, find_reader
from digest.steps.readmit import readmit
from digest.store.subscribers import bar_on, find, suppress
from digest.web.admin.desk import PATH, Desk, Owner, OwnerActs, Refusal, Viewer, ViewerActs
from digest.web.admin.words import tone_of, why_words
from digest.web.fields import Posted
from digest.web.methods import READ
from digest.web.pages import PRIVATE
from digest.web.phrases import marked, rhythm

READERS = f"{PATH}/readers"
LARGEST_ID = 2**63 - 1

router = APIRouter(include_in_schema=False)


@router.api_route(READERS, methods=READ)
def show_search(desk: Viewer) -> Response:
    """The search."""
    return desk.page("search", {"wanted": "", "bar": None, "found": False})


@router.post(READERS)
def search(desk: ViewerActs, fields: Posted) -> Response:
    """To the page of the one with this address or number. The address is posted, so that no log has it in a line."""
    wanted = mend_address(fields.text("wanted") or "")
    application = desk.edge.application
    with application.sessions() as session:
        found = find(session, wanted) if "@" in wanted else None
        number = found.id if found else _number(wanted)
        bar = bar_on(session, wanted, application.address_hashes(wanted)) if wanted else None
    if number and (found or find_reader(application.sessions, number, desk.now)):
        return desk.moved(f"/readers/{number}")
    values = {"wanted": wanted, "bar": bar, "found": True}
    return desk.page("search", values, status=404 if wanted else 422)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and int(text) <= LARGEST_ID else 0


@router.api_route(READERS + "/{reader_id}", methods=READ)
def show_reader(desk: Viewer, reader_id: int, until: Annotated[date | None, Query()] = None) -> Response:
    """Everything about one reader, with one line for each date."""
    application = desk.edge.application
    found = None
    if 0 < reader_id <= LARGEST_ID:
        found = explain_reader(application.sessions, reader_id, desk.now, until)
    if found is None:
        raise Refusal(desk, 404, marked("there is no subscriber {number}"), number=str(reader_id))
    with desk.acting(ActKind.READER_SEEN, f"subscriber {reader_id}"):
        return desk.page("reader", _values(desk, found))


def _values(desk: Desk, found: Explained) -> dict[str, object]:
    zone = found.reader.cadence.timezone
    clock = ZoneInfo(zone) if is_known_zone(zone) else ZoneInfo("UTC")

    def local(at: datetime) -> str:
        return f"{at.astimezone(clock):%Y-%m-%d %H:%M}"

    return {
        "found": found,
        "address": desk.shown(found.reader.address),
        "rhythm": rhythm(found.reader.cadence, desk.language) if is_known_zone(zone) else zone,
        "lines": [
            (day, since, tone_of(day.why), why_words(day, found, desk.language)) for day, since in _spans(found.days)
        ],
        "local": local,
        "see_details": desk.may(Role.EDITOR),
    }


def _spans(days: Sequence[Day]) -> list[tuple[Day, date]]:
    """The days, each with the date from which its line tells: one line for all that were before the reader's time."""
    found: list[tuple[Day, date]] = []
    for day in days:
        if found and day.why in {Why.FORGOTTEN, Why.BEFORE_SIGN_UP} and found[-1][0].why is day.why:
            found[-1] = (found[-1][0], day.on)
        else:
            found.append((day, day.on))
    return found


def _reader(desk: Desk, reader_id: int) -> Reader:
    found = find_reader(desk.edge.application.sessions, reader_id, desk.now) if 0 < reader_id <= LARGEST_ID else None
    if found is None:
        raise Refusal(desk, 404, marked("there is no subscriber {number}"), number=str(reader_id))
    return found


@router.post(READERS + "/{reader_id}/end")
def end(desk: OwnerActs, reader_id: int) -> Response:
    """End the subscription on the reader's word; they get the usual goodbye, from which they can come back."""
    reader = _reader(desk, reader_id)
    with desk.acting(ActKind.READER_ENDED, f"subscriber {reader.id}"):
        _, letters = unsubscribe(desk.edge.application.sessions, reader.id, desk.now)
    answer = desk.moved(f"/readers/{reader.id}")
    answer.background = desk.edge.after(letters)
    return answer


@router.post(READERS + "/{reader_id}/bar")
def bar(desk: OwnerActs, reader_id: int) -> Response:
    """Suppress the address."""
    reader = _reader(desk, reader_id)
    with (
        desk.acting(ActKind.ADDRESS_BARRED, f"subscriber {reader.id}"),
        desk.edge.application.sessions.begin() as opened,
    ):
        suppress(opened, reader.address, SuppressionReason.OPERATOR, desk.now)
    return desk.moved(f"/readers/{reader.id}")


@router.post(READERS + "/{reader_id}/readmit")
def lift(desk: OwnerActs, reader_id: int, fields: Posted) -> Response:
    """Lift the suppression, for a reason that is kept; it subscribes nobody."""
    reader = _reader(desk, reader_id)
    _readmit(desk, reader.address, f"subscriber {reader.id}", fields.text("because") or "")
    return desk.moved(f"/readers/{reader.id}")


@router.post(READERS + "/readmit")
def lift_unknown(desk: OwnerActs, fields: Posted) -> Response:
    """The same for an address that no subscriber has any more."""
    _readmit(desk, mend_address(fields.text("wanted") or ""), "", fields.text("because") or "")
    return desk.moved("/suppressions")


def _readmit(desk: Desk, address: str, target: str, because: str) -> None:
    words = " ".join(because.split())
    if not words:
        raise Refusal(desk, 422, marked("say why the suppression is lifted: the reason is kept"))
    application = desk.edge.application
    with desk.acting(ActKind.BAR_LIFTED, target):
        readmit(application.sessions, address, application.address_hashes(address), words, desk.now)


@router.api_route(READERS + "/{reader_id}/export", methods=READ)
def export(desk: Owner, reader_id: int) -> Response:
    """All that is kept about the reader, as the reader would get it."""
    reader = _reader(desk, reader_id)
    with desk.acting(ActKind.READER_EXPORTED, f"subscriber {reader.id}"):
        document = export_subscriber(desk.edge.application.sessions, reader.id)
    body = json.dumps(document, ensure_ascii=False, indent=2)
    headers = {**PRIVATE, "Content-Disposition": f'attachment; filename="subscriber-{reader.id}.json"'}
    return Response(body, 200, headers, "application/json")


@router.post(READERS + "/{reader_id}/erase")
def erase(desk: OwnerActs, reader_id: int, fields: Posted) -> Response:
    """Delete everything about the reader; the address is typed once more, for this can't be undone."""
    reader, application = _reader(desk, reader_id), desk.edge.application
    if address_key(fields.text("address") or "") != address_key(reader.address):
        raise Refusal(desk, 422, marked("the address typed is not the reader’s: nothing was erased"))
    with desk.acting(ActKind.READER_ERASED, f"subscriber {reader.id}"):
        newest = application.address_hashes(reader.address)[0]
        erase_subscriber(application.sessions, reader.address, newest, desk.now, application.keeps_records)
    return desk.moved("/readers")
