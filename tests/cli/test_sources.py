from pathlib import Path

import pytest

from tests.cli.terminal import Terminal

FEEDS = Path(__file__).parents[1] / "sources" / "feeds"
NAMES = ("aibase_daily", "anthropic", "deepseek_news", "google", "nvidia", "openai")
ADDRESS = "https://feeds.example.com/{}.xml"


def add(terminal: Terminal, name: str, *options: str) -> dict[str, object]:
    row: dict[str, object] = terminal.read("sources", "add", ADDRESS.format(name), "--name", name, *options)
    return row


def test_a_source_is_added_listed_and_removed_with_its_stories(terminal: Terminal) -> None:
    added = add(terminal, "anthropic", "--language", "en", "--topic", "Models", "--topic", "agents")
    assert added == {
        "id": added["id"],
        "name": "anthropic",
        "url": "https://feeds.example.com/anthropic.xml",
        "language": "en",
        "topics": "agents,models",
        "fetched_at": None,
        "error": "",
        "rest": None,
        "full_text": False,
        "weight": 0.6,
    }
    assert terminal.read("sources", "list") == [added]
    terminal.read("sources", "fetch", "anthropic", "--file", FEEDS / "anthropic.xml")
    assert len(terminal.read("stories", "list")) == 3
    assert "Removed anthropic." in terminal.done("sources", "remove", str(added["id"]))
    assert terminal.read("sources", "list") == terminal.read("stories", "list") == []


def test_the_six_real_feeds_are_read_from_their_files_once(either_terminal: Terminal) -> None:
    terminal = either_terminal
    for name in NAMES:
        add(terminal, name)
        wanted = ("sources", "fetch", name, "--file", FEEDS / f"{name}.xml")
        assert terminal.read(*wanted) == [{"source": name, "new": 3, "known": 0, "notes": [], "error": ""}]
        assert terminal.read(*wanted) == [{"source": name, "new": 0, "known": 3, "notes": [], "error": ""}]
    stories = terminal.read("stories", "list")
    assert len(stories) == 18
    assert {story["language"] for story in stories} == {"en", "zh"}
    assert {row["fetched_at"] for row in terminal.read("sources", "list")} == {"2026-12-02T03:00:00Z"}


def test_people_are_told_what_to_do_next(terminal: Terminal) -> None:
    assert "digest sources fetch" in terminal.done("sources", "add", ADDRESS.format("a"))
    assert "feeds.example.com" in terminal.done("sources", "list")
    terminal.done("sources", "fetch", "--file", FEEDS / "openai.xml")


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["ftp://feeds.example.com/a.xml"], "ftp://feeds.example.com/a.xml"),
        (["feeds.example.com"], "feeds.example.com"),
        (["https://feeds.example.com/a.xml", "--language", "klingon"], "klingon"),
        (["https://feeds.example.com/known.xml"], "https://feeds.example.com/known.xml"),
        (["https://feeds.example.com/b.xml", "--name", "known"], "known"),
    ],
)
def test_a_source_that_cannot_be_added_is_one_line_and_leaves_nothing(
    terminal: Terminal, arguments: list[str], value: str
) -> None:
    add(terminal, "known")
    assert f"“{value}”" in terminal.refused("sources", "add", *arguments)
    assert len(terminal.read("sources", "list")) == 1


def test_a_source_that_is_not_there_cannot_be_fetched_or_removed(terminal: Terminal) -> None:
    for command in ("fetch", "remove"):
        assert "“nobody”" in terminal.refused("sources", command, "nobody")


def test_a_file_needs_the_one_source_it_came_from(terminal: Terminal) -> None:
    for name in NAMES[:2]:
        add(terminal, name)
    line = terminal.refused("sources", "fetch", "--file", FEEDS / "openai.xml", code=1)
    assert "name it" in line


@pytest.mark.parametrize("content", [b"<html><body>Log in</body></html>", b"", b"\x00\xff"])
def test_a_file_that_is_no_feed_is_one_line_and_stores_nothing(terminal: Terminal, content: bytes) -> None:
    add(terminal, "anthropic")
    path = terminal.write("feed.xml", content)
    assert "feed" in terminal.refused("sources", "fetch", "anthropic", "--file", path)
    assert terminal.read("stories", "list") == []


def test_a_file_that_is_not_there_is_bad_input(terminal: Terminal) -> None:
    add(terminal, "anthropic")
    assert "nothing.xml" in terminal.refused("sources", "fetch", "anthropic", "--file", "nothing.xml")


def test_a_feed_that_cannot_be_reached_is_shown_with_its_error_and_exit_1(terminal: Terminal) -> None:
    terminal.read("sources", "add", "http://127.0.0.1:9/feed.xml", "--name", "inside")
    (row,) = terminal.read("sources", "fetch", code=1)
    assert (row["source"], row["new"]) == ("inside", 0)
    assert "127.0.0.1" in row["error"]
    assert terminal.read("sources", "list")[0]["error"] == row["error"]
