"""``digest subscribers import``, ``export`` and ``data``: the list as files."""

import csv
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from digest.bootstrap import Application
from digest.cli.context import application, utc_now
from digest.cli.output import AsJson, print_json, say, warn
from digest.cli.progress import progress
from digest.domain.errors import BadInputError, PermanentError
from digest.domain.imported import MOST_TOLD, Imported
from digest.lists.cells import guard
from digest.lists.report import report_file
from digest.lists.rows import rows_of
from digest.lists.systems import System, system_of
from digest.lists.table import ListFile, open_list
from digest.steps.check_address import as_stored
from digest.steps.export_list import HEADING, list_rows
from digest.steps.export_subscriber import export_address
from digest.steps.import_subscribers import Defaults, Plan, import_subscribers
from digest.store.exporting import how_many

Email = Annotated[str, typer.Argument(parser=as_stored, metavar="EMAIL", help="The address, in any spelling.")]
SEPARATOR_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
MOST_SHOWN = 20
MARKED = "utf-8-sig"
"""By the byte order mark spreadsheets tell that a file is UTF-8."""
EVERY = 1000
"""Rows of an export between two looks at the clock."""


def import_file(
    file: Path,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Look and count; change nothing.")] = False,
    update: Annotated[
        bool, typer.Option("--update", help="Change known readers to what the file says; revives nobody.")
    ] = False,
    consent_source: Annotated[
        str, typer.Option(help="Where the readers of this list agreed, for rows that don't say so.")
    ] = "",
    report: Annotated[Path | None, typer.Option(help="Write what became of each row to this CSV file.")] = None,
    column: Annotated[
        list[str] | None, typer.Option(help="A column by the file's heading: 'email=Kontakt'; once for each.")
    ] = None,
    encoding: Annotated[str, typer.Option(help="Character set, where it is guessed wrong: gbk, big5, cp1252, …")] = "",
    as_json: AsJson = False,
) -> None:
    """Import a list: a CSV of any usual form, or an export of listmonk, Mailchimp or Buttondown.

    Only a column of addresses is needed. Known readers are left as they are; who left or was erased is not revived.
    """
    listed = open_list(file, dict(map(_pair, column or [])), encoding)
    system = system_of(file, listed.heading)
    with application() as app:
        imported = _import(app, listed, system, consent_source.strip(), report, dry_run=dry_run, update=update)
    if as_json:
        print_json(_document(imported, listed, system, dry_run=dry_run))
    else:
        _say(imported, dry_run=dry_run)
        say(_understood(listed, system))
        _warn(imported)
    if imported.refused_rows and not imported.new and not imported.known:
        raise typer.Exit(2)


def _pair(text: str) -> tuple[str, str]:
    ours, is_pair, theirs = text.partition("=")
    if not is_pair or not theirs.strip():
        raise BadInputError("column", text, "must be our name and the file's heading: email=Kontakt.")
    return ours.strip().lower(), theirs.strip()


def _import(
    app: Application,
    listed: ListFile,
    system: System | None,
    consent_source: str,
    report: Path | None,
    *,
    dry_run: bool,
    update: bool,
) -> Imported:
    settings = app.settings
    defaults = Defaults(settings.default_language, settings.default_timezone, consent_source)
    reading, done = listed.reading, 0
    with report_file(report) as tell, progress("Importing") as told:

        def advance(rows: int) -> None:
            nonlocal done
            done += rows
            told(reading.done / (reading.size or 1), done)

        plan = Plan(is_rehearsal=dry_run, updates=update, tell=tell, advance=advance)
        return import_subscribers(app.sessions, rows_of(listed, system), defaults, app.address_hashes, utc_now(), plan)


