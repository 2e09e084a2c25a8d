"""The program: joins the edges under one command line. Nothing imports it."""

import os
from contextlib import closing
from datetime import timedelta
from typing import Annotated

import typer
from celery import Celery
from fastapi import FastAPI

from digest.bootstrap import Application, build
from digest.cli.context import bring_up_to_date, utc_now
from digest.cli.main import app
from digest.cli.main import main as run_command
from digest.cli.output import say, warn
from digest.domain.errors import BadInputError
from digest.logs import configure_logs
from digest.settings import Settings, load_settings
from digest.sources.story_file import bundled_stories
from digest.steps.collect_stories import import_stories
from digest.store.stories import is_empty
from digest.telemetry import start_telemetry
from digest.web.app import create_app
from digest.web.timing import shared_latencies
from workers.all_in_one import background
from workers.celery_app import create_celery
from workers.nudges import Nudges
from workers.queues import EVENTS, LETTERS, MEANING
from workers.runtime import Runtime
from workers.web_server import end_with_the_keeper, keep_for_good, open_port, serve, serve_by

LOOPBACK = "127.0.0.1"
YESTERDAY = timedelta(hours=26)
"""Long enough ago for every daily reader's last cut-off, with clocks that moved by an hour."""
Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[int | None, typer.Option(help="Default: PORT, else 8025.", min=1, max=65535)]


def _settings(port: int | None) -> Settings:
    """The settings, with the port of the command line before the environment's: links carry it."""
    if port is not None:
        os.environ["PORT"] = str(port)
    return load_settings()


def run(host: Host = LOOPBACK, port: Port = None) -> None:
    """Web page, scheduler and worker in one process."""
    settings = _settings(port)
    configure_logs(json=False, level=settings.log_level)
    start_telemetry(settings, "run")
    listening = open_port(host, settings.port)
    application = build(settings)
    try:
        bring_up_to_date(application)
        load_bundle(application)
        celery = create_celery(settings, Runtime(settings, application))
        site = site_of(application, celery)
        with background(celery):
            say_where(settings)
            serve(site, listening)
    finally:
        listening.close()
        application.close()


def site_of(application: Application, celery: Celery) -> FastAPI:
    """The site, which asks the workers through the broker."""
    return create_app(
        application,
        Nudges(celery, LETTERS).start(),
        nudge_events=Nudges(celery, EVENTS).start(),
    )


def load_bundle(application: Application) -> None:
    """Give a new installation the bundled stories: half as yesterday's news, for welcomes; half for the next brief."""
    with application.sessions() as session:
        empty = is_empty(session)
    if empty:
        now, stories = utc_now(), bundled_stories()
        half = len(stories) // 2
        import_stories(application.sessions, application.editor, stories[half:], now, enters=now - YESTERDAY)
        import_stories(application.sessions, application.editor, stories[:half], now, enters=now)


def say_where(settings: Settings) -> None:
    """The addresses to open."""
    say(f"Sign up:  {settings.base_url}/?lang=en  ·  {settings.base_url}/?lang=zh")
    if settings.provider == "outbox":
        say(f"Outbox:   {settings.base_url}/outbox  (mail is kept here, not sent)")
    say("Stop with Ctrl-C.")


def web(
    host: Host = LOOPBACK,
    port: Port = None,
    processes: Annotated[int, typer.Option(min=1, max=64, help="That share the port; one a core at most.")] = 1,
) -> None:
    """The web page alone, for production."""
    settings = _settings(port)
    if processes > 1 and settings.broker_url.startswith("memory:"):
        mend = "needs DIGEST_BROKER_URL=redis://…: there the limits are counted for all of them together."
        raise BadInputError("--processes", processes, mend)
    configure_logs(json=True, level=settings.log_level)
    start_telemetry(settings, "web")
    with closing(open_port(host, settings.port)) as listening, closing(build(settings)) as application:
        bring_up_to_date(application)
        if processes == 1:
            serve(_site_alone(application), listening)
            return
        application.close()
        with shared_latencies():
            serve_by(processes, "digest.main:one_of_several", listening)


def one_of_several() -> FastAPI:
    """The site in one of several web processes."""
    end_with_the_keeper()
    settings = load_settings()
    configure_logs(json=True, level=settings.log_level)
    start_telemetry(settings, "web")
    site = _site_alone(build(settings))
    keep_for_good()
    return site


def _site_alone(application: Application) -> FastAPI:
    celery = create_celery(application.settings, Runtime(application.settings, application))
    return site_of(application, celery)


def worker(
    queues: Annotated[str, typer.Option(help=f"Comma-separated, of {', '.join(MEANING)}; default all.")] = "",
    concurrency: Annotated[int, typer.Option(min=1, max=256)] = 2,
) -> None:
    """A worker, for production."""
    settings = _distributed()
    configure_logs(json=True, level=settings.log_level)
    start_telemetry(settings, "worker")
    chosen = [name.strip() for name in queues.split(",") if name.strip()] or list(MEANING)
    if unknown := [name for name in chosen if name not in MEANING]:
        raise typer.BadParameter(f"{unknown[0]} is not a queue: use {', '.join(MEANING)}")
    # Celery's own command line drops the exit code, and a worker that gave up would look as if it had been told to end.
    hands = create_celery(settings).Worker(
        concurrency=concurrency,
        queues=chosen,
        loglevel="WARNING",
        optimization="fair",
        without_gossip=True,
        without_mingle=True,
    )
    hands.start()
    raise typer.Exit(hands.exitcode or 0)


def beat() -> None:
    """The scheduler's nudge, for production; a second one does no harm."""
    settings = _distributed()
    configure_logs(json=True, level=settings.log_level)
    start_telemetry(settings, "beat")
    create_celery(settings).Beat(loglevel="WARNING", quiet=True).run()


def _distributed() -> Settings:
    settings = load_settings()
    if settings.broker_url.startswith("memory:"):
        warn("digest: DIGEST_BROKER_URL: memory:// reaches no other process; set redis://… or use digest run")
        raise typer.Exit(2)
    return settings


for command in (run, web, worker, beat):
    app.command()(command)


def main() -> None:
    """The entry point of ``digest``."""
    run_command(program=app)
