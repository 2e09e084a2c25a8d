"""``digest subscribers``: the list in and out."""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, TextIO

import typer
from sqlalchemy.orm import Session

from digest.cli.context import application, instant_text, read_file, utc_now
from digest.cli.output import AsJson, print_json, print_table, say, warn
from digest.domain.errors import BadInputError, PermanentError
from digest.domain.schedule import is_known_zone, weekdays_text
from digest.steps.erase_subscribers import erase_subscriber
from digest.steps.import_subscribers import COLUMNS, Defaults, import_subscribers
from digest.steps.manage_subscriptions import unsubscribe_address
from digest.steps.read_subscribers import reader_of
from digest.steps.readmit import readmit
from digest.store.ledger import Entry, entries
from digest.store.subscribers import confirmed_consent, count_by_leave_reason, count_by_state, everyone, find
from digest.store.tables import Consent, Subscriber

subscribers = typer.Typer(help="The list: import, export, show, leave, return, erase, stats.", no_args_is_help=True)
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet run a cell."""


@subscribers.command("import")
def import_file(file: Path, as_json: AsJson = False) -> None:
    """Import a CSV file; only the column email is needed. Known readers are left as they are."""
    rows = _rows(read_file(file), file)
    with application() as app:
        defaults = Defaults(app.settings.default_language, app.settings.default_timezone)
        result = import_subscribers(app.sessions, rows, defaults, app.address_hashes, utc_now())
    report = {
        "imported": result.new,
        "known": result.known,
        "duplicates": result.repeated,
        "suppressed": result.suppressed,
        "by_status": dict(result.by_status),
        "errors": [{"row": number, "error": error} for number, error in result.refused],
    }
    if as_json:
        print_json(report)
    else:
        known = f"{result.known} known already, {result.repeated} repeated, {result.suppressed} barred"
        say(f"{result.new} imported, {known}.")
        for number, error in result.refused:
            warn(f"digest: row {number}: {error}")
    if result.refused and not result.new and not result.known:
        raise typer.Exit(2)


def _rows(content: bytes, file: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInputError("file", file, "is not UTF-8: save it as CSV UTF-8.") from error
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        heading = [name.strip().lower() for name in next(reader, [])]
    except csv.Error as error:
        raise BadInputError("file", file, f"can't be read as CSV: {error}.") from error
    if "email" not in heading:
        raise BadInputError(
            "file", file, f"has no column email: its first line must name columns of {', '.join(COLUMNS)}."
        )
    return _cells(reader, heading)


def _lines(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """The rows; one that can't be read is passed on as an address that no one has, to be reported with its number."""
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield [f"({error})"]


