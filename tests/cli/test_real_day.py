"""Without any network an installation makes of real feeds a brief that a person would read."""

import re
import socket

import pytest

from tests.cli.terminal import Terminal
from tests.real_day import DAYS, EXAMPLES, read_feeds, write_brief

TITLE = re.compile(r"^(\d+)\. ", re.MULTILINE)


@pytest.fixture
def offline(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """The six feeds read from files, with every way to the network shut."""

    def refuse(*_: object) -> None:
        raise AssertionError("something asked for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    read_feeds()
    return terminal


def test_the_day_makes_a_decent_brief_in_both_languages(offline: Terminal) -> None:
    english = write_brief("en", offline.folder / "en", *DAYS["en"])
    assert "1. NVIDIA, US Government to Boost AI Infrastructure" in english
    squeezed = " ".join(english.split())
    assert "NVIDIA will join the U.S. Department of Energy’s (DOE) Genesis Mission" in squeezed
    assert english.count("\n   - ") >= 3
    # A heading that the feed runs into its sentence, and sentences that lean on what was said before.
    assert "Announce MOU In addition" not in squeezed
    assert not re.search(r"^   (?:- )?(?:Plus|Additionally|Moreover|For example),", english, re.MULTILINE)

    chinese = write_brief("zh", offline.folder / "zh", *DAYS["zh"])
    assert "Kimi K3 将于第三季度推出" in chinese
    joined = re.sub(r"\n\s*", "", chinese)
    assert "月之暗面计划于第三季度推出的 KimiK3 大模型，其参数规模达到 2.5 万亿" in joined
    assert not re.search(r"[\u4e00-\u9fff][A-Za-z0-9]", joined.partition("链接")[0].replace("4月30日", ""))


@pytest.mark.parametrize(("name", "stories"), [("en-2025-12-19", 9), ("zh-2025-12-19", 9), ("zh-2026-04-30", 2)])
def test_examples_are_kept_where_people_look(name: str, stories: int) -> None:
    example = (EXAMPLES / f"brief-{name}.txt").read_text(encoding="utf-8")
    assert len(TITLE.findall(example)) == stories
