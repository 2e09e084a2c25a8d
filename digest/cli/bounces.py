"""``digest bounces read``: what came back by mail, from a Maildir, a file or a pipe of the mail server."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from digest.bootstrap import Application, return_path_of
from digest.cli.context import application, read_file, utc_now
from digest.cli.output import AsJson, print_json, say
from digest.domain.errors import BadInputError
from digest.providers.smtp_events import LONGEST_REPORT, parse_report
from digest.steps.record_events import record_events

bounces = typer.Typer(help="Bounces and complaints that come back by mail.", no_args_is_help=True)
STANDARD_INPUT = Path("-")
SEEN = ":2,S"
"""What a Maildir adds to the name of a message that was read."""


@dataclass
class Report:
    """What a run did: messages read and ignored (nothing in them we can believe), events new, known, of
    nobody, and not recorded for a fault.
    """

    read: int = 0
    ignored: int = 0
    new: int = 0
    known: int = 0
    strangers: int = 0
    faults: int = 0
    kinds: Counter[str] = field(default_factory=Counter)


@bounces.callback()
def _group() -> None:
    """Keeps ``read`` a command of its own though it is the only one."""


@bounces.command("read")
def read(
    path: Annotated[Path, typer.Argument(help="A Maildir, a file, or - for one message on standard input.")],
    as_json: AsJson = False,
) -> None:
    """Record delivery reports (RFC 3464) and complaints (RFC 5965). Reading one twice does no harm."""
    report = Report()
    with application() as app:
        for source, done in _messages(path):
            if _record(app, source, utc_now(), report):
                done()
    if as_json:
        print_json(vars(report))
    else:
        say(f"{report.read} read, {report.ignored} ignored; {report.new} new events, {report.known} known already.")
    if report.faults:
        raise typer.Exit(1)


def _record(app: Application, source: bytes, now: datetime, report: Report) -> bool:
    """Record one message; whether all of it was, so that it may be put away."""
    return_path = return_path_of(app.settings, app.links)
    if return_path is None:
        raise BadInputError("DIGEST_BOUNCE_ADDRESS", "", "is missing: without it nothing that comes back is ours.")
    events = parse_report(source, return_path, app.links, now)
    recorded = record_events(app.sessions, events, now, app.settings.soft_bounce_rule)
    report.read += 1
    report.ignored += not events
    report.new += recorded.new
    report.known += recorded.known
    report.strangers += recorded.strangers
    report.faults += len(recorded.faults)
    report.kinds.update(event.kind.value for event in events)
    return not recorded.faults


def _messages(path: Path) -> Iterator[tuple[bytes, Callable[[], None]]]:
    """Each message, and what to do once it is recorded: a killed run reads it again, which does no harm."""
    if path == STANDARD_INPUT:
        yield typer.get_binary_stream("stdin").read(LONGEST_REPORT), _leave
    elif (path / "new").is_dir():
        (path / "cur").mkdir(exist_ok=True)
        for message in sorted((path / "new").iterdir()):
            if message.is_file():
                yield _start_of(message), partial(_move_to_cur, message)
    elif path.is_dir():
        raise BadInputError("path", path, "is a folder but no Maildir: it has no folder new.")
    else:
        yield read_file(path), _leave


def _start_of(message: Path) -> bytes:
    with message.open("rb") as file:
        return file.read(LONGEST_REPORT)


def _leave() -> None:
    """There is nothing to put away."""


def _move_to_cur(message: Path) -> None:
    name = message.name if ":2," in message.name else message.name + SEEN
    message.rename(message.parent.parent / "cur" / name)