def _understood(listed: ListFile, system: System | None) -> str:
    """How the file was read, so that a wrong guess shows at once."""
    how = f"Read as {listed.charset}, parted by {SEPARATOR_NAMES.get(listed.separator, listed.separator)}"
    if system:
        return f"{how}: an export of {system.name}."
    pairs = list(zip(listed.heading, listed.columns, strict=True))
    taken = ", ".join(f"“{theirs}” is {ours}" for theirs, ours in pairs if ours)
    left = ", ".join(f"“{theirs}”" for theirs, ours in pairs if not ours and theirs)
    return f"{how}: {taken}{f'; passed over: {left}' if left else ''}."


def _document(imported: Imported, listed: ListFile, system: System | None, *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "imported": imported.new,
        "known": imported.known,
        "updated": imported.updated,
        "skipped": dict(imported.skipped),
        "duplicates": imported.repeated,
        "suppressed": imported.suppressed,
        "barred": imported.barred,
        "refused": imported.refused_rows,
        "letters": imported.letters,
        "by_status": dict(imported.by_status),
        "errors": [{"row": number, "error": error} for number, error in imported.refused],
        "duplicate_rows": imported.duplicates,
        "skipped_rows": [{"row": number, "reason": reason} for number, reason in sorted(imported.passed_over)],
        "encoding": listed.charset,
        "separator": listed.separator,
        "system": system.name if system else None,
        "columns": {ours: theirs for theirs, ours in zip(listed.heading, listed.columns, strict=True) if ours},
    }


def _say(imported: Imported, *, dry_run: bool) -> None:
    counts = [
        f"{imported.new} {'would be imported' if dry_run else 'imported'}",
        f"{imported.known} known already",
        *([f"{imported.updated} of them {'to be ' if dry_run else ''}updated"] if imported.updated else []),
        *(f"{number} left as they are: {reason}" for reason, number in sorted(imported.skipped.items())),
        f"{imported.repeated} repeated",
        f"{imported.suppressed} barred",
        f"{imported.refused_rows} refused",
    ]
    say(f"{', '.join(counts)}.")
    if imported.letters:
        say(f"{imported.letters} {'would be' if dry_run else 'are'} asked by e-mail to confirm.")


def _warn(imported: Imported) -> None:
    for number in imported.duplicates[:MOST_SHOWN]:
        warn(f"digest: row {number}: repeats the address of an earlier row")
    for number, error in imported.refused:
        warn(f"digest: row {number}: {error}")
    if imported.refused_rows > MOST_TOLD:
        warn(f"digest: and {imported.refused_rows - MOST_TOLD} rows more; --report FILE names every one")


def export_file(file: Annotated[Path | None, typer.Argument(help="Default: standard output.")] = None) -> None:
    """Export the list as CSV that imports again unchanged and is safe to open in a spreadsheet."""
    with application() as app, app.sessions() as session:
        number = how_many(session)
        with _target(file, MARKED) as target, progress("Exporting") as told:
            for at, _ in enumerate(_written(target, list_rows(session)), 1):
                if not at % EVERY:
                    told(min(1.0, at / (number or 1)), at)
    warn(f"{number} subscribers exported.")


@contextmanager
def _target(file: Path | None, encoding: str) -> Iterator[TextIO]:
    """Standard output, or a file that only its owner may read and that is there whole or not at all."""
    if file is None:
        yield typer.get_text_stream("stdout")
        return
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    with ExitStack() as stack:
        stack.callback(part.unlink, missing_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding=encoding, newline="") as target:
            yield target
        part.replace(file)


def _written(target: TextIO, rows: Iterable[tuple[str, ...]]) -> Iterator[None]:
    writer = csv.writer(target)
    writer.writerow(HEADING)
    for row in rows:
        writer.writerow(map(guard, row))
        yield


def data(email: Email, file: Annotated[Path | None, typer.Argument(help="Default: standard output.")] = None) -> None:
    """Everything kept about one address, as a JSON document to give to its owner (GDPR articles 15 and 20)."""
    with application() as app:
        found = export_address(app.sessions, email, app.address_hashes(email))
    if found is None:
        raise PermanentError(f"nothing is kept about {email}")
    with _target(file, "utf-8") as target:
        json.dump(found, target, ensure_ascii=False, indent=2)
        target.write("\n")
