"""Cells that a spreadsheet does not run, and that come back as they were.

A cell that begins like a formula gets an apostrophe before it, which spreadsheets show as text; so does what follows a
semicolon, since a spreadsheet set to a language with decimal commas parts cells there too.
"""

import re

_STARTS = "=+\\-@\t\r＝＋－＠"
_BARE = re.compile(f"(^|;)('*)(?=[{_STARTS}])")
_KEPT = re.compile(f"(^|;)('*)'(?=[{_STARTS}])")


def guard(cell: str) -> str:
    """The cell with an apostrophe before whatever would run."""
    return _BARE.sub(r"\1\2'", cell)


def unguard(cell: str) -> str:
    """The cell as it was before :func:`guard`."""
    return _KEPT.sub(r"\1\2", cell) if "'" in cell else cell
