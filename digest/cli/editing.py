"""``digest stories edit|pin|hide|split|order|schedule|correct``: what an editor does to stories."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from digest.cli.context import LARGEST_ID, application, instant_text, read_file, read_instant, utc_now
from digest.cli.output import AsJson, print_json, say
from digest.domain.errors import BadInputError
from digest.sources.story_patch import CorrectionPatch, StoryPatch, read_patch
from digest.steps.edit_stories import correct_story, edit_story, order_stories, place_story, schedule_story, split_story

StoryId = Annotated[int, typer.Argument(min=1, max=LARGEST_ID)]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="A field: en.title=…, zh.quick_answer=…; a list field once for each of its lines."),
]
FromFile = Annotated[Path | None, typer.Option(help='JSON with the fields: {"en": {"title": "…"}, "zh": {…}}.')]
LISTS = frozenset({"key_points", "key_evidence"})


def add_editing(stories: typer.Typer) -> None:
    """Give ``digest stories`` these commands."""
    for name, command in (("edit", edit), ("pin", pin), ("hide", hide), ("order", order), ("schedule", schedule)):
        stories.command(name)(command)
    stories.command("correct")(correct)
    stories.command("split")(split)


def edit(
    story_id: StoryId,
    fields: Set = None,
    file: FromFile = None,
    topic: Annotated[list[str] | None, typer.Option(help="All its topics; may be repeated.")] = None,
    as_json: AsJson = False,
) -> None:
    """Change texts and topics; neither its feed nor a model changes them afterwards."""
    patch = read_patch(StoryPatch, {"texts": _texts(fields, file), "topics": topic})
    if not patch.texts.by_language() and topic is None:
        raise BadInputError("edit", "", "changes nothing: give --set, --file or --topic.")
    with application() as app:
        edit_story(app.sessions, story_id, patch.texts.by_language(), patch.topics, utc_now())
    _done(f"Story {story_id} is changed.", {"id": story_id}, as_json=as_json)


def pin(
    story_id: StoryId,
    undo: Annotated[bool, typer.Option("--undo", help="Take it back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put a story before all others in every brief that may show it."""
    with application() as app:
        place_story(app.sessions, story_id, pinned=not undo)
    said = f"Story {story_id} is {'pinned no longer' if undo else 'pinned'}."
    _done(said, {"id": story_id, "pinned": not undo}, as_json=as_json)


def hide(
    story_id: StoryId,
    undo: Annotated[bool, typer.Option("--undo", help="Show it again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take a story off every list, page and brief to come."""
    with application() as app:
        place_story(app.sessions, story_id, hidden=not undo)
    said = f"Story {story_id} is {'shown again' if undo else 'hidden'}."
    _done(said, {"id": story_id, "hidden": not undo}, as_json=as_json)


def split(story_id: StoryId, as_json: AsJson = False) -> None:
    """Let a story stand alone that was taken for another report of an event; `show` names the others."""
    with application() as app:
        was_grouped = split_story(app.sessions, story_id)
    said = f"Story {story_id} {'stands alone now' if was_grouped else 'stood alone already'}."
    _done(said, {"id": story_id, "was_grouped": was_grouped}, as_json=as_json)


def order(
    story_ids: Annotated[list[int] | None, typer.Argument(min=1, max=LARGEST_ID)] = None, as_json: AsJson = False
) -> None:
    """Let these stories come first, in this order; naming none takes every place back."""
    with application() as app:
        order_stories(app.sessions, story_ids or [], utc_now())
    said = f"{len(story_ids)} stories are placed." if story_ids else "No story has a place of its own."
    _done(said, {"ids": story_ids or []}, as_json=as_json)


def schedule(
    story_id: StoryId, at: Annotated[str, typer.Argument(help="ISO 8601 instant to come.")], as_json: AsJson = False
) -> None:
    """Let a story come out at an instant; the first brief with a later cut-off holds it."""
    instant = read_instant(at, "at")
    with application() as app:
        schedule_story(app.sessions, story_id, instant, utc_now())
    said = f"Story {story_id} comes out at {instant_text(instant)}."
    _done(said, {"id": story_id, "enters_at": instant_text(instant)}, as_json=as_json)


def correct(
    story_id: StoryId,
    fields: Set = None,
    file: FromFile = None,
    note_en: Annotated[str, typer.Option(help="What was wrong and what is right, in English.")] = "",
    note_zh: Annotated[str, typer.Option(help="The same in Chinese.")] = "",
    as_json: AsJson = False,
) -> None:
    """Change a story's texts, and say so in the next brief of those who got the old ones."""
    notes = {"en": note_en, "zh": note_zh}
    patch = read_patch(CorrectionPatch, {"texts": _texts(fields, file), "notes": notes})
    with application() as app:
        done = correct_story(app.sessions, story_id, patch.texts.by_language(), patch.notes.by_language(), utc_now())
    told = f"{done.briefs} briefs had it: their readers are told in their next one." if done.briefs else ""
    said = f"Story {story_id} is corrected. {told or 'No brief had it, so nobody has to be told.'}"
    _done(said, {"id": story_id, "correction": done.correction_id, "briefs": done.briefs}, as_json=as_json)


def _texts(fields: list[str] | None, file: Path | None) -> dict[str, dict[str, Any]]:
    """The texts of both options; ``--set`` counts more."""
    try:
        texts = json.loads(read_file(file)) if file else {}
    except (ValueError, RecursionError) as error:
        raise BadInputError("file", file, f"is not well-formed JSON: {error}.") from error
    if not isinstance(texts, dict):
        raise BadInputError("file", file, 'must hold an object: {"en": {"title": "…"}}.')
    given: dict[tuple[str, str], list[str]] = {}
    for field in fields or []:
        place, equals, value = field.partition("=")
        language, dot, name = place.strip().partition(".")
        if not equals or not dot:
            raise BadInputError("set", field, "must be written en.title=… or zh.quick_answer=….")
        given.setdefault((language, name), []).append(value)
    for (language, name), values in given.items():
        texts.setdefault(language, {})[name] = values if name in LISTS else values[-1]
    return texts


def _done(said: str, row: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        print_json(row)
    else:
        say(said)
