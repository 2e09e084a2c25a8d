"""The real feeds as an installation without any network reads them, and the briefs of a day made of them.

Run as a program, with the folder of whole feeds, it writes the examples in ``docs/examples``; those kept here for the
tests are cut to a few items.
"""

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


def write_brief(language: str, out: Path) -> str:
    """Preview the brief of that language's day; returns its text."""
    zone, day = DAYS[language]
    command("brief", "preview", "--language", language, "--timezone", zone, "--date", day, "--out", out)
    return (out / "brief.txt").read_text(encoding="utf-8")


def write_examples(feeds: Path) -> None:
    """Make the examples anew, with an address and a publisher that are nobody's."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DIGEST_DATABASE_URL"] = f"sqlite:///{folder}/digest.db"
        os.environ["DIGEST_SECRET_KEYS"] = "a-key-for-examples-only"
        os.environ["DIGEST_POSTAL_ADDRESS"] = "1 Example Street, Westhaven"
        read_feeds(feeds)
        EXAMPLES.mkdir(parents=True, exist_ok=True)
        for language, (_, day) in DAYS.items():
            text = write_brief(language, Path(folder) / language)
            words = text.partition("\nLinks\n" if language == "en" else "\n链接\n")[0]
            (EXAMPLES / f"brief-{language}-{day}.txt").write_text(words.rstrip("- \n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_examples(Path(sys.argv[1]))
