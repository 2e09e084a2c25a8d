"""What became of the rows of a list."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

One = TypeVar("One")
MOST_TOLD = 1000
"""Rows that are named one by one; a file of nothing but faults must not fill the memory."""


class Verdict(StrEnum):
    """What became of a row."""

    IMPORTED = "imported"
    UPDATED = "updated"
    KNOWN = "known"
    SKIPPED = "skipped"
    """A known reader who ended or has not confirmed: an import neither revives nor hurries anyone."""
    DUPLICATE = "duplicate"
    """An earlier row of the file has the address."""
    SUPPRESSED = "suppressed"
    BARRED = "barred"
    """The row only says that the address must not be written to, which holds from now on."""
    REFUSED = "refused"


@dataclass(slots=True)
class Imported:
    """The rows in numbers; the first of those that made no reader by row number and reason.

    Attributes:
        known: readers who were there before, those who were updated or skipped among them.
        skipped: of these, the ones an update would not touch either, by why.
        letters: confirmations that are owed now.
    """

    new: int = 0
    known: int = 0
    updated: int = 0
    repeated: int = 0
    suppressed: int = 0
    barred: int = 0
    letters: int = 0
    refused_rows: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    by_status: Counter[str] = field(default_factory=Counter)
    refused: list[tuple[int, str]] = field(default_factory=list)
    duplicates: list[int] = field(default_factory=list)
    passed_over: list[tuple[int, str]] = field(default_factory=list)

    def note(self, number: int, verdict: Verdict, why: str) -> None:
        """Count one row."""
        match verdict:
            case Verdict.IMPORTED:
                self.new += 1
            case Verdict.DUPLICATE:
                self.repeated += 1
                _tell(self.duplicates, number)
            case Verdict.REFUSED:
                self.refused_rows += 1
                _tell(self.refused, (number, why))
            case Verdict.SUPPRESSED:
                self.suppressed += 1
                _tell(self.passed_over, (number, why))
            case Verdict.BARRED:
                self.barred += 1
            case Verdict.KNOWN | Verdict.UPDATED | Verdict.SKIPPED:
                self._note_known(number, verdict, why)

    def _note_known(self, number: int, verdict: Verdict, why: str) -> None:
        self.known += 1
        self.updated += verdict is Verdict.UPDATED
        if verdict is Verdict.SKIPPED:
            self.skipped[why] += 1
            _tell(self.passed_over, (number, why))


def _tell(kept: list[One], one: One) -> None:
    if len(kept) < MOST_TOLD:
        kept.append(one)
