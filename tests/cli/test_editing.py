"""``digest stories edit|pin|hide|order|schedule|correct`` and the preview that shows what they did."""

import json

import pytest
import time_machine

from tests.cli.conftest import NOW
from tests.cli.terminal import Terminal

AT = "2026-12-02T02:00:00Z"


@pytest.fixture
def stocked(terminal: Terminal, clock: time_machine.Traveller) -> Terminal:
    clock.move_to(AT)
    terminal.stories(*(terminal.story(title, AT, topics=[topic]) for title, topic in STORIES.items()))
    clock.move_to(NOW)
    return terminal


STORIES = {"Chips": "chips", "Rules": "policy", "Robots": "robotics"}


def ids(terminal: Terminal) -> dict[str, int]:
    return {row["title"]: row["id"] for row in terminal.read("stories", "list")}


def preview(terminal: Terminal, *options: str) -> str:
    out = terminal.folder / "preview"
    where = ("--timezone", "Asia/Shanghai", "--date", "tomorrow", "--out", out)
    terminal.done("brief", "preview", "--no-sheet", *where, *options)
    return (out / "brief.txt").read_text(encoding="utf-8")


def test_a_field_is_changed_and_a_list_takes_one_line_each(stocked: Terminal) -> None:
    chips = ids(stocked)["Chips"]
    fields = ["--set", "en.quick_answer=A = b.", "--set", "zh.key_points=一。", "--set", "zh.key_points=二。"]
    stocked.done("stories", "edit", chips, *fields, "--topic", "Policy")
    shown = json.loads(stocked.done("stories", "show", chips))
    assert shown["texts"]["en"]["quick_answer"] == "A = b."
    assert shown["texts"]["zh"]["key_points"] == ["一。", "二。"]
    assert shown["topics"] == ["policy"]
    file = stocked.write("texts.json", json.dumps({"en": {"title": "Chips again"}}))
    assert stocked.read("stories", "edit", chips, "--file", file) == {"id": chips}
    assert "Chips again" in ids(stocked)


def test_pinned_placed_and_hidden_stories_show_in_tomorrows_preview(stocked: Terminal) -> None:
    known = ids(stocked)
    stocked.done("stories", "pin", known["Robots"])
    stocked.done("stories", "order", known["Rules"], known["Chips"])
    text = preview(stocked)
    assert text.index("1. Robots") < text.index("2. Rules") < text.index("3. Chips")
    stocked.done("stories", "hide", known["Robots"])
    assert "Robots" not in preview(stocked)
    assert stocked.read("stories", "hide", known["Robots"], "--undo")["hidden"] is False
    assert stocked.read("stories", "pin", known["Robots"], "--undo")["pinned"] is False
    assert "1. Rules" in preview(stocked)
    assert stocked.read("stories", "order") == {"ids": []}


def test_a_preview_is_that_of_a_reader_of_those_topics(stocked: Terminal) -> None:
    followed, muted = preview(stocked, "--topics", "chips,policy"), preview(stocked, "--topics", "-chips")
    assert ("Chips" in followed, "Rules" in followed, "Robots" in followed) == (True, True, False)
    assert ("Chips" in muted, "Rules" in muted, "Robots" in muted) == (False, True, True)


def test_a_scheduled_story_waits_for_its_instant(stocked: Terminal) -> None:
    chips = ids(stocked)["Chips"]
    stocked.done("stories", "schedule", chips, "2026-12-05T00:00:00Z")
    assert "Chips" not in preview(stocked)
    assert stocked.refused("stories", "schedule", chips, "2020-01-01T00:00:00Z").startswith("at:")


def test_a_correction_of_what_nobody_got_tells_nobody(stocked: Terminal) -> None:
    chips = ids(stocked)["Chips"]
    done = stocked.read("stories", "correct", chips, "--set", "en.title=Chips, mended", "--note-en", "It was wrong.")
    assert done == {"id": chips, "correction": None, "briefs": 0}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("edit", "1"), "changes nothing"),
        (("edit", "1", "--set", "title=x"), "title=x"),
        (("edit", "1", "--set", "en.titel=x"), "texts.en.titel"),
        (("edit", "1", "--set", "fr.title=x"), "texts.fr"),
        (("edit", "1", "--file", "missing.json"), "missing.json"),
        (("schedule", "1", "soon"), "soon"),
    ],
)
def test_what_can_not_be_done_is_one_line(stocked: Terminal, arguments: tuple[str, ...], words: str) -> None:
    assert words in stocked.refused("stories", *arguments)


def test_a_story_that_is_not_there_is_said_so(stocked: Terminal) -> None:
    for arguments in (("pin", "999"), ("hide", "999"), ("order", "999"), ("edit", "999", "--set", "en.title=x")):
        assert "no story 999" in stocked.refused("stories", *arguments, code=1)


def test_without_a_writer_nobody_writes_and_flags_are_listed(stocked: Terminal) -> None:
    assert "DIGEST_EDITOR=chat" in stocked.refused("stories", "write", code=1)
    assert stocked.read("stories", "list", "--flagged") == []
    stocked.sql("UPDATE stories SET flag = 'not in the source: en: 9' WHERE id = 1")
    assert [row["flag"] for row in stocked.read("stories", "list", "--flagged")] == ["not in the source: en: 9"]
