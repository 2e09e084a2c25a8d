"""What is done once a minute to look after the service."""

from datetime import datetime, timedelta

from digest.bootstrap import Application
from digest.health.examine import examine, look_here
from digest.health.findings import Finding
from digest.health.kept import keep_findings, kept_findings
from digest.health.machine import tzdata_release
from digest.health.operator import alarm, report_morning, show_life
from digest.steps.count_mornings import count_mornings
from digest.store.turns import take_mark

WATCHED, EXAMINING = "watched", "examining"
EVERY, EXAMINE_EVERY = timedelta(seconds=50), timedelta(minutes=10)


def watch(app: Application, now: datetime) -> list[Finding]:
    """Count the mornings, examine, raise alarms, report a morning that is over; returns what was found.

    The world outside is asked every ten minutes, the rest at each call. Of several workers one does it; the others
    return nothing at once.
    """
    with app.sessions.begin() as session:
        if not take_mark(session, WATCHED, now, EVERY):
            return []
        asks_outside = take_mark(session, EXAMINING, now, EXAMINE_EVERY)
    count_mornings(app.sessions, app.settings.policy, now)
    found = _examined(app, now, asks_outside=asks_outside)
    report_morning(app, now)
    show_life(app, now)
    return found


def _examined(app: Application, now: datetime, *, asks_outside: bool) -> list[Finding]:
    found = examine(app, now) if asks_outside else look_here(app, now)
    with app.sessions.begin() as session:
        before = {one.check: one for one in kept_findings(session).findings}
        checks = {one.check for one in found}
        found += [] if asks_outside else [one for one in before.values() if one.check not in checks]
        keep_findings(session, found, tzdata_release(), now)
    alarm(app, [one for one in found if one.stops and not (one.check in before and before[one.check].stops)], now)
    return found
