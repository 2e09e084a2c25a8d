"""A reader's own data: a copy of it by a link in the mailbox, and its erasure. GET shows, POST acts."""

import json

from fastapi import APIRouter, HTTPException
from starlette.responses import Response

from digest.domain.address import masked
from digest.domain.language import Language
from digest.steps.erase_subscribers import erase_subscriber
from digest.steps.export_subscriber import ask_for_export, export_subscriber
from digest.steps.read_subscribers import find_reader
from digest.web.edge import Edge, EdgeOf
from digest.web.language import AskedLanguage
from digest.web.methods import READ
from digest.web.pages import PRIVATE
from digest.web.preferences import CHANGEABLE, reader_behind, settings_page, wishes_of
from digest.web.readers import preferences_path
from digest.web.sign_up import form_of

FILE = 'attachment; filename="my-data.json"'

router = APIRouter(include_in_schema=False)


@router.post("/preferences/{token}/export")
def ask_for_data(edge: EdgeOf, asked: AskedLanguage, token: str) -> Response:
    """Send the link to the data to the reader's own mailbox, once a day at most."""
    reader, now = reader_behind(edge, token), edge.clock()
    language = asked or reader.language
    if reader.state not in CHANGEABLE:
        return settings_page(edge, reader, language, form_of(wishes_of(reader)))
    letters = ask_for_export(edge.application.sessions, reader.id, now - edge.application.links.export_for, now)
    answer = settings_page(edge, reader, language, form_of(wishes_of(reader)), done="export")
    answer.background = edge.after(letters)
    return answer


@router.api_route("/export/{token}", methods=READ)
def show_data(edge: EdgeOf, asked: AskedLanguage, token: str) -> Response:
    """A button; scanners that open the link fetch nothing."""
    subscriber_id = edge.application.links.read_export(token, edge.clock())
    reader = find_reader(edge.application.sessions, subscriber_id, edge.clock())
    if reader is None:
        raise HTTPException(404)
    return _page(edge, asked or reader.language, "export", f"/export/{token}")


@router.post("/export/{token}")
def fetch_data(edge: EdgeOf, token: str) -> Response:
    """The data as a JSON file."""
    subscriber_id = edge.application.links.read_export(token, edge.clock())
    found = export_subscriber(edge.application.sessions, subscriber_id)
    if found is None:
        raise HTTPException(404)
    body = json.dumps(found, ensure_ascii=False, indent=2)
    return Response(body, 200, {**PRIVATE, "Content-Disposition": FILE}, "application/json")


@router.api_route("/preferences/{token}/erase", methods=READ)
def show_erasure(edge: EdgeOf, asked: AskedLanguage, token: str) -> Response:
    """What erasing means, and the button; changes nothing."""
    reader = reader_behind(edge, token)
    language = asked or reader.language
    back = preferences_path(edge, reader.id, language)
    return _page(edge, language, "erase", f"/preferences/{token}/erase", masked(reader.address), back)


@router.post("/preferences/{token}/erase")
def erase(edge: EdgeOf, asked: AskedLanguage, token: str) -> Response:
    """Everything about the reader goes; a keyed hash of the address keeps it from being written to."""
    reader = reader_behind(edge, token)
    application = edge.application
    newest = application.address_hashes(reader.address)[0]
    erase_subscriber(application.sessions, reader.address, newest, edge.clock(), application.keeps_records)
    return _page(edge, asked or reader.language, "erased", "/")


def _page(edge: Edge, language: Language, stage: str, path: str, address: str = "", back: str = "") -> Response:
    values = {
        "stage": stage,
        "address": address,
        "back": back,
        "action": edge.pages.path(path, lang=language),
        "switch_path": path,
        "is_private": True,
    }
    return edge.pages.answer("own_data", language, values, headers=PRIVATE)
