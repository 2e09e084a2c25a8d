"""How this morning went, at a glance: what is wrong, how far the day has gone round the world, what is to come."""

from datetime import datetime, timedelta

from fastapi import APIRouter
from sqlalchemy.orm import Session
from starlette.responses import Response

from digest.domain.schedule import is_known_zone
from digest.health.examine import look_here
from digest.health.findings import Finding, problems
from digest.health.kept import kept_findings
from digest.steps.count_mornings import READERS_BY_CADENCE
from digest.store.cadences import all_cadences
from digest.store.figures import mornings_between
from digest.store.sending import PAUSED
from digest.store.tables import Switch
from digest.store.tallies import tallies_of
from digest.web.admin.day import DAY, Ahead, coming, waves_of, whole_of
from digest.web.admin.desk import PATH, Desk, Viewer
from digest.web.admin.plots import HOURS_HIGH, HOURS_WIDE, clock_bars, clock_labels, clock_ticks, hour_columns
from digest.web.methods import READ
from digest.web.zones import city_name

router = APIRouter(include_in_schema=False)


@router.api_route(PATH, methods=READ)
def show_today(desk: Viewer) -> Response:
    """The first page; without a database only what is wrong with it."""
    found = look_here(desk.edge.application, desk.now)
    if found[0].stops:
        return desk.page("down", {"findings": problems(found)}, status=503)
    with desk.edge.application.sessions() as session:
        return desk.page("today", _values(desk, session, found))


def _values(desk: Desk, session: Session, found: list[Finding]) -> dict[str, object]:
    kept = kept_findings(session)
    checks = {one.check for one in found}
    lead = desk.edge.application.settings.policy.lead + timedelta(seconds=1)
    mornings = mornings_between(session, desk.now - DAY, desk.now + lead)
    waves, ahead = waves_of(mornings), _coming(session, desk.now)
    columns, most = hour_columns(waves, desk.now)

    def place(zone: str) -> str:
        return city_name(zone, desk.language) if is_known_zone(zone) else zone

    return {
        "findings": problems([*found, *(one for one in kept.findings if one.check not in checks)]),
        "examined_at": kept.at,
        "paused": session.get(Switch, PAUSED),
        "whole": whole_of(each for each in mornings if each.send_at <= desk.now),
        "waves": waves,
        "counted_at": min((wave.counted_at for wave in waves[:3]), default=None),
        "place": place,
        "ahead": ahead,
        "bars": clock_bars(ahead.slots),
        "labels": clock_labels(ahead.slots),
        "ticks": clock_ticks(ahead.slots),
        "columns": columns,
        "most": most,
        "size": (HOURS_WIDE, HOURS_HIGH),
    }


def _coming(session: Session, now: datetime) -> Ahead:
    readers = tallies_of(session, READERS_BY_CADENCE)
    return coming([(row.cadence, readers.get(str(row.id), 0)) for row in all_cadences(session)], now)
