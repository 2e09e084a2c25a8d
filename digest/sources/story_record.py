"""One record of an import file, as pydantic checks it; its JSON Schema is what ``digest stories schema`` prints."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError
from wcwidth import iter_graphemes

from digest.domain.language import Language
from digest.domain.story import Story, StoryText
from digest.sources.text import clean_line
from digest.sources.web_address import web_address

_LONGEST_TITLE = 300
_POINTS = 12
"""Code points of the longest character as people see it; a family emoji has eleven."""
_LONGEST_LINE = 4000
_MOST_POINTS = 12
_EARLIEST_YEAR = 1990


def _address(value: str) -> str:
    address = web_address(value)
    if not address:
        raise PydanticCustomError("web_address", "is not an absolute http or https address")
    return address


def _instant(value: object) -> datetime:
    try:
        instant = datetime.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        instant = None
    if instant is None or instant.utcoffset() is None or instant.year < _EARLIEST_YEAR:
        raise PydanticCustomError(
            "instant", "is not an ISO 8601 time with an offset: write it like 2026-12-02T08:00:00+08:00"
        )
    return instant.astimezone(UTC)


def _said(value: str) -> str:
    if not value:
        raise PydanticCustomError("said", "is empty: give it a text")
    return value


def _short(value: str) -> str:
    if sum(1 for _ in iter_graphemes(value)) > _LONGEST_TITLE:
        raise PydanticCustomError("short", f"has more than {_LONGEST_TITLE} characters: shorten it")
    return value


Clean = Annotated[str, AfterValidator(clean_line)]
Line = Annotated[Clean, Field(max_length=_LONGEST_LINE)]
SaidLine = Annotated[Line, AfterValidator(_said)]
Title = Annotated[Clean, Field(max_length=_LONGEST_TITLE * _POINTS), AfterValidator(_said), AfterValidator(_short)]
Lines = Annotated[list[SaidLine], Field(max_length=_MOST_POINTS)]
WebAddress = Annotated[
    str, AfterValidator(_address), WithJsonSchema({"type": "string", "format": "uri", "pattern": "^https?://"})
]
Instant = Annotated[datetime, BeforeValidator(_instant), WithJsonSchema({"type": "string", "format": "date-time"})]
OneLanguage = Annotated[Language, Field(strict=False)]


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", use_attribute_docstrings=True)


class TextRecord(_Record):
    """What a reader reads of the story in one language. Plain text; only the title is required."""

    title: Title
    quick_answer: Line = ""
    """One or two sentences that say it all."""
    quick_take: Line = ""
    """What to make of it, in one sentence."""
    key_points: Lines = []
    what_happened: Line = ""
    key_evidence: Lines = []
    why_it_matters: Line = ""
    what_to_watch: Line = ""
    source_excerpt: Line = ""
    """The source's own words."""

    def text(self) -> StoryText:
        """The domain's value."""
        prose = self.model_dump(exclude={"key_points", "key_evidence"})
        return StoryText(**prose, key_points=tuple(self.key_points), key_evidence=tuple(self.key_evidence))


class TextsRecord(_Record):
    """The story's texts by language, at least one."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    en: TextRecord | None = None
    zh: TextRecord | None = None

    @model_validator(mode="after")
    def _some(self) -> "TextsRecord":
        if not self.en and not self.zh:
            raise PydanticCustomError("texts", "holds no text: give one under “en”, “zh” or both")
        return self

    def texts(self) -> dict[Language, StoryText]:
        """The domain's values."""
        given = {Language.ENGLISH: self.en, Language.CHINESE: self.zh}
        return {language: record.text() for language, record in given.items() if record}


class StoryRecord(_Record):
    """One story of an import file."""

    model_config = ConfigDict(title="Story")

    url: WebAddress
    """The story at its source; what it is known by, so that a second import changes it and adds none."""
    source: Annotated[Clean, Field(max_length=200), AfterValidator(_said)]
    """The source's name as shown to readers."""
    language: OneLanguage
    """The language of the original."""
    published_at: Instant
    """ISO 8601 with an offset."""
    texts: TextsRecord
    slug: Annotated[str, Field(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$", max_length=120)] | None = None
    """The last part of the story's address on this site; made from the title where it is not given."""
    source_url: WebAddress | None = None
    """The source's home page."""
    topics: Annotated[list[SaidLine], Field(max_length=_MOST_POINTS)] = []
    """Lower-case words such as models, chips."""
    identifier: Annotated[Clean, Field(max_length=500)] = ""
    """The source's own id of the story; its url where it is not given."""

    def story(self) -> Story:
        """The domain's value."""
        return Story(
            url=self.url,
            source=self.source,
            language=self.language,
            published_at=self.published_at,
            texts=self.texts.texts(),
            topics=tuple(dict.fromkeys(topic.lower() for topic in self.topics)),
            identifier=self.identifier or self.url,
            source_url=self.source_url or "",
            slug=self.slug or "",
        )
