"""``digest sources``."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from time import sleep
from typing import Annotated

import typer

from digest.bootstrap import Application, side_processes
from digest.cli.context import application, instant_text, read_file, utc_now
from digest.cli.output import AsJson, print_json, print_table, say
from digest.domain.errors import PermanentError
from digest.domain.language import parse_language
from digest.ports import Fetched
from digest.steps.collect_all import Shift, collect_all
from digest.steps.collect_stories import Collected, Desk, read_document
from digest.steps.keep_sources import add_source, change_source, find_source, list_sources, remove_source
from digest.steps.read_pages import read_all_pages
from digest.store.tables import Source

sources = typer.Typer(help="Feeds: add, list, change, fetch, remove.", no_args_is_help=True)
FullText = Annotated[
    bool | None,
    typer.Option("--full-text/--feed-text", help="Read full texts from the pages, as robots.txt allows."),
]
Weight = Annotated[float | None, typer.Option(min=0, max=1, help="How much its stories count, 0 to 1.")]


@sources.command("add")
def add(
    url: str,
    name: Annotated[str, typer.Option(help="As readers see it; default the host.")] = "",
    language: Annotated[str, typer.Option(help="en or zh, where the feed does not say.")] = "",
    topic: Annotated[list[str] | None, typer.Option(help="Given to every story; may be repeated.")] = None,
    full_text: FullText = None,
    weight: Weight = None,
    as_json: AsJson = False,
) -> None:
    """Add a feed: RSS, Atom, JSON Feed or a sitemap of news."""
    tongue = parse_language(language) if language else None
    with application() as app:
        source = add_source(app.sessions, url, name, tongue, topic or [], utc_now())
        source = change_source(app.sessions, source.id, reads_pages=full_text, weight=weight)
    row = _source_row(source)
    if as_json:
        print_json(row)
    else:
        say(f"Added {source.name} ({source.feed_url}). Run: digest sources fetch")


@sources.command("list")
def list_all(as_json: AsJson = False) -> None:
    """List the sources with their health."""
    with application() as app:
        rows = [_source_row(source) for source in list_sources(app.sessions)]
    if as_json:
        print_json(rows)
    else:
        print_table(("id", "name", "url", "fetched", "state"), [_for_people(row) for row in rows])


def _for_people(row: dict[str, object]) -> tuple[object, ...]:
    error = str(row["error"])
    state = f"rests ({row['rest']}): {error}" if row["rest"] else error or "fine"
    return (row["id"], row["name"], row["url"], row["fetched_at"], state)


@sources.command("change")
def change(source: str, full_text: FullText = None, weight: Weight = None, as_json: AsJson = False) -> None:
    """Change how a source is read and how much it counts."""
    with application() as app:
        found = find_source(app.sessions, source)
        row = _source_row(change_source(app.sessions, found.id, reads_pages=full_text, weight=weight))
    if as_json:
        print_json(row)
    else:
        say(f"{row['name']}: full text {'on' if row['full_text'] else 'off'}, weight {row['weight']}.")


def _source_row(source: Source) -> dict[str, object]:
    return {
        "id": source.id,
        "name": source.name,
        "url": source.feed_url,
        "language": source.language,
        "topics": ",".join(source.topics),
        "fetched_at": instant_text(source.fetched_at) if source.fetched_at else None,
        "error": source.error,
        "rest": source.rest,
        "full_text": source.reads_pages,
        "weight": source.weight,
    }


@sources.command("fetch")
def fetch(
    source: Annotated[str | None, typer.Argument(help="Name, id or URL; default all feeds.")] = None,
    file: Annotated[Path | None, typer.Option(help="Read this saved document as if it came from the source.")] = None,
    within: Annotated[int, typer.Option(min=1, max=86_400, help="Seconds after which no fetch begins any more.")] = 300,
    as_json: AsJson = False,
) -> None:
    """Fetch feeds now, side by side, store what is new, and read the pages that are due for full texts.

    A source that rests is fetched when it is named.
    """
    with side_processes(many=source is None and file is None) as run, application() as app:
        desk = replace(app.desk, run=run)
        shift = Shift(utc_now, sleep, timedelta(seconds=within))
        end = utc_now() + shift.within
        results = _fetch_file(app, source, file) if file else _fetch(app, desk, source, shift)
        pages = Counter() if file else read_all_pages(app.sessions, desk, replace(shift, within=end - utc_now()))
    if as_json:
        print_json([_collected_row(result) for result in results])
    else:
        print_table(("source", "new", "known", "notes", "error"), [_collected_row(r).values() for r in results])  # type: ignore[misc] # a dict keeps its order
        if pages:
            say(f"Pages for full texts: {', '.join(f'{number} {came}' for came, number in sorted(pages.items()))}.")
    if results and all(result.error for result in results):
        raise typer.Exit(1)


def _fetch(app: Application, desk: Desk, source: str | None, shift: Shift) -> list[Collected]:
    chosen = [find_source(app.sessions, source)] if source else list_sources(app.sessions)
    feeds = [(one.id, one.name) for one in chosen if one.feed_url and (source or not one.rest)]
    return collect_all(app.sessions, desk, feeds, shift)


def _fetch_file(app: Application, source: str | None, file: Path) -> list[Collected]:
    chosen = [find_source(app.sessions, source)] if source else list_sources(app.sessions)
    if len(chosen) != 1:
        raise PermanentError(f"--file needs the one source it came from; there are {len(chosen)}: name it")
    document = Fetched(chosen[0].feed_url or chosen[0].home_url, read_file(file))
    return [read_document(app.sessions, app.desk, chosen[0], document, utc_now())]


def _collected_row(result: Collected) -> dict[str, object]:
    return {
        "source": result.source,
        "new": result.new,
        "known": result.known,
        "notes": list(result.notes),
        "error": result.error,
    }


@sources.command("remove")
def remove(source: str, as_json: AsJson = False) -> None:
    """Remove a source and its stories."""
    with application() as app:
        removed = find_source(app.sessions, source)
        remove_source(app.sessions, removed.id)
    if as_json:
        print_json({"removed": removed.name})
    else:
        say(f"Removed {removed.name}.")
