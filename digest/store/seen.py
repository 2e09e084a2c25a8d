"""Which keys were seen before, of more than fit into memory."""

import sqlite3
from collections.abc import Iterable


class Seen:
    """A set of strings in a file of the operating system's temporary folder, gone with the object."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", check_same_thread=False)
        self._database.execute("CREATE TABLE seen (key TEXT PRIMARY KEY) WITHOUT ROWID")
        self._database.execute("CREATE TABLE asked (key TEXT)")

    def repeats(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys that an earlier call had; from now on all of them are."""
        database = self._database
        database.execute("DELETE FROM asked")
        database.executemany("INSERT INTO asked VALUES (?)", ((key,) for key in keys))
        found = {key for (key,) in database.execute("SELECT key FROM asked WHERE key IN (SELECT key FROM seen)")}
        database.execute("INSERT OR IGNORE INTO seen SELECT key FROM asked")
        return found

    def close(self) -> None:
        """Give the file back."""
        self._database.close()
