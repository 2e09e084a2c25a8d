"""Signing up, by form and by JSON. The answer is the same whoever the address belongs to."""

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from digest.domain.errors import BadInputError
from digest.domain.language import LANGUAGE_CHOICES, Language, LanguageChoice
from digest.domain.schedule import next_send, weekdays_text
from digest.domain.subscriber import topics_of
from digest.steps.request_subscriptions import Request as SubscriptionRequest
from digest.steps.request_subscriptions import request_subscription
from digest.web.client import RemoteOf, remote_of
from digest.web.complaints import complaints
from digest.web.edge import Edge, EdgeOf, edge_of
from digest.web.fields import Fields, Posted, PostedJson
from digest.web.front import front_page
from digest.web.language import LanguageOf, asked_language, language_or_none, page_language
from digest.web.next_brief import NEXT_BRIEF, SIGNING_UP, TIME, WEEKDAYS, ZONE
from digest.web.pages import PRIVATE
from digest.web.phrases import marked, moment, rhythm
from digest.web.problems import problem_document, problems
from digest.web.sign_up import EMBED, SOURCE, TRAP, form_again, usual_wishes, was_mended, zone_is_assumed
from digest.web.topics import known_topics
from digest.web.wishes import Faults, Wanted, read_address, read_wanted
from digest.web.wording import wording_of

BODY = {
    "type": "object",
    "required": ["email"],
    "properties": {
        "email": {"type": "string", "format": "email", "description": marked("Who asks for the brief")},
        "language": {
            "type": "string",
            "enum": list(LANGUAGE_CHOICES),
            "description": marked("Language of the brief; both adds each title in the other one"),
        },
        "timezone": {"type": "string", "description": ZONE},
        "time": {"type": "string", "description": TIME, "default": "08:00"},
        "weekdays": {"type": "array", "items": {"type": "string"}, "description": WEEKDAYS},
        "topics": {
            "type": "array",
            "items": {"type": "string"},
            "description": marked("Names of topics such as chips, or -chips for none of it; all when left out"),
        },
        "source": {"type": "string", "description": marked("embed where the form stands on another site")},
        "email_checked": {
            "type": "string",
            "description": marked("The address again, where it was refused as a likely slip and is right"),
        },
        "challenge": {
            "type": "string",
            "description": marked("The response of the widget, where the site asks for proof of a person"),
        },
    },
    "example": {"email": "reader@example.com", "language": "zh", "timezone": "Asia/Shanghai"},
}
TOLD = {
    "type": "object",
    "required": ["status", "email", "language", "timezone", "timezone_assumed", "time", "weekdays", "topics"],
    "properties": {
        "status": {"type": "string"},
        "email": {"type": "string", "description": marked("The address as we read it")},
        "language": {"type": "string", "enum": list(LanguageChoice)},
        "timezone": {"type": "string"},
        "timezone_assumed": {"type": "boolean", "description": marked("Whether nobody named the time zone")},
        "time": {"type": "string"},
        "weekdays": {"type": "array", "items": {"type": "string"}},
        "topics": {"type": "array", "items": {"type": "string"}},
        "next_brief": {"type": "string", "description": NEXT_BRIEF},
    },
}
SCHEMA = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": BODY}}},
    "responses": {"202": {"content": {"application/json": {"schema": TOLD}}}},
}

router = APIRouter()


@router.post("/subscribe", include_in_schema=False)
def subscribe(request: Request, fields: Posted) -> Response:
    """Ask by e-mail for confirmation; with faults the form again, and nothing is stored."""
    # A crowd signs up at once, and each dependency would cost as much as a statement.
    edge, remote, faults = edge_of(request), remote_of(request), Faults()
    asked, language = asked_language(request), page_language(request)
    address, wanted = _read(edge, fields, language, faults)
    shown_in = asked or language_or_none(fields.text("language")) or language
    _take_in(edge, fields, address, remote, faults)
    if faults.errors:
        return front_page(edge, shown_in, form_again(fields, wanted, faults.errors, shown_in))
    letters = [] if fields.text(TRAP) else _request(edge, address, wanted, _consent(fields, shown_in), remote)
    values = _answer(edge, address, wanted, shown_in, fields)
    return edge.pages.answer("asked", shown_in, values, headers=PRIVATE, after=edge.after(letters))