def _cells(reader: Iterator[list[str]], heading: list[str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    for number, row in enumerate(_lines(reader), 2):
        if any(cell.strip() for cell in row):
            yield number, dict(zip(heading, (cell.removeprefix("'") for cell in row), strict=False))


@subscribers.command("export")
def export(file: Annotated[Path | None, typer.Argument(help="Default: standard output.")] = None) -> None:
    """Export the list as CSV that imports again and is safe to open in a spreadsheet."""
    with application() as app, app.sessions() as session:
        target = file.open("w", encoding="utf-8-sig", newline="") if file else typer.get_text_stream("stdout")
        try:
            number = _write(target, (_export_row(one, confirmed_consent(session, one.id)) for one in everyone(session)))
        finally:
            if file:
                target.close()
    warn(f"{number} subscribers exported.")


def _write(target: TextIO, rows: Iterator[list[str]]) -> int:
    writer = csv.writer(target)
    writer.writerow(COLUMNS)
    number = 0
    for row in rows:
        writer.writerow([f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell for cell in row])
        number += 1
    return number


def _export_row(one: Subscriber, consent: Consent | None) -> list[str]:
    cadence = one.cadence_row.cadence
    source = consent.source if consent else "import" if one.state in {"active", "paused"} else ""
    return [
        one.email,
        one.languages.value,
        cadence.timezone,
        f"{cadence.at:%H:%M}",
        weekdays_text(cadence.weekdays),
        one.topics,
        one.state.value,
        source,
    ]


@subscribers.command("show")
def show(email: str, as_json: AsJson = False) -> None:
    """Show one subscriber: state, settings, consent, next send, every delivery."""
    with application() as app, app.sessions() as session:
        subscriber = find(session, email)
        if subscriber is None:
            raise PermanentError(f"there is no subscriber {email}")
        record = _record(session, subscriber)
        consent = _consent_row(confirmed_consent(session, subscriber.id))
        deliveries = [_delivery_row(entry) for entry in entries(session, email=email)]
    if as_json:
        print_json(record | {"consent": consent, "deliveries": deliveries})
        return
    print_table(("", ""), [*record.items(), *(consent or {}).items()])
    columns = ("date", "status", "reason", "sent_at")
    print_table(columns, [[row[name] for name in columns] for row in deliveries])


def _delivery_row(entry: Entry) -> dict[str, object]:
    return {
        "date": entry.on.isoformat(),
        "status": entry.status,
        "reason": entry.reason,
        "batch": entry.batch,
        "brief": entry.brief,
        "sent_at": instant_text(entry.sent_at) if entry.sent_at else None,
    }


def _consent_row(consent: Consent | None) -> dict[str, object] | None:
    if consent is None:
        return None
    return {
        "source": consent.source,
        "wording": consent.wording,
        "requested_at": instant_text(consent.requested_at),
        "confirmed_at": instant_text(consent.confirmed_at) if consent.confirmed_at else None,
    }


def _record(session: Session, subscriber: Subscriber) -> dict[str, object]:
    reader = reader_of(session, subscriber, utc_now())
    known = is_known_zone(reader.cadence.timezone)
    return {
        "email": subscriber.email,
        "status": reader.state.value,
        "reason": reader.reason.value if reader.reason else None if known else "unknown_zone",
        "language": reader.language.value,
        "languages": reader.languages.value,
        "timezone": reader.cadence.timezone,
        "time": f"{reader.cadence.at:%H:%M}",
        "weekdays": weekdays_text(reader.cadence.weekdays),
        "topics": list(reader.topics),
        "paused_until": reader.paused_until_on.isoformat() if reader.paused_until_on else None,
        "next_send": instant_text(reader.next_send.at) if reader.next_send else None,
    }


@subscribers.command("unsubscribe")
def unsubscribe(email: str, as_json: AsJson = False) -> None:
    """End a subscription on the reader's request, however they spelled the address."""
    with application() as app:
        reader = unsubscribe_address(app.sessions, email, utc_now())
    if reader is None:
        raise PermanentError(f"there is no subscriber {email}")
    if as_json:
        print_json({"status": reader.state, "reason": reader.reason})
    else:
        say(f"{reader.state}: {reader.reason}")


@subscribers.command("readmit")
def readmit_address(
    email: str,
    because: Annotated[str, typer.Option(help="Why, in a few words; kept with the reader's events.")],
    as_json: AsJson = False,
) -> None:
    """Lift the bar on an address after a bounce, complaint or erasure; its owner still has to sign up and confirm."""
    if not because.strip():
        raise BadInputError("because", because, "must say why, in a few words.")
    with application() as app:
        reason = readmit(app.sessions, email, app.address_hashes(email), because, utc_now())
    if reason is None:
        raise PermanentError(f"nothing bars {email}")
    if as_json:
        print_json({"barred": False, "was": reason})
    else:
        say(f"Readmitted; it was barred as {reason}. They can sign up and confirm again.")


@subscribers.command("erase")
def erase(email: str, as_json: AsJson = False) -> None:
    """Erase everything about an address; a keyed hash keeps it from being written to again."""
    with application() as app:
        known = erase_subscriber(app.sessions, email, app.address_hashes(email)[0], utc_now())
    if not known:
        raise PermanentError(f"there is no subscriber {email}; the address is barred all the same")
    if as_json:
        print_json({"erased": True})
    else:
        say("Erased.")


@subscribers.command("stats")
def stats(as_json: AsJson = False) -> None:
    """Count subscribers by state, and those who left by what they said about it."""
    with application() as app, app.sessions() as session:
        counts, said = count_by_state(session), count_by_leave_reason(session)
    if as_json:
        print_json(counts | ({"left_because": said} if said else {}))
    else:
        print_table(("state", "subscribers"), sorted(counts.items()))
        if said:
            print_table(("left because", "subscribers"), sorted(said.items()))
