"""Leaving, and coming back at once. GET shows a button; POST acts, from the page or from a mail client (RFC 8058)."""

from fastapi import APIRouter, HTTPException
from starlette.responses import PlainTextResponse, Response

from digest.domain.language import Language
from digest.domain.subscriber import EndReason, LeaveReason, SubscriberState
from digest.steps.manage_subscriptions import come_back, tell_why, unsubscribe
from digest.steps.read_subscribers import Reader, find_reader
from digest.web.edge import Edge, EdgeOf
from digest.web.fields import Posted
from digest.web.language import AskedLanguage, LanguageOf
from digest.web.methods import READ
from digest.web.pages import PRIVATE
from digest.web.phrases import marked
from digest.web.readers import next_brief, preferences_path, unsubscribe_path

ONE_CLICK = "One-Click"
WHY = {
    LeaveReason.TOO_OFTEN: marked("It came too often"),
    LeaveReason.NOT_USEFUL: marked("It wasn’t useful to me"),
    LeaveReason.NO_TIME: marked("I had no time to read it"),
    LeaveReason.NEVER_ASKED: marked("I never asked for it"),
    LeaveReason.OTHER: marked("Something else"),
}
"""What a reader may answer with one press, and no free text: nobody would read it."""

router = APIRouter(include_in_schema=False)


@router.api_route("/unsubscribe/{token}", methods=READ)
def show_unsubscribe(edge: EdgeOf, asked: AskedLanguage, language: LanguageOf, token: str) -> Response:
    """One button; changes nothing, for scanners open this address too."""
    subscriber_id = edge.application.links.read_unsubscribe(token)
    reader = find_reader(edge.application.sessions, subscriber_id, edge.clock())
    stage = "ask" if reader and reader.state is not SubscriberState.ENDED else "left"
    return leaving_page(edge, reader, asked or (reader.language if reader else language), stage)


@router.post("/unsubscribe/{token}")
def leave(edge: EdgeOf, asked: AskedLanguage, language: LanguageOf, token: str, fields: Posted) -> Response:
    """End the subscription. A mail client's one click gets a short text: no redirect, no cookie (RFC 8058 §3.1)."""
    subscriber_id = edge.application.links.read_unsubscribe(token)
    reader, letters = unsubscribe(edge.application.sessions, subscriber_id, edge.clock())
    after = edge.after(letters)
    if fields.text("List-Unsubscribe") == ONE_CLICK:
        return PlainTextResponse("Unsubscribed. 已退订。\n", headers=PRIVATE, background=after)
    answer = leaving_page(edge, reader, asked or (reader.language if reader else language), "left")
    answer.background = after
    return answer


@router.post("/unsubscribe/{token}/undo")
def undo(edge: EdgeOf, asked: AskedLanguage, language: LanguageOf, token: str) -> Response:
    """The reader's own change of mind; a bounce or a complaint is not theirs to undo."""
    subscriber_id = edge.application.links.read_unsubscribe(token)
    reader = come_back(edge.application.sessions, subscriber_id, edge.clock())
    is_back = reader is not None and reader.state in {SubscriberState.ACTIVE, SubscriberState.PAUSED}
    shown_in = asked or (reader.language if reader else language)
    return leaving_page(edge, reader, shown_in, "back" if is_back else "left")


@router.post("/unsubscribe/{token}/why")
def say_why(edge: EdgeOf, asked: AskedLanguage, language: LanguageOf, token: str, fields: Posted) -> Response:
    """Why the reader left: one of :data:`WHY`."""
    subscriber_id = edge.application.links.read_unsubscribe(token)
    why = fields.text("why") or ""
    if why not in set(LeaveReason):
        raise HTTPException(422)
    reader = tell_why(edge.application.sessions, subscriber_id, LeaveReason(why), edge.clock())
    stage = "told" if reader is None or reader.state is SubscriberState.ENDED else "back"
    return leaving_page(edge, reader, asked or (reader.language if reader else language), stage)


def leaving_page(edge: Edge, reader: Reader | None, language: Language, stage: str) -> Response:
    """The page at a ``stage``: ``ask``, ``left``, ``told`` why, or ``back``; who is erased has left, too."""
    values: dict[str, object] = {"stage": stage, "reader": reader, "is_private": True, "can_undo": False, "why": WHY}
    if reader:
        bare = edge.application.links.unsubscribe(reader.id).removeprefix(edge.application.links.base_url)
        values |= {
            "switch_path": bare,
            "action": unsubscribe_path(edge, reader.id, language),
            "undo_action": unsubscribe_path(edge, reader.id, language, "/undo"),
            "preferences": preferences_path(edge, reader.id, language),
            "next_brief": next_brief(reader, language, edge.clock()),
            "why_action": unsubscribe_path(edge, reader.id, language, "/why"),
            "can_undo": reader.reason is EndReason.UNSUBSCRIBED,
        }
    return edge.pages.answer("unsubscribe", language, values, headers=PRIVATE)