@router.post(
    "/api/v1/subscriptions",
    status_code=202,
    openapi_extra=SCHEMA,
    tags=[SIGNING_UP],
    summary=marked("Ask for a subscription"),
    description=marked("The owner of the address confirms by e-mail. The answer is the same whoever it belongs to."),
    response_description=marked("Asked for; a message to confirm is on its way if the address can have one"),
    responses=problems(400, 413, 422, 429, 503),
)
def subscribe_by_json(edge: EdgeOf, language: LanguageOf, fields: PostedJson, remote: RemoteOf) -> Response:
    """Ask for a subscription; its owner confirms by e-mail. 202 whoever the address belongs to, 422 with a problem
    document (RFC 9457) that names every field that can't be used, 429 with Retry-After where it was too much.
    """
    faults = Faults()
    address, wanted = _read(edge, fields, language, faults)
    _take_in(edge, fields, address, remote, faults)
    if faults.errors:
        return problem_document(list(faults.errors.values()), complaints(faults.errors, language))
    source = EMBED if fields.text(SOURCE) == EMBED else "api"
    letters = _request(edge, address, wanted, (source, wording_of(wanted.languages.language)), remote)
    told = {
        "status": "confirmation requested",
        "email": address,
        "language": str(wanted.languages),
        "timezone": wanted.cadence.timezone,
        "timezone_assumed": zone_is_assumed(fields, edge.application.settings),
        "time": f"{wanted.cadence.at:%H:%M}",
        "weekdays": weekdays_text(wanted.cadence.weekdays).split(","),
        "topics": list(topics_of(wanted.topics)),
        "next_brief": moment(next_send(wanted.cadence, edge.clock()), wanted.cadence, wanted.languages.language),
    }
    return JSONResponse(told, 202, {"Cache-Control": "no-store"}, background=edge.after(letters))


def _read(edge: Edge, fields: Fields, language: Language, faults: Faults) -> tuple[str, Wanted]:
    application = edge.application
    faults.keep(fields.check_controls, None)
    address = read_address(fields, faults)
    usual = usual_wishes(application.settings, language)
    return address, read_wanted(fields, usual, lambda: known_topics(application.sessions), faults)


def _take_in(edge: Edge, fields: Fields, address: str, remote: str, faults: Faults) -> None:
    """Count a sign-up that has no fault, and see to it that a person sent it where the site asks for that."""
    if faults.errors:
        return
    edge.admission.admit(remote, address, edge.clock())
    challenge = edge.application.challenge
    if challenge is None:
        return
    response = fields.text(challenge.kind.field) or fields.text("challenge") or ""
    if not challenge.passes(response, remote):
        faults.errors["challenge"] = BadInputError("challenge", "", "is missing or was not solved: solve it again.")


def _consent(fields: Fields, shown_in: Language) -> tuple[str, str]:
    """Where the consent comes from, and which words were read."""
    return (EMBED if fields.text(SOURCE) == EMBED else "form"), wording_of(shown_in)


def _request(edge: Edge, address: str, wanted: Wanted, consent: tuple[str, str], remote: str) -> list[int]:
    application = edge.application
    request = SubscriptionRequest(
        address=address,
        languages=wanted.languages,
        cadence=wanted.cadence,
        topics=wanted.topics,
        source=consent[0],
        wording=consent[1],
        remote=remote,
    )
    return request_subscription(application.sessions, request, application.address_hashes(address), edge.clock())


def _answer(edge: Edge, address: str, wanted: Wanted, shown_in: Language, fields: Fields) -> dict[str, object]:
    settings = edge.application.settings
    return {
        "address": address,
        "is_mended": was_mended(fields),
        "rhythm": rhythm(wanted.cadence, shown_in),
        "next_brief": moment(next_send(wanted.cadence, edge.clock()), wanted.cadence, shown_in),
        "chosen": wanted.languages,
        "zone_is_assumed": zone_is_assumed(fields, settings),
        "confirm_days": settings.confirm_days,
        "outbox": settings.provider == "outbox",
    }
