"""Whether the process lives, and whether it can do its work."""

from fastapi import APIRouter, Request
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import JSONResponse, Response

from digest.health.examine import look_here
from digest.health.findings import Finding, as_rows, problems
from digest.health.kept import kept_findings
from digest.store.database import Sessions
from digest.web.edge import EdgeOf
from digest.web.methods import READ
from digest.web.metrics import may_look

FRESH = {"Cache-Control": "no-store"}
NEEDED = ("database", "broker", "scheduler")
"""Without these nothing leaves; what else is wrong a restart or another machine would not mend."""

router = APIRouter(include_in_schema=False)


@router.api_route("/healthz", methods=READ)
async def alive() -> Response:
    """The process answers."""
    # A plain function would wait for a thread, and whoever watches would take a crowd, or a slow database, for death.
    return JSONResponse({"status": "ok"}, headers=FRESH)


@router.api_route("/readyz", methods=READ)
def ready(request: Request, edge: EdgeOf) -> Response:
    """200 when database, broker and scheduler are as they should be, else 503; either way each with a word.

    Whoever may read the metrics gets ``problems`` too: everything that is not well, with what to do about it.
    """
    found = look_here(edge.application, edge.clock())
    words = {name: _word(found, name) for name in NEEDED}
    is_ready = all(word == "ok" for word in words.values())
    document: dict[str, object] = {"status": "ok" if is_ready else "not ready", **words}
    if may_look(request) and (wrong := problems(_with_kept(edge.application.sessions, found))):
        document["problems"] = as_rows(wrong)
    return JSONResponse(document, 200 if is_ready else 503, FRESH)


def _word(found: list[Finding], name: str) -> str:
    """``ok``, or what is wrong in a word or two, fit for strangers."""
    finding = next((one for one in found if one.check == name), None)
    if finding is None:
        return "unknown"
    if name == "scheduler":
        return "silent" if finding.state != "ok" else "ok"
    if not finding.stops:
        return "ok"
    if name == "broker":
        return str(finding.said.values.get("why", "in trouble"))
    return "not migrated" if "schema" in finding.said.text else "unreachable"


def _with_kept(sessions: Sessions, found: list[Finding]) -> list[Finding]:
    """With what the workers found in the world outside."""
    if found[0].stops:
        return found
    here = {one.check for one in found}
    try:
        with sessions() as session:
            return found + [one for one in kept_findings(session).findings if one.check not in here]
    except SQLAlchemyError:
        return found
