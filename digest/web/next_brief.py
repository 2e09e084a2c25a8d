"""When the first brief would come, for a form that is being filled in: the page's script and other sites ask."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse, Response

from digest.domain.schedule import next_send
from digest.web.edge import EdgeOf
from digest.web.fields import Fields
from digest.web.language import LanguageOf
from digest.web.phrases import marked, moment, rhythm
from digest.web.problems import problem_document, problems
from digest.web.sign_up import usual_wishes
from digest.web.wishes import Faults, read_wanted
from digest.web.zones import zone_label

SIGNING_UP = marked("Signing up")
ZONE = marked("IANA name or city, such as Asia/Shanghai; the site’s own when left out")
TIME = marked("Local time of day, HH:MM")
WEEKDAYS = marked("mon, tue, …; every day when left out")
NEXT_BRIEF = marked("When the next brief would come, in words")
TOLD = {
    "type": "object",
    "required": ["timezone", "label", "date", "utc", "next_brief", "rhythm"],
    "properties": {
        "timezone": {"type": "string"},
        "label": {"type": "string", "description": marked("What people call the time zone")},
        "date": {"type": "string", "format": "date", "description": marked("The local date of the next brief")},
        "utc": {"type": "string", "format": "date-time", "description": marked("The instant of the next brief")},
        "next_brief": {"type": "string", "description": NEXT_BRIEF},
        "rhythm": {"type": "string", "description": marked("How often briefs would come, in words")},
    },
}

router = APIRouter(tags=[SIGNING_UP])


@router.head("/api/v1/next-brief", include_in_schema=False)
@router.get(
    "/api/v1/next-brief",
    summary=marked("When the next brief would come"),
    description=marked("For a form that is being filled in: the next morning of a time zone, time and weekdays."),
    response_description=marked("The next morning"),
    openapi_extra={"responses": {"200": {"content": {"application/json": {"schema": TOLD}}}}},
    responses=problems(422),
)
def next_brief_of(
    edge: EdgeOf,
    language: LanguageOf,
    timezone: Annotated[str, Query(description=ZONE, examples=["Asia/Shanghai"])] = "",
    time: Annotated[str, Query(description=TIME, examples=["08:00"])] = "08:00",
    weekdays: Annotated[list[str] | None, Query(description=WEEKDAYS)] = None,
) -> Response:
    """The next morning of a time zone, time and weekdays, in words and as instants. 422 with a problem document (RFC
    9457) for values that can't be used.
    """
    given = {"timezone": [timezone] if timezone else [], "time": [time], "weekdays": weekdays or []}
    faults = Faults()
    fields = Fields({name: values for name, values in given.items() if values})
    faults.keep(fields.check_controls, None)
    wanted = read_wanted(fields, usual_wishes(edge.application.settings, language), frozenset, faults)
    if faults.errors:
        return problem_document(list(faults.errors.values()))
    send = next_send(wanted.cadence, edge.clock())
    document = {
        "timezone": wanted.cadence.timezone,
        "label": zone_label(wanted.cadence.timezone, language),
        "date": send.on.isoformat(),
        "utc": send.at.isoformat().replace("+00:00", "Z"),
        "next_brief": moment(send, wanted.cadence, language),
        "rhythm": rhythm(wanted.cadence, language),
    }
    return JSONResponse(document, headers={"Cache-Control": "no-store", "Content-Language": language.tag})
