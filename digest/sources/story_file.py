"""Stories from a file: a JSON array, or JSON Lines with one story each."""

import difflib
import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from digest.domain.canonical import canonical_url
from digest.domain.errors import BadInputError
from digest.domain.story import Story
from digest.sources.story_record import StoryRecord, TextRecord, TextsRecord

_FIELDS: dict[str, type[BaseModel]] = {"": StoryRecord, "texts": TextsRecord, "en": TextRecord, "zh": TextRecord}
"""Whose fields may stand in the object of that name."""
_KINDS = {
    "string_type": "is not text: put it in quotes",
    "list_type": 'is not a list: write it as ["…", "…"]',
    "model_type": "is not an object: write it as {…}",
    "enum": "is not a language of the brief: use en or zh",
    "string_pattern_mismatch": "is not a slug: use lower-case letters, digits and single hyphens",
}
"""What to say for pydantic's own kinds of error; ours bring their words along."""


def parse_stories(document: bytes, name: str) -> list[Story]:
    """The stories of an import file, all of them or none.

    Args:
        document: UTF-8; a JSON array of records, one record, or one record a line. The fields are those of
            :func:`story_schema`.
        name: what to call the file in an error.

    Raises:
        BadInputError: the first fault: which record, which field, what it holds and how to mend it.
    """
    records = list(_records(_text(document, name), name))
    stories = [_story(record, f"{name}, record {number}") for number, record in enumerate(records, start=1)]
    _refuse_repeats(stories, name)
    return stories


def story_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of an import file that is an array; each line of JSON Lines is one item of it."""
    schema = TypeAdapter(list[StoryRecord]).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Stories to import", **schema}


def bundled_stories() -> list[Story]:
    """The stories that come with the software, for an empty database to begin with."""
    document = files("digest.sources").joinpath("bundled/stories.json")
    return parse_stories(document.read_bytes(), "bundled/stories.json")


def _text(document: bytes, name: str) -> str:
    try:
        text = document.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInputError("file", name, f"is not UTF-8 (byte {error.start}): save it as UTF-8.") from None
    if not text.strip():
        raise BadInputError("file", name, "is empty: give a JSON array of stories, or one story a line.")
    return text


def _records(text: str, name: str) -> Iterator[object]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip().startswith("["):
            raise BadInputError("file", name, f"is not well-formed JSON: {error}.") from None
        yield from _lines(text, name)
    else:
        yield from document if isinstance(document, list) else [document]


def _lines(text: str, name: str) -> Iterator[object]:
    # Only a line feed ends a line of JSON: U+2028 and the like may stand inside a string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadInputError(f"{name}, line {number}", line.strip(), f"is not well-formed JSON: {error}.") from None


def _story(record: object, where: str) -> Story:
    try:
        return StoryRecord.model_validate(record).story()
    except ValidationError as error:
        raise _fault(error, where) from None


def _fault(error: ValidationError, where: str) -> BadInputError:
    """One fault as one line, and how many more there are; a misspelt field explains the missing one beside it."""
    faults = error.errors(include_url=False)
    first = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
    rest = f" ({len(faults) - 1} more in this record)" if len(faults) > 1 else ""
    path = [step if isinstance(step, str) else str(step + 1) for step in first["loc"]]
    if first["type"] == "extra_forbidden":
        owner = path[-2] if len(path) > 1 else ""
        return BadInputError(
            _place(where, path[:-1]), path[-1], f"is not a field here: {_near(path[-1], owner)}{rest}."
        )
    if first["type"] == "missing":
        return BadInputError(_place(where, path), "", f"is missing and required{rest}.")
    said = _KINDS.get(first["type"], first["msg"][:1].lower() + first["msg"][1:])
    return BadInputError(_place(where, path), first["input"], f"{said}{rest}.")


def _place(where: str, path: list[str]) -> str:
    return f"{where}: {'.'.join(path)}" if path else where


def _near(name: str, owner: str) -> str:
    fields = list(_FIELDS[owner].model_fields)
    near = difflib.get_close_matches(name, fields, n=1)
    return f"use {near[0]}" if near else f"use {', '.join(fields[:-1])} or {fields[-1]}"


def _refuse_repeats(stories: list[Story], name: str) -> None:
    seen: dict[tuple[str, str], int] = {}
    for number, story in enumerate(stories, start=1):
        for field, value in (("url", canonical_url(story.url)), ("slug", story.slug)):
            first = seen.setdefault((field, value), number) if value else number
            if first != number:
                given = story.url if field == "url" else story.slug
                mend = f"is that of record {first} as well: keep one of the two."
                raise BadInputError(f"{name}, record {number}: {field}", given, mend)
