"""Plain text as it is laid out: wrapped by display width, lines broken where a reader of either script expects it.

Han text breaks between any two characters except where clreq (W3C, Requirements for Chinese Text Layout) forbids it.
"""

import re
from collections.abc import Iterator, Mapping

from wcwidth import iter_graphemes

from digest.rendering.clean import cells

WIDTH = 72
"""Columns, so that a reply's quote marks still fit in RFC 5322's 78."""
NO_BREAK_SPACE = "\u00a0"
NO_LINE_START = frozenset(NO_BREAK_SPACE + "，。、；：？！）》」』】〉〕”’…—·％%,.;:?!)]}")
NO_LINE_END = frozenset(NO_BREAK_SPACE + "（《「『【〈〔“‘([{")
_MARKER = re.compile(r" *(?:[-•] |\d{1,3}\. |\[\d{1,3}\] )?")
_PIECES = re.compile(r"https?://[!-~]+|[^\S\u00a0]+|(?:(?!https?://)[\S\u00a0])+")
_NUMBER_AND_UNIT = re.compile(
    r"(?<![\w-])(\d[\d.,:]*) (?=[\u3400-\u9fff\uf900-\ufaff]|[A-Za-z]{1,2}\b|(?:m|b|tr)illion\b)"
)
_STAND_IN = 0xFDD0
"""The first of the characters that Unicode keeps for use inside a program; clean() lets none in from outside."""


class NumberedLinks:
    """The addresses of a plain-text part, each with one number, in the order of first mention."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, url: str) -> int:
        """The number of the address, a new one at its first mention."""
        return self._numbers.setdefault(url, len(self._numbers) + 1)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return ((number, url) for url, number in self._numbers.items())

    def __len__(self) -> int:
        return len(self._numbers)


def lay_out(text: str, width: int = WIDTH, widths: Mapping[str, int] | None = None) -> str:
    """Every line of the text wrapped to ``width`` cells; three or more line ends in a row become two.

    Args:
        widths: words that stand for others, such as slot markers, and how wide what will replace them is.

    A line's indent and list mark (``- ``, ``1. ``, ``[1] ``) are kept and what follows hangs from them. Web addresses
    are never broken, so a line that is one address may be wider.
    """
    stand_ins = {word: chr(_STAND_IN + number) * wide for number, (word, wide) in enumerate((widths or {}).items())}
    for word, stand_in in stand_ins.items():
        text = text.replace(word, stand_in)
    lines = (wrapped for line in tied(text).split("\n") for wrapped in wrap(line.rstrip(), width))
    laid_out = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).replace(NO_BREAK_SPACE, " ").strip("\n") + "\n"
    for word, stand_in in stand_ins.items():
        laid_out = laid_out.replace(stand_in, word)
    return laid_out


def tied(text: str) -> str:
    """The text with a no-break space between each number and its unit: 50 万, 100 MB, 8:00 am."""
    return _NUMBER_AND_UNIT.sub(rf"\1{NO_BREAK_SPACE}", text)


def wrap(line: str, width: int = WIDTH) -> list[str]:
    """One paragraph as lines of at most ``width`` cells."""
    found = _MARKER.match(line)
    mark = found[0] if found else ""
    hanging = " " * cells(mark)
    lines = _fill(_units(line[len(mark) :], width - len(hanging)), width - len(hanging))
    return [(hanging if number else mark) + words for number, words in enumerate(lines)] if lines else [mark.rstrip()]


def _fill(units: list[tuple[str, str]], width: int) -> list[str]:
    """Lines from (space before, unbreakable unit) pairs, as full as they get."""
    lines: list[str] = []
    for space, unit in units:
        if lines and cells(lines[-1] + space + unit) <= width:
            lines[-1] += space + unit
        else:
            lines.append(unit)
    return lines


def _units(text: str, width: int) -> list[tuple[str, str]]:
    units: list[tuple[str, str]] = []
    space = ""
    for piece in _PIECES.findall(text):
        if piece.isspace():
            space = " "
            continue
        for atom in _bound(list(_atoms(piece, width))):
            units.append((space, atom))
            space = ""
    return units


def _atoms(word: str, width: int) -> Iterator[str]:
    """The word cut at every Han character, and by clusters where it is wider than a line; an address stays whole."""
    if word.startswith(("http://", "https://")):
        yield word
        return
    run = ""
    for cluster in iter_graphemes(word):
        wide = cells(cluster) > 1
        if run and (wide or cells(run + cluster) > width):
            yield run
            run = ""
        if wide:
            yield cluster
        else:
            run += cluster
    if run:
        yield run


def _bound(atoms: list[str]) -> list[str]:
    """Atoms joined where no line may break: before closing marks and after opening ones."""
    joined: list[str] = []
    for atom in atoms:
        if joined and (atom[0] in NO_LINE_START or joined[-1][-1] in NO_LINE_END):
            joined[-1] += atom
        else:
            joined.append(atom)
    return joined
