"""A file of separated values as it comes: any of the usual character sets and separators, read a piece at a time."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path

from digest.domain.address import mend_address
from digest.domain.errors import BadInputError
from digest.lists.charset import charset_of, named_charset
from digest.lists.headings import columns_of, told
from digest.lists.records import records

SEPARATORS = (",", ";", "\t", "|")
_HINT = "sep="
_ALL_PRINTABLE = str.maketrans({"\ufeff": None, "\0": None})


@dataclass(slots=True)
class Reading:
    """How far the reading of a file is; of another thread's, too."""

    size: int = 0
    done: int = 0


@dataclass(frozen=True, slots=True)
class ListFile:
    """A list whose first line is understood.

    Attributes:
        charset: Python's name.
        heading: the file's own words; one made up where the file is bare addresses.
        columns: our name of each column, empty for one that is passed over.
        first_row: the row number of the first reader, as a spreadsheet counts.
    """

    path: Path
    charset: str
    separator: str
    heading: tuple[str, ...]
    columns: tuple[str, ...]
    first_row: int
    reading: Reading = field(default_factory=Reading)

    def rows(self) -> Iterator[tuple[int, list[str], str]]:
        """Row number, cells and fault of each row that is not empty."""
        with self.path.open("rb", buffering=1 << 18) as file:
            text = TextIOWrapper(file, self.charset, errors="replace", newline="")
            found = records(text, self.separator)
            for _ in range(self.first_row - 1):
                next(found, None)
            for number, (cells, fault) in enumerate(found, self.first_row):
                if not number & 1023:
                    self.reading.done = file.tell()
                if fault or any(cell and not cell.isspace() for cell in cells):
                    yield number, cells, fault
            self.reading.done = self.reading.size


def open_list(path: Path, chosen: Mapping[str, str], encoding: str = "") -> ListFile:
    """Look at a file's bytes and its first line.

    Args:
        chosen: our name of a column -> the file's, where the operator says so.
        encoding: the character set, where the operator says so.

    Raises:
        BadInputError: it can't be read, or no column holds the addresses.
    """
    try:
        charset = named_charset(encoding) if encoding else charset_of(path)
        size = path.stat().st_size
    except OSError as error:
        raise BadInputError("file", path, f"can't be read: {error.strerror or 'unknown reason'}.") from error
    separator, skipped, heading = _first_line(path, charset)
    columns, first = columns_of(heading, chosen), skipped + 2
    if "email" not in columns:
        columns, heading, first = _bare(path, heading, charset), ("email",), first - 1
    return ListFile(path, charset, separator, heading, columns, first, Reading(size))


def _first_line(path: Path, charset: str) -> tuple[str, int, tuple[str, ...]]:
    """The separator, how many lines come before the heading, and the heading."""
    with path.open("rb") as file:
        text = TextIOWrapper(file, charset, errors="replace", newline="")
        lines, separator, skipped = iter(text), "", 0
        line = next(lines, "")
        while line and not line.strip(" \t\r\n,;|\ufeff"):
            line, skipped = next(lines, ""), skipped + 1
        if line.lower().startswith(_HINT):
            separator, line, skipped = line[len(_HINT) : len(_HINT) + 1], next(lines, ""), skipped + 1
    separator = separator or _separator(line)
    row = next(csv.reader([line.translate(_ALL_PRINTABLE)], delimiter=separator), [])
    return separator, skipped, tuple(cell.strip() for cell in row)


def _separator(line: str) -> str:
    """What parts the heading so that a column of addresses comes out, else what parts it most."""
    parted = {one: next(csv.reader([line], delimiter=one), []) for one in SEPARATORS}
    found = [one for one in SEPARATORS if "email" in columns_of(parted[one], {})]
    return max(found or SEPARATORS, key=lambda one: len(parted[one]))


def _bare(path: Path, heading: tuple[str, ...], charset: str) -> tuple[str, ...]:
    """The columns of a file that is addresses and nothing else, one a line.

    Raises:
        BadInputError: it is something else.
    """
    if len(heading) == 1 and "@" in mend_address(heading[0]).strip("@"):
        return ("email",)
    has = f"it has {told(heading)}" if any(heading) else "it is empty"
    raise BadInputError(
        "file",
        path,
        f"has no column email, read as {charset}: {has}. Name the column with --column 'email=ITS HEADING'.",
    )
