"""The command line: one Typer app, and one clear line for every failure."""

import os
import sys
from collections.abc import Sequence

import typer
from pydantic import ValidationError
from sqlalchemy.exc import SQLAlchemyError
from typer.exceptions import TyperException

from digest.cli.bench import bench
from digest.cli.bounces import bounces
from digest.cli.briefs import brief
from digest.cli.looking import report, watch
from digest.cli.morning import audit, deliveries, tick
from digest.cli.operate import config, doctor, migrate_database
from digest.cli.schedule import schedule
from digest.cli.simulate import simulate
from digest.cli.sources import sources
from digest.cli.stories import stories
from digest.cli.subscribers import subscribers
from digest.cli.suppressions import suppressions
from digest.domain.errors import BadInputError, DigestError, shown
from digest.logs import configure_logs
from digest.settings import SettingsError

BAD_INPUT, FAILED = 2, 1

app = typer.Typer(
    name="digest",
    help="A daily e-mail brief at each reader's own local hour, in English and 中文.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(sources, name="sources")
app.add_typer(stories, name="stories")
app.add_typer(subscribers, name="subscribers")
app.add_typer(brief, name="brief")
app.add_typer(deliveries, name="deliveries")
app.add_typer(suppressions, name="suppressions")
app.add_typer(bench, name="bench")
app.add_typer(bounces, name="bounces")
app.command("schedule")(schedule)
app.command("tick")(tick)
app.command("simulate")(simulate)
app.command("audit")(audit)
app.command("migrate")(migrate_database)
app.command("config")(config)
app.command("doctor")(doctor)
app.command("report")(report)
app.command("watch")(watch)


def main(arguments: Sequence[str] | None = None, program: typer.Typer = app) -> None:
    """Run one command and exit: 0 done, 2 bad usage or input, 1 any other failure, with one line on standard error."""
    configure_logs(json=False)
    try:
        code = typer.main.get_command(program).main(
            args=list(sys.argv[1:] if arguments is None else arguments), prog_name="digest", standalone_mode=False
        )
    except typer.Exit as ended:
        code = ended.exit_code
    except typer.Abort:
        code = FAILED
    except BrokenPipeError:
        # The reader of a pipe has gone; what is buffered must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED
    except (DigestError, TyperException, SQLAlchemyError, OSError, UnicodeError, OverflowError) as error:
        code = fail(error)
    sys.exit(code or 0)


def fail(error: Exception) -> int:
    """Say what went wrong, one line per fault; returns the exit code."""
    if isinstance(error, TyperException):
        words, code = _usage(error), BAD_INPUT
    elif isinstance(error, SQLAlchemyError):
        words, code = f"database: {' '.join(str(getattr(error, 'orig', error)).split())}", FAILED
    elif isinstance(error, UnicodeError | OverflowError):
        words, code = f"a value can't be used: {error}", BAD_INPUT
    else:
        words, code = str(error), BAD_INPUT if isinstance(error, BadInputError | SettingsError) else FAILED
    lines = words.splitlines() if isinstance(error, SettingsError) else [" ".join(words.split())]
    for line in lines:
        sys.stderr.write(f"digest: {line}\n")
    return code


def _usage(error: TyperException) -> str:
    """Typer's words, and the value they are about where it leaves that out."""
    words, cause = error.format_message(), error.__cause__
    return f"{words}, not {shown(cause.errors()[0]['input'])}" if isinstance(cause, ValidationError) else words
