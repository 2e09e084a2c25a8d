"""``digest schedule``: the next sends of a reader or of a zone."""

from itertools import islice
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from digest.cli.context import application, instant_text, read_instant
from digest.cli.output import AsJson, print_json, print_table
from digest.domain.errors import BadInputError, PermanentError
from digest.domain.schedule import Cadence, parse_time, parse_timezone, parse_weekdays, sends_from
from digest.domain.subscriber import SubscriberState
from digest.steps.read_subscribers import find_by_address

MOST = 1000


def schedule(
    email: Annotated[str | None, typer.Argument(help="A subscriber's address.")] = None,
    timezone: Annotated[str | None, typer.Option(help="An IANA zone, such as Asia/Shanghai.")] = None,
    time: Annotated[str, typer.Option(help="Local time, HH:MM.")] = "08:00",
    weekdays: Annotated[str, typer.Option(help="mon,tue,…; empty for every day.")] = "",
    start: Annotated[str | None, typer.Option("--from", help="ISO 8601 instant; default now.")] = None,
    count: Annotated[int, typer.Option(min=1, max=MOST)] = 5,
    as_json: AsJson = False,
) -> None:
    """Print the next sends, in local time and UTC."""
    if (email is None) == (timezone is None):
        raise BadInputError("schedule", email or "", "needs an address or --timezone, one of the two.")
    cadence = (
        _cadence_of(email)
        if email
        else Cadence(parse_timezone(timezone or ""), parse_time(time), parse_weekdays(weekdays))
    )
    zone = ZoneInfo(parse_timezone(cadence.timezone))
    rows = [
        {
            "date": send.on.isoformat(),
            "local": send.at.astimezone(zone).isoformat(),
            "utc": instant_text(send.at),
        }
        for send in islice(sends_from(cadence, read_instant(start, "from")), count)
    ]
    if as_json:
        print_json(rows)
    else:
        print_table(("date", "local", "utc"), [tuple(row.values()) for row in rows])


def _cadence_of(email: str) -> Cadence:
    with application() as app:
        reader = find_by_address(app.sessions, email, read_instant(None, "from"))
    if reader is None:
        raise PermanentError(f"there is no subscriber {email}")
    if reader.state is SubscriberState.ENDED:
        raise PermanentError(f"{email} has ended ({reader.reason}): no brief is due")
    return reader.cadence
