"""Whether the process lives, and whether it can do its work."""

from datetime import datetime, timedelta

from fastapi import APIRouter
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import JSONResponse, Response

from digest.bootstrap import broker_fault
from digest.store.database import Sessions, current_revision, newest_revision
from digest.store.tables import Switch
from digest.store.turns import TICKED
from digest.web.edge import EdgeOf
from digest.web.methods import READ

TICK_WITHIN = timedelta(minutes=2)
"""The scheduler ticks every few seconds; one that was silent for longer is stuck or gone."""
FRESH = {"Cache-Control": "no-store"}

router = APIRouter(include_in_schema=False)


@router.api_route("/healthz", methods=READ)
def alive() -> Response:
    """The process answers."""
    return JSONResponse({"status": "ok"}, headers=FRESH)


@router.api_route("/readyz", methods=READ)
def ready(edge: EdgeOf) -> Response:
    """200 when database, broker and scheduler are as they should be, else 503; either way each with a word."""
    database = database_state(edge.application.engine)
    scheduler = scheduler_state(edge.application.sessions, edge.clock()) if database == "ok" else "unknown"
    broker = broker_fault(edge.application.settings) or "ok"
    checks = {"database": database, "broker": broker, "scheduler": scheduler}
    is_ready = all(word == "ok" for word in checks.values())
    return JSONResponse({"status": "ok" if is_ready else "not ready", **checks}, 200 if is_ready else 503, FRESH)


def database_state(engine: Engine) -> str:
    """``ok``, ``unreachable`` or ``not migrated``."""
    try:
        revision = current_revision(engine)
    except SQLAlchemyError:
        return "unreachable"
    return "ok" if revision == newest_revision() else "not migrated"


def scheduler_state(sessions: Sessions, now: datetime) -> str:
    """``ok``, or ``silent`` when no tick was seen lately."""
    with sessions() as session:
        mark = session.get(Switch, TICKED)
    return "ok" if mark is not None and now - mark.changed_at <= TICK_WITHIN else "silent"
