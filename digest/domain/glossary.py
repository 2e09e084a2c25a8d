"""Names and terms that are called the same every day, in both languages."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from digest.domain.language import Language


@dataclass(frozen=True, slots=True)
class Term:
    """One name or term.

    Attributes:
        names: what the brief calls it, by language.
        spellings: how sources write it, in either language; the names among them.
        avoided: what the brief does not call it, by language; replaced where a text does.
    """

    names: Mapping[Language, str]
    spellings: tuple[str, ...]
    avoided: Mapping[Language, tuple[str, ...]]


@dataclass(frozen=True)
class Glossary:
    """All terms.

    Attributes:
        common: Latin words that are no names though they are written like one (AI, CEO).
    """

    terms: tuple[Term, ...] = ()
    common: frozenset[str] = frozenset()

    @cached_property
    def _spelled(self) -> list[tuple[Term, re.Pattern[str]]]:
        return [(term, _pattern(term.spellings)) for term in self.terms]

    def found_in(self, text: str) -> list[Term]:
        """The terms that a text names."""
        return [term for term, pattern in self._spelled if pattern.search(text)]

    def in_house_style(self, text: str, language: Language) -> str:
        """The text with every avoided name replaced by the brief's."""
        for term in self.terms:
            if avoided := term.avoided.get(language):
                text = _pattern(avoided).sub(term.names[language], text)
        return text


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    ordered = sorted(words, key=len, reverse=True)
    # Han has no gaps, so only a Latin edge has to be the edge of a word.
    pieces = (f"{_edge(word[0], '<!')}{re.escape(word)}{_edge(word[-1], '!')}" for word in ordered)
    return re.compile("|".join(pieces))


def _edge(letter: str, side: str) -> str:
    return f"(?{side}[A-Za-z0-9])" if letter.isascii() and letter.isalnum() else ""
