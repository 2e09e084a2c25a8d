"""The report on an import: a row per row of the file."""

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def report_file(path: Path | None) -> Iterator[Callable[[int, str, str], None] | None]:
    """What writes row number, verdict and reason to a CSV file; None where none is wanted. It holds no address."""
    if path is None:
        yield None
        return
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("row", "result", "reason"))
        yield lambda number, verdict, reason: writer.writerow((number, verdict, reason))
