"""Import files: what is taken, and what an editor is told about the rest."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from digest.domain.errors import BadInputError
from digest.domain.language import Language
from digest.sources.story_file import bundled_stories, parse_stories, story_schema

Record = dict[str, Any]


def record(**changes: object) -> Record:
    full: Record = {
        "url": "https://city.example/ports",
        "source": "City News",
        "language": "en",
        "published_at": "2026-12-02T08:00:00+08:00",
        "texts": {"en": {"title": "Ports open"}, "zh": {"title": "港口恢复作业", "key_points": ["积压清空"]}},
    }
    return {name: value for name, value in (full | changes).items() if value is not ...}


def fault(*records: object, name: str = "news.json") -> str:
    with pytest.raises(BadInputError) as caught:
        parse_stories(json.dumps(records).encode(), name)
    return str(caught.value)


def test_a_record_becomes_a_story() -> None:
    given = record(slug="ports-open", source_url="https://city.example", topics=["Harbor", "harbor"], identifier="n1")
    (story,) = parse_stories(json.dumps([given]).encode(), "news.json")
    assert (story.url, story.source, story.slug) == ("https://city.example/ports", "City News", "ports-open")
    assert (story.source_url, story.topics, story.identifier) == ("https://city.example", ("harbor",), "n1")
    assert story.published_at == datetime(2026, 12, 2, tzinfo=UTC)
    assert story.texts[Language.CHINESE].key_points == ("积压清空",)
    assert list(story.texts) == [Language.ENGLISH, Language.CHINESE]


def test_what_is_left_out_has_a_plain_default() -> None:
    (story,) = parse_stories(json.dumps(record()).encode(), "one.json")
    assert (story.identifier, story.slug, story.source_url, story.topics, story.body) == (story.url, "", "", (), "")


def test_an_array_one_record_and_json_lines_are_read_alike() -> None:
    one, two = record(), record(url="https://city.example/rail", texts={"en": {"title": "A \u2028 line"}})
    array = json.dumps([one, two], indent=1).encode()
    lines = (
        "\ufeff" + json.dumps(one, ensure_ascii=False) + "\n\n" + json.dumps(two, ensure_ascii=False) + "\r\n"
    ).encode()
    assert parse_stories(array, "a") == parse_stories(lines, "b")
    assert parse_stories(json.dumps(one).encode(), "c") == parse_stories(array, "a")[:1]
    assert parse_stories(b"[]", "d") == []


def test_texts_are_cleaned_on_the_way_in() -> None:
    hostile = {"en": {"title": "Ports\u202e open\x07", "what_happened": "  one\n two ", "key_points": ["a\u200bb"]}}
    (story,) = parse_stories(json.dumps(record(texts=hostile)).encode(), "x")
    text = story.texts[Language.ENGLISH]
    assert (text.title, text.what_happened, text.key_points) == ("Ports open", "one two", ("ab",))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"url": ...}, "url: “” is missing and required"),
        ({"url": "city.example"}, "url: “city.example” is not an absolute http or https address"),
        ({"url": "javascript:alert(1)"}, "url: “javascript:alert(1)” is not an absolute"),
        ({"source": " "}, "source: “ ” is empty"),
        ({"source": 5}, "source: “5” is not text"),
        ({"language": "fr"}, "language: “fr” is not a language of the brief: use en or zh"),
        ({"published_at": "2026-12-02"}, "published_at: “2026-12-02” is not an ISO 8601 time with an offset"),
        ({"published_at": "2026-12-02T08:00:00"}, "write it like 2026-12-02T08:00:00+08:00"),
        ({"published_at": 1781050500}, "published_at: “1781050500” is not an ISO 8601 time"),
        ({"published_at": "0001-01-01T00:00:00+14:00"}, "published_at: “0001"),
        ({"texts": {}}, "texts: “{}” holds no text"),
        ({"texts": {"de": {"title": "x"}}}, "texts: “de” is not a field here: use en or zh"),
        ({"texts": {"en": {"titel": "x"}}}, "texts.en: “titel” is not a field here: use title (1 more"),
        ({"texts": {"en": {"title": "x", "key_points": ["a", 3]}}}, "texts.en.key_points.2: “3” is not text"),
        ({"texts": {"en": {"title": "x" * 301}}}, "texts.en.title: “xxx"),
        ({"topics": "harbor"}, "topics: “harbor” is not a list"),
        ({"slug": "Ports open"}, "slug: “Ports open” is not a slug"),
        ({"langauge": "en"}, "“langauge” is not a field here: use language"),
    ],
)
def test_a_fault_names_record_field_value_and_mend(changes: Record, told: str) -> None:
    message = fault(record(url="https://city.example/first"), record(**changes))
    assert message.startswith("news.json, record 2: ")
    assert told in message
    assert "\n" not in message


@pytest.mark.parametrize("thing", [5, "text", None, [1]])
def test_a_record_that_is_no_object_is_told_so(thing: object) -> None:
    assert "record 1: " in fault(thing)
    assert "is not an object" in fault(thing)


def test_a_repeated_page_or_slug_is_refused() -> None:
    again = record(url="http://www.city.example/ports/?utm_source=x")
    assert "record 2: url: “http://www.city.example/ports/?utm_source=x” is that of record 1" in fault(record(), again)
    other = record(url="https://city.example/rail", slug="a")
    assert "record 2: slug: “a” is that of record 1" in fault(record(slug="a"), other)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (b" \n", "file: “f.json” is empty"),
        (b"[{]", "file: “f.json” is not well-formed JSON"),
        (b'{"a": 1}\n{"b"\n', 'f.json, line 2: “{"b"” is not well-formed JSON'),
        ("[“港口”]".encode("gbk"), "is not UTF-8 (byte 1)"),
        (b"[" * 100_000, "is not well-formed JSON"),
        (b'[{"url": ' + b"9" * 5000 + b"}]", "is not well-formed JSON"),
    ],
)
def test_a_file_that_can_not_be_read_says_why(document: bytes, told: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_stories(document, "f.json")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_schema_names_every_field_and_allows_no_other() -> None:
    schema = story_schema()
    story = schema["$defs"]["StoryRecord"]
    assert schema["type"] == "array"
    assert story["required"] == ["url", "source", "language", "published_at", "texts"]
    assert set(story["properties"]) == {*story["required"], "slug", "source_url", "topics", "identifier"}
    for name in ("StoryRecord", "TextRecord", "TextsRecord"):
        assert schema["$defs"][name]["additionalProperties"] is False
    json.dumps(schema)


def test_the_bundled_stories_are_an_import_file_like_any_other() -> None:
    stories = bundled_stories()
    assert stories
    assert all(story.slug and set(story.texts) == set(Language) for story in stories)
