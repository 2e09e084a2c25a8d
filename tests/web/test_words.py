"""The catalogue of the pages: complete, nothing left over, punctuated as Chinese is."""

import re
from pathlib import Path

from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from digest.domain.language import Language
from digest.rendering.catalogue import catalogue_path

WEB = Path(__file__).parents[2] / "digest" / "web"
METHODS = [("**.html", "jinja2.ext:babel_extract"), ("**.py", "python")]
PLACEHOLDERS = re.compile(r"%\(\w+\)s|\{\w+\}")
HAN = r"[\u4e00-\u9fff]"


def _messages() -> set[str]:
    found = set()
    for method in METHODS:
        for _, _, message, _, _ in extract_from_dir(WEB, [method], keywords={"_": None, "marked": None}):
            found.add(str(message))
    return found


def _catalogue() -> dict[str, str]:
    with catalogue_path(Language.CHINESE, "web").open("rb") as file:
        entries = read_po(file, locale="zh_Hans")
    assert not [entry.id for entry in entries if entry.fuzzy and entry.id]
    return {str(entry.id): str(entry.string) for entry in entries if entry.id}


def test_every_message_of_the_pages_is_in_the_catalogue_and_no_other() -> None:
    messages = _messages()
    assert len(messages) > 100
    assert messages == set(_catalogue())
    assert all(_catalogue().values())


def test_a_translation_has_the_placeholders_of_its_message() -> None:
    for message, words in _catalogue().items():
        assert sorted(PLACEHOLDERS.findall(message)) == sorted(PLACEHOLDERS.findall(words)), message


def test_chinese_is_punctuated_and_spaced_as_chinese() -> None:
    for words in _catalogue().values():
        plain = PLACEHOLDERS.sub("日", words)
        assert not re.search(rf"{HAN}[,;:?!()]|[,;:?!()]{HAN}|\.\.\.", plain), words
        assert not re.search(rf"{HAN}[A-Za-z0-9]|[A-Za-z0-9]{HAN}", plain), words
        assert not re.search(r" [，。：；？！（）]|[，。：；？！（）] ", plain), words
