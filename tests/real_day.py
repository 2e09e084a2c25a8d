"""The real feeds as an installation without any network reads them, and the briefs of a day made of them.

Run as a program, with the folder of whole feeds, it writes the examples in ``docs/examples``; those kept here for the
tests are cut to a few items. The English day has a Chinese brief too: with what an editor wrote for it.
"""

import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path

from digest.cli.main import main

FEEDS = Path(__file__).parent / "sources" / "feeds"
EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
SOURCES = {
    "openai": ("OpenAI", "en"),
    "anthropic": ("Anthropic", "en"),
    "google": ("Google AI", "en"),
    "nvidia": ("NVIDIA", "en"),
    "deepseek_news": ("DeepSeek", "zh"),
    "aibase_daily": ("AIbase", "zh"),
}
DAYS = {"en": ("UTC", "2025-12-19"), "zh": ("Asia/Shanghai", "2026-04-30")}
"""Language -> zone and date of its example; the feeds were saved months apart."""


def command(*arguments: object) -> None:
    """Run one command of the product; raises where it fails."""
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(f"{arguments} ended with {ended.code}") from ended


def read_feeds(folder: Path = FEEDS) -> None:
    """Add the sources and read their saved documents."""
    for file, (name, language) in SOURCES.items():
        command("sources", "add", f"https://feeds.example.com/{file}.xml", "--name", name, "--language", language)
        command("sources", "fetch", name, "--file", folder / f"{file}.xml")


def write_brief(language: str, out: Path, zone: str, day: str) -> str:
    """Preview the brief of a day; returns its text."""
    command("brief", "preview", "--language", language, "--timezone", zone, "--date", day, "--out", out)
    return (out / "brief.txt").read_text(encoding="utf-8")


def edit_day(day: str) -> None:
    """Give the stories of a day the Chinese texts that an editor wrote for it, by the command."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        command("stories", "list", "--limit", 500, "--json")
    ids = {story["url"]: story["id"] for story in json.loads(printed.getvalue())}
    for texts in json.loads((EXAMPLES / f"editing-zh-{day}.json").read_text(encoding="utf-8")):
        story_id = ids[texts.pop("url")]
        lines = [(name, line) for name, said in texts.items() for line in ([said] if isinstance(said, str) else said)]
        settings = [word for name, line in lines for word in ("--set", f"zh.{name}={line}")]
        command("stories", "edit", story_id, *settings)


def write_examples(feeds: Path) -> None:
    """Make the examples anew, with an address and a publisher that are nobody's."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DIGEST_DATABASE_URL"] = f"sqlite:///{folder}/digest.db"
        os.environ["DIGEST_SECRET_KEYS"] = "a-key-for-examples-only"
        os.environ["DIGEST_POSTAL_ADDRESS"] = "1 Example Street, Westhaven"
        read_feeds(feeds)
        EXAMPLES.mkdir(parents=True, exist_ok=True)
        for language, (zone, day) in DAYS.items():
            _keep(write_brief(language, Path(folder), zone, day), language, day)
        zone, day = DAYS["en"]
        edit_day(day)
        _keep(write_brief("zh", Path(folder), zone, day), "zh", day)


def _keep(text: str, language: str, day: str) -> None:
    words = text.partition("\nLinks\n" if language == "en" else "\n链接\n")[0]
    (EXAMPLES / f"brief-{language}-{day}.txt").write_text(words.rstrip("- \n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_examples(Path(sys.argv[1]))
