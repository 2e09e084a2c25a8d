"""Moving to another address: agreed to at the new one, taken back at the former one. GET shows, POST acts."""

from fastapi import APIRouter
from starlette.responses import Response

from digest.domain.language import Language
from digest.steps.change_address import Move, ask_new_address, look_up_move, look_up_return, move, move_back
from digest.web.client import RemoteOf
from digest.web.edge import Edge, EdgeOf
from digest.web.fields import Posted
from digest.web.language import AskedLanguage, LanguageOf
from digest.web.methods import READ
from digest.web.pages import PRIVATE
from digest.web.preferences import CHANGEABLE, reader_behind, settings_page, wishes_of
from digest.web.readers import next_brief, preferences_path
from digest.web.sign_up import form_again, form_of
from digest.web.wishes import Faults, read_address

router = APIRouter(include_in_schema=False)


@router.post("/preferences/{token}/address")
def ask(edge: EdgeOf, asked: AskedLanguage, token: str, fields: Posted, remote: RemoteOf) -> Response:
    """Ask the owner of another address; the answer is the same whoever that is."""
    reader, faults = reader_behind(edge, token), Faults()
    language, form = asked or reader.language, form_of(wishes_of(reader))
    if reader.state not in CHANGEABLE:
        return settings_page(edge, reader, language, form)
    faults.keep(fields.check_controls, None)
    address = read_address(fields, faults)
    if faults.errors:
        again = form_again(fields, wishes_of(reader), faults.errors, language)
        return settings_page(edge, reader, language, again, status=422)
    edge.admission.admit(remote, address, edge.clock())
    application = edge.application
    hashes = application.address_hashes(address)
    letters = ask_new_address(application.sessions, reader.id, address, hashes, edge.clock())
    answer = settings_page(edge, reader, language, form, done="address")
    answer.background = edge.after(letters)
    return answer


@router.api_route("/address/{token}", methods=READ)
def show_move(edge: EdgeOf, asked: AskedLanguage, language: LanguageOf, token: str) -> Response:
    """What the link in the letter to the new address is for; changes nothing."""
    now = edge.clock()
    change_id = edge.application.links.read_new_address(token, now)
    found = look_up_move(edge.application.sessions, change_id, now)
    return _page(edge, asked, language, f"/address/{token}", found)


@router.post("/address/{token}")
def agree(edge: EdgeOf, asked: AskedLanguage, language: LanguageOf, token: str) -> Response:
    """Briefs go to the new address from now on."""
    now = edge.clock()
    change_id = edge.application.links.read_new_address(token, now)
    return _page(edge, asked, language, f"/address/{token}", move(edge.application.sessions, change_id, now))


@router.api_route("/address/back/{token}", methods=READ)
def show_return(edge: EdgeOf, asked: AskedLanguage, language: LanguageOf, token: str) -> Response:
    """What the link in the letter to the former address is for; changes nothing."""
    now = edge.clock()
    change_id = edge.application.links.read_former_address(token, now)
    found = look_up_return(edge.application.sessions, change_id, now)
    return _page(edge, asked, language, f"/address/back/{token}", found)


@router.post("/address/back/{token}")
def take_back(edge: EdgeOf, asked: AskedLanguage, language: LanguageOf, token: str) -> Response:
    """Briefs go to the former address again."""
    now = edge.clock()
    change_id = edge.application.links.read_former_address(token, now)
    return _page(edge, asked, language, f"/address/back/{token}", move_back(edge.application.sessions, change_id, now))


def _page(edge: Edge, asked: AskedLanguage, otherwise: Language, path: str, found: Move) -> Response:
    reader = found.reader
    language = asked or (reader.language if reader else otherwise)
    values = {
        "status": found.status,
        "address": found.address,
        "next_brief": next_brief(reader, language, edge.clock()) if reader else "",
        "preferences": preferences_path(edge, reader.id, language) if reader else "",
        "action": edge.pages.path(path, lang=language),
        "switch_path": path,
        "is_private": True,
    }
    status, after = 410 if found.status == "gone" else 200, edge.after(found.letters)
    return edge.pages.answer("address", language, values, status=status, headers=PRIVATE, after=after)
