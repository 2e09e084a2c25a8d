from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir, extract_from_file
from babel.messages.pofile import read_po

import digest.rendering
from digest.domain.language import Language
from digest.rendering.catalogue import catalogue_path, translations

EMAILS = Path(__file__).parents[2] / "emails"
ROOM = Path(digest.rendering.__file__).parent
Key = str | tuple[str, ...]


def written() -> Catalog:
    with catalogue_path(Language.CHINESE, "emails").open("rb") as file:
        return read_po(file, locale="zh_Hans")


def extracted() -> Iterator[Key]:
    for _, _, message, _, _ in extract_from_dir(
        EMAILS,
        [("**.mjml", "jinja2"), ("**.txt", "jinja2")],
        {"**": {"silent": "false"}},
        directory_filter=lambda _: True,  # the default leaves out folders that begin with an underscore
    ):
        yield message
    for path in ROOM.glob("*.py"):
        for _, message, _, _ in extract_from_file("python", path, keywords={"_message": None}):
            yield message


def keys(catalog: Catalog) -> set[Key]:
    return {message.id if isinstance(message.id, str) else tuple(message.id) for message in catalog if message.id}


def test_the_extraction_sees_templates_texts_and_code() -> None:
    found = set(extracted())

    assert {"Quick answer", "Links", ("%(num)s story", "%(num)s stories")} <= found


def test_no_message_is_missing_and_none_is_unused() -> None:
    assert keys(written()) == set(extracted())


def test_every_message_is_translated_and_none_is_fuzzy() -> None:
    messages = [message for message in written() if message.id]

    assert not [message.id for message in messages if message.fuzzy]
    assert not [message.id for message in messages if not all(_strings(message.string))]


def test_placeholders_are_the_same_on_both_sides() -> None:
    assert not [error for message in written() if message.id for error in message.check(written())]


def test_a_language_without_a_catalogue_is_an_error_and_not_english(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        translations(Language.CHINESE, "emails", tmp_path)


def test_english_is_the_message_itself() -> None:
    assert translations(Language.ENGLISH, "emails").gettext("Quick answer") == "Quick answer"
    assert translations(Language.CHINESE, "emails").gettext("Quick answer") == "一句话说清"


def _strings(text: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)
