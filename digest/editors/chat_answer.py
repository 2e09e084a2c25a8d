"""The form in which a model has to answer, and what becomes of the answer."""

import json
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from digest.domain.language import Language
from digest.domain.story import StoryText

LONGEST_LINE = 1200
MOST_LINES = 6
_FENCE = re.compile(r"^\s*```(?:json)?\s*|\s*```\s*$")


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


Line = Annotated[str, Field(max_length=LONGEST_LINE), AfterValidator(_one_line)]
Lines = Annotated[list[Line], Field(max_length=MOST_LINES)]


class _Strict(BaseModel):
    # Strict schemas want every field named and no other, so nothing has a default.
    model_config = ConfigDict(strict=True, extra="forbid")


class TextAnswer(_Strict):
    """One language."""

    title: Line
    quick_answer: Line
    quick_take: Line
    key_points: Lines
    what_happened: Line
    key_evidence: Lines
    why_it_matters: Line
    what_to_watch: Line
    source_excerpt: Line

    def text(self) -> StoryText:
        """The domain's value."""
        prose = self.model_dump(exclude={"key_points", "key_evidence"})
        points, evidence = (tuple(line for line in lines if line) for lines in (self.key_points, self.key_evidence))
        return StoryText(**prose, key_points=points, key_evidence=evidence)


class Answer(_Strict):
    """A whole answer."""

    en: TextAnswer
    zh: TextAnswer
    topics: Lines

    def texts(self) -> dict[Language, StoryText]:
        """The domain's values."""
        return {Language.ENGLISH: self.en.text(), Language.CHINESE: self.zh.text()}


def answer_schema() -> dict[str, Any]:
    """The JSON Schema of an answer, without the limits that strict modes do not know."""
    schema: dict[str, Any] = json.loads(
        json.dumps(Answer.model_json_schema()), object_hook=lambda o: {k: v for k, v in o.items() if k not in _LIMITS}
    )
    return schema


_LIMITS = frozenset({"maxLength", "maxItems"})


def read_answer(content: str) -> Answer | str:
    """The answer, or what is wrong with it in one line."""
    try:
        return Answer.model_validate_json(_FENCE.sub("", content))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        return f"not the JSON asked for: {place + ': ' if place else ''}{first['msg']}"[:300]
