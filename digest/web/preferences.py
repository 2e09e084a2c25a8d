"""A reader's settings. The token in the address is the authority: no account, no password, no cookie."""

from collections.abc import Callable
from datetime import date, timedelta

from fastapi import APIRouter, HTTPException
from starlette.responses import Response

from digest.domain.address import masked
from digest.domain.errors import BadInputError
from digest.domain.language import Language, language_choice
from digest.domain.schedule import local_today
from digest.domain.subscriber import SubscriberState, topics_key
from digest.rendering.topics import TOPICS
from digest.steps.manage_subscriptions import change_wishes, pause, resume, unsubscribe
from digest.steps.read_subscribers import Reader, find_reader
from digest.web.edge import Edge, EdgeOf
from digest.web.fields import Fields, Posted
from digest.web.language import AskedLanguage, other
from digest.web.methods import READ
from digest.web.pages import PRIVATE
from digest.web.phrases import rhythm
from digest.web.readers import next_brief, preferences_path, unsubscribe_path
from digest.web.sign_up import FormView, form_again, form_choices, form_of
from digest.web.topics import known_topics
from digest.web.unsubscribe import leaving_page
from digest.web.wishes import Faults, Wanted, read_wanted

LONGEST_PAUSE = timedelta(days=366)
DAY = timedelta(days=1)
PAUSES = (timedelta(days=7), timedelta(days=28))
"""What one press pauses for, counted from the next brief."""
CHANGEABLE = frozenset({SubscriberState.ACTIVE, SubscriberState.PAUSED})

router = APIRouter(include_in_schema=False)
Act = Callable[[Edge, Reader, Fields, Faults], Reader | None]


@router.api_route("/preferences/{token}", methods=READ)
def show_preferences(edge: EdgeOf, asked: AskedLanguage, token: str) -> Response:
    """The settings as they stand."""
    reader = reader_behind(edge, token)
    return settings_page(edge, reader, asked or reader.language, form_of(wishes_of(reader)))


@router.post("/preferences/{token}")
def change_preferences(edge: EdgeOf, asked: AskedLanguage, token: str, fields: Posted) -> Response:
    """Do what the pressed button says; without one, keep what was sent and leave the rest as it is."""
    reader = reader_behind(edge, token)
    if reader.state not in CHANGEABLE:
        return settings_page(edge, reader, asked or reader.language, form_of(wishes_of(reader)))
    faults, action = Faults(), fields.text("action") or ""
    if action == "unsubscribe":
        return _leave(edge, reader, asked)
    if action and action not in ACTIONS:
        raise HTTPException(422)
    faults.keep(fields.check_controls, None)
    changed = reader if faults.errors else ACTIONS.get(action, _save)(edge, reader, fields, faults)
    if changed is None:
        raise HTTPException(404)
    if faults.errors:
        shown_in = asked or reader.language
        form = form_again(fields, wishes_of(reader), faults.errors, shown_in)
        return settings_page(edge, reader, shown_in, form, status=422)
    language = changed.language if changed.language is not reader.language else asked or changed.language
    return settings_page(edge, changed, language, form_of(wishes_of(changed)), done=action or "save")


def reader_behind(edge: Edge, token: str) -> Reader:
    """The reader whose settings a link opens; 404 where there is none."""
    subscriber_id = edge.application.links.read_preferences(token)
    reader = find_reader(edge.application.sessions, subscriber_id, edge.clock())
    if reader is None:
        raise HTTPException(404)
    return reader


def wishes_of(reader: Reader) -> Wanted:
    """What the reader gets now."""
    return Wanted(reader.languages, reader.cadence, topics_key(reader.topics))


def _save(edge: Edge, reader: Reader, fields: Fields, faults: Faults) -> Reader | None:
    sessions = edge.application.sessions
    offered = lambda: known_topics(sessions) | set(reader.topics)  # noqa: E731 - asked only where topics were sent
    wanted = read_wanted(fields, wishes_of(reader), offered, faults)
    until_on = faults.keep(lambda: _until(edge, reader, fields), None) if fields.text("pause_until") else None
    if faults.errors:
        return reader
    changed = change_wishes(sessions, reader.id, wanted.languages, wanted.cadence, wanted.topics, edge.clock())
    return pause(sessions, reader.id, until_on, edge.clock()) if until_on else changed


def _pause(edge: Edge, reader: Reader, fields: Fields, faults: Faults) -> Reader | None:
    until_on = faults.keep(lambda: _until(edge, reader, fields), None)
    return pause(edge.application.sessions, reader.id, until_on, edge.clock()) if until_on else reader


def _until(edge: Edge, reader: Reader, fields: Fields) -> date:
    text = (fields.text("pause_until") or "").strip()
    today = local_today(reader.cadence.timezone, edge.clock())
    try:
        until_on = date.fromisoformat(text)
    except ValueError as error:
        raise BadInputError("pause_until", text, "is not a date: write YYYY-MM-DD.") from error
    if not today < until_on <= today + LONGEST_PAUSE:
        raise BadInputError("pause_until", text, "must lie after today and within a year.")
    return until_on


def _skip(edge: Edge, reader: Reader, _: Fields, __: Faults) -> Reader | None:
    if reader.next_send is None:
        return reader
    return pause(edge.application.sessions, reader.id, reader.next_send.on + DAY, edge.clock())


def _resume(edge: Edge, reader: Reader, _: Fields, __: Faults) -> Reader | None:
    return resume(edge.application.sessions, reader.id, edge.clock())


ACTIONS: dict[str, Act] = {"save": _save, "pause": _pause, "skip": _skip, "resume": _resume}


def _leave(edge: Edge, reader: Reader, asked: Language | None) -> Response:
    left, letters = unsubscribe(edge.application.sessions, reader.id, edge.clock())
    answer = leaving_page(edge, left, asked or reader.language, "left")
    answer.background = edge.after(letters)
    return answer


def settings_page(
    edge: Edge, reader: Reader, language: Language, form: FormView, *, status: int = 200, done: str = ""
) -> Response:
    """The page of a reader's settings with ``form``; ``done`` names what was just done."""
    if reader.state is SubscriberState.ENDED:
        return leaving_page(edge, reader, language, "left")
    today = local_today(reader.cadence.timezone, edge.clock())
    path = edge.application.links.preferences(reader.id).removeprefix(edge.application.links.base_url)
    values: dict[str, object] = {
        "reader": reader,
        "address": masked(reader.address),
        "form": form,
        "errors": form.errors,
        "done": done,
        "next_brief": next_brief(reader, language, edge.clock()),
        "rhythm": rhythm(reader.cadence, language),
        "switch_to": language_choice(other(reader.language), is_both=reader.languages.is_both),
        "pauses": [(reader.next_send.on if reader.next_send else today) + length for length in PAUSES],
        "tomorrow": today + DAY,
        "latest": today + LONGEST_PAUSE,
        "action": preferences_path(edge, reader.id, language),
        "address_action": preferences_path(edge, reader.id, language, "/address"),
        "export_action": preferences_path(edge, reader.id, language, "/export"),
        "erase": preferences_path(edge, reader.id, language, "/erase"),
        "leave": unsubscribe_path(edge, reader.id, language),
        "switch_path": path,
        "is_private": True,
        **form_choices(language, set(TOPICS) | set(reader.topics)),
    }
    return edge.pages.answer("preferences", language, values, status=status, headers=PRIVATE)
