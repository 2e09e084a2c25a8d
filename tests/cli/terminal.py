"""A terminal: commands run in this process, and what each left on its two outputs."""

import json
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from digest.cli.main import main
from digest.steps.import_subscribers import COLUMNS


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Terminal:
    """Runs commands as a person or a script would, in a folder of the test's own."""

    folder: Path
    database_url: str
    patch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: object) -> Ended:
        self.capture.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = self.capture.readouterr()
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, out, err)

    def set(self, **settings: object) -> None:
        """Settings by their name without the prefix, as an operator exports them."""
        for name, value in settings.items():
            self.patch.setenv(f"DIGEST_{name.upper()}", str(value))

    def done(self, *arguments: object) -> str:
        """The standard output of a command that must work."""
        ended = self(*arguments)
        assert ended.code == 0, ended.err
        return ended.out

    def read(self, *arguments: object, code: int = 0) -> Any:  # noqa: ANN401 - any JSON value
        """The one JSON document of a command that must end with ``code`` and say nothing beside it."""
        ended = self(*arguments, "--json")
        assert (ended.code, ended.err) == (code, ""), ended
        return json.loads(ended.out)

    def read_file(self, *arguments: object) -> Any:  # noqa: ANN401 - any JSON value
        """The JSON document that a command writes to the file that is its last argument."""
        path = self.folder / "document.json"
        self.done(*arguments, path)
        return json.loads(path.read_text(encoding="utf-8"))

    def refused(self, *arguments: object, code: int = 2) -> str:
        """The one line on standard error of a command that must not work; nothing is on standard output."""
        ended = self(*arguments)
        assert (ended.code, ended.out) == (code, ""), ended
        assert ended.err.endswith("\n")
        (line,) = ended.err.splitlines()
        assert line.startswith("digest: ")
        return line.removeprefix("digest: ")

    def write(self, name: str, content: str | bytes) -> Path:
        """A file in the terminal's folder."""
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def readers(self, *rows: str) -> None:
        """Import these rows of a list."""
        path = self.write("readers.csv", "\n".join([",".join(COLUMNS), *rows, ""]))
        assert self.read("subscribers", "import", path)["errors"] == []

    def story(self, title: str, at: str, **extra: object) -> dict[str, Any]:
        """A record of an import file, in both languages."""
        slug = title.lower().replace(" ", "-")
        texts = {"en": {"title": title, "quick_answer": f"{title}."}, "zh": {"title": f"{title} 中文"}}
        record = {"url": f"https://news.example.com/{slug}", "source": "Example News", "language": "en"}
        return {**record, "published_at": at, "texts": texts, **extra}

    def stories(self, *records: dict[str, Any]) -> None:
        """Import these stories."""
        path = self.write("stories.json", json.dumps(records, ensure_ascii=False))
        assert self.read("stories", "import", path)["new"] == len(records)

    def sql(self, script: str) -> None:
        """Run SQL on the SQLite database behind the program's back, foreign keys unwatched."""
        connection = sqlite3.connect(self.database_url.removeprefix("sqlite:///"))
        try:
            connection.executescript(script)
            connection.commit()
        finally:
            connection.close()


def forget_settings(patch: pytest.MonkeyPatch) -> None:
    """Take the settings of whoever runs the tests out of the environment."""
    for name in [name for name in os.environ if name.startswith("DIGEST_") or name == "PORT"]:
        patch.delenv(name)
