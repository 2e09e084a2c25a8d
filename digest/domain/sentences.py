"""Sentences of plain text in English and Chinese: split, joined again, and cut to a width."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

EXCERPT_WIDTH = 300
"""Columns of an excerpt: 300 Latin characters or 150 Han."""

_ABBREVIATIONS = (
    "mr mrs ms dr prof sr jr st mt gen gov sen rep capt col lt rev hon vs etc inc ltd corp co fig figs eq vol ed al "
    "approx dept est jan feb mar apr jun jul aug sep sept oct nov dec e.g i.e a.m p.m u.s u.k u.n ph.d"
)
_KNOWN_ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())
_CLOSERS = "”’」』）)》】\"'"
_END = re.compile(
    rf"(?P<wide>[。！？]+[{_CLOSERS}]*)"
    rf"|(?P<latin>[.!?]+[{_CLOSERS}]*)(?=\s+[\"'“‘(\[]*[A-Z0-9\u2e80-\u9fff])"
    rf"|(?P<glued>(?<=[a-z]{{3}})[.!?]+[{_CLOSERS}]*)(?=[A-Z][a-z])"
)
_LAST_WORD = re.compile(r"[\w.]+$")
_WIDE_EDGE = re.compile(r"[\u2e80-\u9fff\uff00-\uffef“”‘’…—]")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_DANGLING = " ,;:，、；：（(《“‘「『【[-–—"


def han_share(text: str) -> float:
    """Which part of the letters in ``text`` is Han, 0 to 1; 0 where there are no letters."""
    letters = sum(map(str.isalpha, text))
    return len(_HAN.findall(text)) / letters if letters else 0.0


def width(text: str) -> int:
    """Columns the text takes where a Han or full-width character takes two (Unicode Standard Annex 11)."""
    return len(text) if text.isascii() else sum(map(_columns, text))


@lru_cache(maxsize=16_384)
def _columns(character: str) -> int:
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def sentences(text: str) -> list[str]:
    """The sentences of plain text, in order; a line feed always ends one.

    A full stop ends a sentence only before what can begin one, and not after an abbreviation or an initial.
    """
    return [sentence for line in text.splitlines() for sentence in _of_line(line.strip())]


def joined(parts: Iterable[str]) -> str:
    """The sentences as running text: a space between them except beside Han and full-width punctuation."""
    text = ""
    for part in parts:
        gap = " " if text and not (_WIDE_EDGE.match(text[-1]) and _WIDE_EDGE.match(part[:1])) else ""
        text += gap + part
    return text


def excerpt(text: str, limit: int = EXCERPT_WIDTH) -> str:
    """The first sentences of ``text`` that fit into ``limit`` columns.

    Where that would leave less than a third of the room filled, the next sentence follows as far as it fits, cut
    between words, with an ellipsis.
    """
    kept: list[str] = []
    for sentence in sentences(text):
        whole = joined([*kept, sentence])
        if width(whole) <= limit:
            kept.append(sentence)
            continue
        return cut(whole, limit) if width(joined(kept)) < limit / 3 else joined(kept)
    return joined(kept)


def cut(text: str, limit: int) -> str:
    """``text`` if it fits into ``limit`` columns, else its beginning, cut between words, and an ellipsis."""
    if width(text) <= limit:
        return text
    end, columns = 0, 0
    while columns + width(text[end]) <= limit - 2:
        columns += width(text[end])
        end += 1
    head = text[: _word_end(text, end)].rstrip(_DANGLING)
    return head + ("……" if _HAN.search(head[-1:]) else "…")


def _word_end(text: str, end: int) -> int:
    inside_word = text[end - 1 : end].isascii() and text[end - 1 : end + 1].isalnum()
    if not inside_word:
        return end
    start = re.search(r"[A-Za-z0-9]+$", text[:end])
    return start.start() if start and start.start() > end // 2 else end


def _of_line(line: str) -> list[str]:
    found: list[str] = []
    start = 0
    for match in _END.finditer(line):
        if match["latin"] == "." and _is_abbreviation(line[start : match.start()], line[match.end() :]):
            continue
        found.append(line[start : match.end()].strip())
        start = match.end()
    return [sentence for sentence in [*found, line[start:].strip()] if sentence]


def _is_abbreviation(before: str, after: str) -> bool:
    last = _LAST_WORD.search(before)
    word = last[0].lower() if last else ""
    is_initial = len(word) == 1 and word.isascii() and word.isalpha()
    is_number_sign = word == "no" and after.lstrip()[:1].isdecimal()
    return word in _KNOWN_ABBREVIATIONS or is_initial or is_number_sign
