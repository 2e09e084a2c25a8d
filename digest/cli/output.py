"""What commands print: one JSON document or a table, and one line per failure."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def print_json(value: Any) -> None:  # noqa: ANN401 - any JSON value
    """One JSON document on standard output; dates and instants in ISO 8601, instants with Z."""
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2, default=str)
    sys.stdout.write("\n")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table for people."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*("" if cell is None else str(cell) for cell in row))
    Console(highlight=False, soft_wrap=not sys.stdout.isatty()).print(table)


def say(line: str) -> None:
    """A line of the result, for people."""
    sys.stdout.write(line + "\n")


def warn(line: str) -> None:
    """A line beside the result."""
    sys.stderr.write(line + "\n")
