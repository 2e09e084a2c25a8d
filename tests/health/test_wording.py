"""What the checks find, in Chinese: every finding has its words, and they reach pages and letters."""

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

from babel.messages.pofile import read_po

import digest
from digest.domain.language import Language
from digest.domain.notice import BETWEEN, Value, notice
from digest.health.findings import CHECKS, fault, from_text, to_text
from digest.health.wording import CHECK_AND_WORDS, finding_line
from digest.rendering.catalogue import catalogue_path

DIGEST = Path(digest.__file__).parent
SPEAKERS = [*sorted((DIGEST / "health").glob("*.py")), DIGEST / "providers" / "probes.py"]
PLACE_OF_WORDS = {"ok": 1, "warning": 1, "fault": 1, "notice": 0}


def calls() -> Iterator[tuple[str, ast.Call]]:
    for path in SPEAKERS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PLACE_OF_WORDS:
                yield f"{path.name}:{node.lineno}", node


def words_of(call: ast.Call) -> object:
    assert isinstance(call.func, ast.Name)
    words = call.args[PLACE_OF_WORDS[call.func.id]]
    return words.value if isinstance(words, ast.Constant) else None


def catalogue() -> dict[str, str]:
    with catalogue_path(Language.CHINESE, "health").open("rb") as file:
        entries = read_po(file, locale="zh_Hans")
    assert not [entry.id for entry in entries if entry.fuzzy and entry.id]
    return {str(entry.id): str(entry.string) for entry in entries if entry.id}


def gaps(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name)


def test_every_finding_and_every_check_has_its_chinese_words_and_none_is_left_over() -> None:
    found = [(where, words_of(call)) for where, call in calls()]
    assert len(found) > 100
    assert not [where for where, words in found if not isinstance(words, str)], "not written out in the call"
    said = {str(words) for _, words in found} | {*CHECKS, BETWEEN, CHECK_AND_WORDS}
    assert said == set(catalogue())
    assert all(catalogue().values())


def test_every_check_that_is_looked_at_is_among_the_checks() -> None:
    firsts = [call.args[0] for _, call in calls() if len(call.args) > 1]
    named = {str(first.value) for first in firsts if isinstance(first, ast.Constant)}
    assert len(named) > 10
    assert named <= set(CHECKS)


def test_chinese_words_keep_the_gaps_and_the_commands() -> None:
    for message, words in catalogue().items():
        assert gaps(message) == gaps(words), message
        for part in message.split():
            if part.startswith(("DIGEST_", "p=")):
                assert part.rstrip("’s,:;)") in words, (message, part)


def test_a_finding_is_kept_and_told_in_either_language() -> None:
    names: list[Value] = [notice("{name} ({error})", name="Gone feed", error="410"), "Quiet feed"]
    said = notice("{names} and {number} more", names=names, number="3")
    words = "{lead}, so the next brief has nothing; failing: {names}: digest sources list"
    found = fault("sources", words, lead=notice("no new story yet"), names=said)
    (kept,) = from_text(to_text([found]))
    assert kept == found
    assert kept.words == (
        "no new story yet, so the next brief has nothing; failing: Gone feed (410), Quiet feed and 3 more: "
        "digest sources list"
    )
    assert finding_line(kept, Language.ENGLISH) == f"sources: {kept.words}"
    assert finding_line(kept, Language.CHINESE) == (
        "来源：还没有任何新报道，下一份简报将没有内容；出错的来源：Gone feed（410）、Quiet feed，另有 3 个；"
        "请用 digest sources list 查看"
    )
    assert from_text('[{"check": "disk", "state": "ok", "words": "of an older version"}]') == []


def test_what_somebody_else_said_is_quoted_and_never_taken_for_a_gap() -> None:
    said = notice("{name} ({error})", name="{0} 100%", error="{error.__class__} %s {")
    (kept,) = from_text(
        to_text([fault("sources", "{number} feeds; failing just now: {names}", number="1", names=said)])
    )
    assert kept.words == "1 feeds; failing just now: {0} 100% ({error.__class__} %s {)"
    assert finding_line(kept, Language.CHINESE) == "来源：1 个来源；眼下出错的：{0} 100%（{error.__class__} %s {）"


def test_what_was_kept_and_cannot_be_told_is_passed_over() -> None:
    gaps_without_values = (
        '["{why}", {}]',
        '["{0}", {}]',
        '["{why.x}", {"why": "y"}]',
        '["{", {}]',
        '["{why:d}", {"why": "y"}]',
    )
    others = ('"words"', '["", {}]', '["a", []]', "[1, {}]", '{"all": ["a"]}', "[" * 100_000)
    for kept in (*gaps_without_values, *others):
        assert from_text(f'[["disk", "fault", {kept}]]') == []
    for text in ("", "null", "1", "[1]", '["abc"]', "{}", '[["disk", "fault"]]', '[["disk", "?", ["a", {}]]]'):
        assert from_text(text) == []
