"""The words by which a text is found, and those of a question: Latin words, and Han in pieces of one and two signs.

Chinese has no gaps between words, and neither SQLite nor PostgreSQL brings a way to find them. Pairs of neighbouring
signs find every passage that holds the question's signs in their order, without a dictionary.
"""

import re
import unicodedata

HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_RUN = re.compile(rf"[{HAN}]+|(?:(?![{HAN}])[^\W_])+")
_IS_HAN = re.compile(rf"[{HAN}]")
MOST_WORDS = 24
"""Of a question; nobody types more on purpose."""
LONGEST_WORD = 64
SHORTEST_BEGINNING = 3
"""Letters; a shorter Latin word is looked for as it is, a longer one also as the beginning of others."""


def _runs(text: str) -> list[str]:
    return [run[:LONGEST_WORD] for run in _RUN.findall(unicodedata.normalize("NFKC", text).casefold())]


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def search_words(*texts: str) -> str:
    """The words of ``texts`` with a space between them, each once, in their order."""
    found: dict[str, None] = {}
    for text in texts:
        for run in _runs(text):
            found.update(dict.fromkeys([*run, *_pairs(run)] if _IS_HAN.match(run) else [run]))
    return " ".join(found)


def question_words(text: str) -> list[tuple[str, bool]]:
    """The words that must all be there, and for each whether a longer word that begins so will do as well."""
    found: dict[str, bool] = {}
    for run in _runs(text):
        if _IS_HAN.match(run):
            found.update(dict.fromkeys(_pairs(run) or [run], False))
        else:
            found[run] = len(run) >= SHORTEST_BEGINNING
    return list(found.items())[:MOST_WORDS]
