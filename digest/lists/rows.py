"""A list file -> rows under our own column names, whoever wrote it."""

from collections.abc import Iterator, Mapping

from digest.lists.cells import unguard
from digest.lists.headings import plain
from digest.lists.systems import System
from digest.lists.table import ListFile


def rows_of(file: ListFile, system: System | None) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Row number and cells by our column names. A line that can't be read stands as an address that nobody has."""
    names = [plain(one) for one in file.heading] if system else list(file.columns)
    address = file.columns.index("email")
    wanted = [(at, name) for at, name in enumerate(names) if name and at != address]
    wanted.append((address, "email"))
    for number, cells, fault in file.rows():
        if fault:
            yield number, {"email": f"({fault})"}
            continue
        count = len(cells)
        found = {name: unguard(cells[at]) if at < count else "" for at, name in wanted}
        yield number, system.read(found) if system else _mended(found)


def _mended(cells: dict[str, str]) -> Mapping[str, str]:
    """With the two parts of a name as one; a day of leaving is a state."""
    if cells.pop("left_at", "").strip():
        cells["status"] = cells.get("status", "").strip() or "unsubscribed"
    if "first_name" not in cells and "last_name" not in cells:
        return cells
    first, last = cells.pop("first_name", "").strip(), cells.pop("last_name", "").strip()
    parts = (last, first) if _is_han(last + first) else (first, last)
    gap = "" if _is_han(last + first) else " "
    return {**cells, "name": cells.get("name", "").strip() or gap.join(filter(None, parts))}


def _is_han(text: str) -> bool:
    """Whether the name is written as in Chinese: family name first, no gap."""
    return bool(text) and all("\u3400" <= c <= "\u9fff" for c in text)
