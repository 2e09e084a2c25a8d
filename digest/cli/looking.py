"""``digest report`` and ``digest watch``: how a morning went, and a look after the service."""

from typing import Annotated

import typer

from digest.cli.context import application, read_date, utc_now
from digest.cli.output import AsJson, print_json, print_table
from digest.health.findings import as_rows, problems
from digest.health.reports import Report, report_of
from digest.health.watch import watch as look_after


def report(
    on: Annotated[str, typer.Option("--date", help="Local date; default today, UTC.")] = "", as_json: AsJson = False
) -> None:
    """How a morning went around the world, as it was counted last; exit 1 when it needs a look."""
    date = read_date(on, "date") if on else utc_now().date()
    with application() as app, app.sessions() as session:
        found = report_of(session, date)
    if as_json:
        print_json(_row(found))
    else:
        print_table(("zone", "due", "sent", "waiting", "unknown", "skipped", "came back"), _zones(found))
    if found.flaws:
        raise typer.Exit(1)


def _row(found: Report) -> dict[str, object]:
    return {
        "date": found.on.isoformat(),
        "good": found.is_good,
        "flaws": list(found.flaws),
        "total": found.total.as_json(),
        "zones": {zone: count.as_json() for zone, count in sorted(found.zones.items())},
    }


def _zones(found: Report) -> list[tuple[object, ...]]:
    counts = [*sorted(found.zones.items()), ("all", found.total)]
    return [
        (zone, one.due, one.of("sent"), one.waiting, one.of("unknown"), one.of("skipped"), one.bounced)
        for zone, one in counts
    ]


def watch(as_json: AsJson = False) -> None:
    """Count the mornings, examine the service, raise alarms, report: what workers do each minute; for cron.

    Does nothing when somebody did it within the minute; exit 1 when something would stop a brief.
    """
    with application() as app:
        found = look_after(app, utc_now())
    if as_json:
        print_json(as_rows(found))
    else:
        print_table(("", "check", ""), [(one.state.value, one.check, one.words) for one in problems(found)])
    if any(one.stops for one in found):
        raise typer.Exit(1)
