"""The command line: one Typer app, and one clear line for every failure."""

import typer

from digest.cli.briefs import brief
from digest.cli.morning import audit, deliveries, tick
from digest.cli.operate import config, doctor, migrate_database
from digest.cli.schedule import schedule
from digest.cli.simulate import simulate
from digest.cli.stories import sources, stories
from digest.cli.subscribers import subscribers

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
app.command("schedule")(schedule)
app.command("tick")(tick)
app.command("simulate")(simulate)
app.command("audit")(audit)
app.command("migrate")(migrate_database)
app.command("config")(config)
app.command("doctor")(doctor)
