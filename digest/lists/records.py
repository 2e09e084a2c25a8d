"""Lines to records, RFC 4180 as it is practised. A quotation mark that is never closed costs its own line, no other."""

import csv
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

MOST_LINES = 200
"""Lines of one record; beyond, its quotation mark was a slip."""
UNCLOSED = "a quotation mark is opened and never closed"


@dataclass(slots=True)
class _Lines:
    """Lines that can be given back, and those of the record that is being read."""

    rest: Iterator[str]
    again: deque[str] = field(default_factory=deque)
    taken: list[str] = field(default_factory=list)

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        if len(self.taken) >= MOST_LINES:
            raise csv.Error(UNCLOSED)
        line = self.again.popleft() if self.again else next(self.rest)
        self.taken.append(line)
        return line

    def give_back(self) -> None:
        """All but the first line of the record."""
        self.again.extendleft(reversed(self.taken[1:]))


def records(lines: Iterable[str], separator: str) -> Iterator[tuple[list[str], str]]:
    """The cells of each record, and what is wrong with it; a faulty one has no cells."""
    source = _Lines(iter(lines))
    reader = csv.reader(source, delimiter=separator)
    while True:
        source.taken.clear()
        try:
            cells, fault = next(reader), ""
        except StopIteration:
            return
        except csv.Error as error:
            cells, fault = [], str(error)
        if len(source.taken) > 1 and (fault or sum(line.count('"') for line in source.taken) % 2):
            cells, fault = [], fault or UNCLOSED
            source.give_back()
        yield cells, fault
