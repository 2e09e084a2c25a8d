import json

import pytest

from digest.sources.story_file import story_schema
from tests.cli.terminal import Terminal

AT = "2026-12-02T01:00:00Z"


def test_the_schema_is_printed_as_json(terminal: Terminal) -> None:
    assert json.loads(terminal.done("stories", "schema")) == story_schema()


def test_a_story_is_imported_listed_and_shown(either_terminal: Terminal) -> None:
    terminal = either_terminal
    terminal.stories(terminal.story("Chips", AT, topics=["Chips"]), terminal.story("Models", AT, language="zh"))
    listed = {row["title"]: row for row in terminal.read("stories", "list")}
    assert set(listed) == {"Chips", "Models 中文"}
    row = listed["Chips"]
    assert row == {
        "id": row["id"],
        "url": "https://news.example.com/chips",
        "title": "Chips",
        "language": "en",
        "source": "Example News",
        "published_at": AT,
        "score": row["score"],
    }
    assert 0 <= row["score"] <= 100
    shown = json.loads(terminal.done("stories", "show", row["id"]))
    assert shown["topics"] == ["chips"]
    assert shown["texts"]["zh"]["title"] == "Chips 中文"
    assert shown["texts"]["en"]["quick_answer"] == "Chips."
    assert sum(shown["score_parts"].values()) == row["score"]
    assert all(part["why"] for part in shown["score_why"].values())


def test_an_import_again_changes_and_adds_nothing(terminal: Terminal) -> None:
    record = terminal.story("Chips", AT)
    terminal.stories(record)
    record["texts"]["en"]["title"] = "Chips, corrected"
    path = terminal.write("again.jsonl", "\n".join([json.dumps(record), ""]))
    assert terminal.read("stories", "import", path) == {"new": 0, "known": 1}
    assert [row["title"] for row in terminal.read("stories", "list")] == ["Chips, corrected"]


def test_a_limit_keeps_the_newest(terminal: Terminal) -> None:
    terminal.stories(terminal.story("Old", "2026-12-01T01:00:00Z"), terminal.story("New", AT))
    assert [row["title"] for row in terminal.read("stories", "list", "--limit", "1")] == ["New"]
    assert "New" in terminal.done("stories", "list")


@pytest.mark.parametrize(
    ("damage", "value"),
    [
        ({"url": "javascript:alert(1)"}, "javascript:alert(1)"),
        ({"published_at": "yesterday"}, "yesterday"),
        ({"language": "fr"}, "fr"),
        ({"texts": {}}, "texts"),
        ({"texts": {"en": {"title": ""}}}, "title"),
        ({"titel": "Typo"}, "titel"),
    ],
)
def test_one_bad_record_is_one_line_and_nothing_is_stored(
    terminal: Terminal, damage: dict[str, object], value: str
) -> None:
    records = [terminal.story("Good", AT), terminal.story("Bad", AT) | damage]
    path = terminal.write("stories.json", json.dumps(records))
    line = terminal.refused("stories", "import", path)
    assert "record 2" in line
    assert value in line
    assert terminal.read("stories", "list") == []


@pytest.mark.parametrize("content", [b"", b"[{", b"\xff\xfe", b'{"url": 1}\nnot json\n'])
def test_a_file_that_holds_no_stories_is_one_line(terminal: Terminal, content: bytes) -> None:
    path = terminal.write("stories.json", content)
    assert "stories.json" in terminal.refused("stories", "import", path)
    assert terminal.read("stories", "list") == []


def test_what_is_not_there_is_said(terminal: Terminal) -> None:
    assert "missing.json" in terminal.refused("stories", "import", "missing.json")
    assert "7" in terminal.refused("stories", "show", "7", code=1)
    assert "“seven”" in terminal.refused("stories", "show", "seven")
