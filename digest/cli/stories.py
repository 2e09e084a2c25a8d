"""``digest stories``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from digest.cli.context import LARGEST_ID, application, instant_text, read_file, utc_now
from digest.cli.editing import add_editing
from digest.cli.output import AsJson, print_json, print_table, say
from digest.domain.brief import Candidate, scored
from digest.domain.errors import PermanentError
from digest.domain.language import Language
from digest.sources.story_file import parse_stories, story_schema
from digest.steps.collect_stories import import_stories
from digest.steps.write_stories import Written, write_waiting
from digest.store.stories import listed, stories_with_ids, story_with_id
from digest.store.writing import flags_of

stories = typer.Typer(help="Stories: import, list, show.", no_args_is_help=True)
add_editing(stories)
MOST = 200


@stories.command("import")
def import_file(file: Path, as_json: AsJson = False) -> None:
    """Import stories from a JSON or JSON Lines file, all or none."""
    found = parse_stories(read_file(file), str(file))
    with application() as app:
        new, known = import_stories(app.sessions, app.editor, found, utc_now())
    if as_json:
        print_json({"new": new, "known": known})
    else:
        say(f"{new} new, {known} known already.")


@stories.command("schema")
def schema() -> None:
    """Print the JSON Schema of an import file."""
    print_json(story_schema())


@stories.command("list")
def list_stories(
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = MOST,
    flagged: Annotated[bool, typer.Option("--flagged", help="Only those an editor should look at, and why.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the newest stories."""
    with application() as app, app.sessions() as session:
        weights = app.settings.limits.weights
        flags = flags_of(session, limit) if flagged else {}
        now = utc_now()
        found = stories_with_ids(session, list(flags), now, hidden_too=True) if flagged else listed(session, now, limit)
        rows = [_story_row(scored(story, weights)) | _flag(flags, story.id) for story in found]
    if as_json:
        print_json(rows)
    else:
        columns = ("id", "score", "language", "source", "title", *(["flag"] if flagged else []))
        print_table(columns, [[row[column] for column in columns] for row in rows])


def _story_row(story: Candidate) -> dict[str, object]:
    text = story.texts.get(story.language) or next(iter(story.texts.values()))
    return {
        "id": story.id,
        "url": story.url,
        "title": text.title,
        "language": story.language,
        "source": story.source,
        "published_at": instant_text(story.published_at) if story.published_at else None,
        "score": story.signal.score,
    }


def _flag(flags: Mapping[int, str], story_id: int) -> dict[str, object]:
    return {"flag": flags[story_id]} if story_id in flags else {}


@stories.command("write")
def write(
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = MOST,
    as_json: AsJson = False,
) -> None:
    """Have the stories that wait written now, one after the other, by the model that the settings name."""
    with application() as app:
        if app.writers_desk is None:
            raise PermanentError("nobody writes: set DIGEST_EDITOR=chat and what it needs")
        outcomes = write_waiting(app.sessions, app.writers_desk, utc_now(), limit)
    if as_json:
        print_json({outcome.value: outcomes.get(outcome, 0) for outcome in Written})
    else:
        say(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()) or "Nothing waits.")


@stories.command("show")
def show(story_id: Annotated[int, typer.Argument(min=1, max=LARGEST_ID)]) -> None:
    """Print one story with its texts and the parts of its score, as JSON."""
    with application() as app, app.sessions() as session:
        found = story_with_id(session, story_id, utc_now())
    if found is None:
        raise PermanentError(f"there is no story {story_id}")
    story = scored(found, app.settings.limits.weights)
    texts = {
        language.value: {f: getattr(text, f) for f in text.__dataclass_fields__}
        for language, text in story.texts.items()
    }
    parts = story.signal.parts
    why = {part.name: {"of": part.most, "why": part.sentences[Language.ENGLISH]} for part in parts}
    reports = [{"id": r.id, "source": r.source, "title": r.title, "url": r.url} for r in story.reports]
    extra: dict[str, object] = {
        "slug": story.slug,
        "topics": list(story.topics),
        "enters_at": instant_text(story.enters_at),
    }
    print_json(
        _story_row(story)
        | extra
        | {"also_reported_by": reports}
        | {"score_parts": {part.name: part.points for part in parts}, "score_why": why, "texts": texts}
    )
