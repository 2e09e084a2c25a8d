"""What an editor changes of a story, as pydantic checks it: any fields of it, each as an import would take it."""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from digest.domain.errors import BadInputError
from digest.domain.language import Language
from digest.sources.story_record import Instant, Line, Lines, SaidLine, Title


class _Patch(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", use_attribute_docstrings=True)


Kind = TypeVar("Kind", bound=_Patch)


class TextPatch(_Patch):
    """Fields of a text; those that are not given stay."""

    title: Title = ""
    quick_answer: Line = ""
    quick_take: Line = ""
    key_points: Lines = []
    what_happened: Line = ""
    key_evidence: Lines = []
    why_it_matters: Line = ""
    what_to_watch: Line = ""
    source_excerpt: Line = ""


class TextsPatch(_Patch):
    """Texts by language."""

    en: TextPatch | None = None
    zh: TextPatch | None = None

    def by_language(self) -> dict[Language, dict[str, Any]]:
        """The fields that were given, by language."""
        given = {Language.ENGLISH: self.en, Language.CHINESE: self.zh}
        return {language: patch.model_dump(exclude_unset=True) for language, patch in given.items() if patch}


class NotesPatch(_Patch):
    """A note by language."""

    en: Line = ""
    zh: Line = ""

    def by_language(self) -> dict[Language, str]:
        """The notes that say something."""
        given = {Language.ENGLISH: self.en, Language.CHINESE: self.zh}
        return {language: note for language, note in given.items() if note}


class StoryPatch(_Patch):
    """Everything an editor may change at once."""

    texts: TextsPatch = TextsPatch()
    topics: list[SaidLine] | None = None
    pinned: bool | None = None
    hidden: bool | None = None
    enters_at: Instant | None = None
    """When the story comes out; an instant to come, with an offset."""


class CorrectionPatch(_Patch):
    """What is right, and what to tell those who read otherwise."""

    texts: TextsPatch = TextsPatch()
    notes: NotesPatch


class OrderPatch(_Patch):
    """Stories in the order in which they are to come."""

    ids: list[int]


def read_patch(kind: type[Kind], document: object) -> Kind:
    """The document as a patch of that kind.

    Raises:
        BadInputError: the first fault: which field, what it holds and how to mend it.
    """
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "body"
        said = first["msg"][:1].lower() + first["msg"][1:]
        raise BadInputError(place, "" if first["type"] == "missing" else first["input"], f"{said}.") from None
