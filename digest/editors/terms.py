"""Reads the glossary that editors keep in ``emails/terms.toml``."""

import tomllib
from pathlib import Path
from typing import Any

from digest.domain.glossary import Glossary, Term
from digest.domain.language import Language


def read_glossary(path: Path) -> Glossary:
    """The glossary in a file.

    Raises:
        ValueError: the file is no TOML, or a term has no English name.
    """
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return Glossary(tuple(_term(row) for row in document.get("term", [])), frozenset(document.get("common", [])))


def _term(row: dict[str, Any]) -> Term:
    if not row.get("en"):
        raise ValueError(f"a term of the glossary has no English name: {row}")
    names = {Language.ENGLISH: row["en"], Language.CHINESE: row.get("zh", row["en"])}
    avoided = {language: tuple(row.get(f"avoid_{language}", ())) for language in Language}
    spellings = (*names.values(), *row.get("also", ()), *(word for words in avoided.values() for word in words))
    return Term(names, tuple(dict.fromkeys(spellings)), avoided)
