"""Bodies of requests as named text values, whichever way they were sent."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, HTTPException, Request

from digest.domain.errors import BadInputError

MOST_FIELDS = 100


@dataclass(frozen=True, slots=True)
class Fields:
    """Name -> values, in order. A name that was not sent is not the same as an empty value."""

    values: Mapping[str, Sequence[str]] = field(repr=False)

    def text(self, name: str) -> str | None:
        """The first value of ``name``; None when it was not sent."""
        return next(iter(self.values.get(name, ())), None)

    def words(self, name: str) -> list[str] | None:
        """All values of ``name`` with comma-separated ones taken apart; None when it was not sent."""
        if name not in self.values:
            return None
        return [word.strip() for value in self.values[name] for word in value.split(",") if word.strip()]

    def check_controls(self) -> None:
        """Refuse line breaks and control characters in any value: no field of ours holds them.

        Raises:
            BadInputError: names the first field that has one.
        """
        for name, values in self.values.items():
            for value in values:
                if any(ord(c) < ord(" ") or ord(c) == 0x7F for c in value.strip()):  # noqa: PLR2004 - DEL
                    raise BadInputError(name, value, "must be on one line, without control characters.")


async def posted_fields(request: Request) -> Fields:
    """A form's fields, urlencoded or multipart; none for any other body. Files are refused.

    Raises:
        HTTPException: 400 for a body that can't be read as what it says it is, 413 for one that is too long.
    """
    form = await request.form(max_files=0, max_fields=MOST_FIELDS)
    values: dict[str, list[str]] = {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            values.setdefault(name, []).append(value)
    return Fields(values)


async def json_fields(request: Request) -> Fields:
    """The fields of a JSON object whose values are texts or lists of texts; null counts as not sent.

    Raises:
        HTTPException: 400 where the body is no JSON.
        BadInputError: a value of another type.
    """
    try:
        document = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "The body is not a JSON document.") from error
    if not isinstance(document, dict):
        raise BadInputError("body", type(document).__name__, "must be a JSON object.")
    return Fields({name: _texts(name, value) for name, value in document.items() if value is not None})


def _texts(name: str, value: object) -> list[str]:
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str) for item in items):
        raise BadInputError(name, json.dumps(value, ensure_ascii=False), "must be a text or a list of texts.")
    texts = [str(item) for item in items]
    if any("\ud800" <= c <= "\udfff" for text in texts for c in text):
        raise BadInputError(name, "a lone surrogate", "must be valid Unicode.")
    return texts


Posted = Annotated[Fields, Depends(posted_fields)]
PostedJson = Annotated[Fields, Depends(json_fields)]
