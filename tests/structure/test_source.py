"""Rules that every module keeps."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from digest.store.database import MIGRATIONS

ROOT = Path(__file__).parents[2]
MODULES = sorted([*(ROOT / "digest").rglob("*.py"), *(ROOT / "workers").rglob("*.py")])
LONGEST = 300
CLOCKS = {"now", "utcnow", "today", "time", "monotonic", "time_ns", "localtime", "gmtime"}
CLOCK_OWNERS = {"datetime", "date", "time"}
EDGES = ("digest/web/edge.py", "digest/cli/", "digest/main.py", "workers/")
LOG_METHODS = {"debug", "info", "warning", "warn", "error", "exception", "critical", "msg", "bind"}
ADDRESS_WORDS = re.compile(r"address(es)?|e?mail|recipients?|to_addr\w*|email_key", re.IGNORECASE)


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def calls(path: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield node


def test_there_are_modules_to_look_at() -> None:
    assert len(MODULES) > 50


@pytest.mark.parametrize("path", MODULES, ids=place)
def test_no_module_is_longer_than_a_reader_can_hold(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    exempt = "migrations/versions" in place(path) or place(path) == "digest/store/tables.py"
    assert lines <= LONGEST or exempt


@pytest.mark.parametrize("path", MODULES, ids=place)
def test_the_clock_is_read_at_the_edges_only(path: Path) -> None:
    """Elsewhere ``now`` is an argument; a stopwatch (monotonic) may time the network in providers and sources."""
    if place(path).startswith(EDGES):
        return
    waits_on_the_network = place(path).startswith(("digest/providers/", "digest/sources/", "digest/editors/"))
    for call in calls(path):
        method = call.func
        if not (isinstance(method, ast.Attribute) and method.attr in CLOCKS and isinstance(method.value, ast.Name)):
            continue
        is_stopwatch = method.attr == "monotonic" and waits_on_the_network
        assert method.value.id not in CLOCK_OWNERS or is_stopwatch, f"{place(path)}:{call.lineno}"


@pytest.mark.parametrize("path", MODULES, ids=place)
def test_no_address_is_given_to_a_log_call(path: Path) -> None:
    """What is masked may be; so may a count."""
    for call in calls(path):
        method = call.func
        if not (isinstance(method, ast.Attribute) and method.attr in LOG_METHODS and _is_log(method.value)):
            continue
        for value in [*call.args, *(keyword.value for keyword in call.keywords)]:
            assert not _names_an_address(value), f"{place(path)}:{call.lineno}"


def _is_log(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and "log" in ast.unparse(node).lower()


def _names_an_address(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and ast.unparse(node.func) in {"masked", "len"}:
        return False
    if isinstance(node, ast.Attribute) and ADDRESS_WORDS.fullmatch(node.attr):
        return True
    if isinstance(node, ast.Name) and ADDRESS_WORDS.fullmatch(node.id):
        return True
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "@" in node.value:
        return True
    return any(_names_an_address(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))


def test_migrations_are_numbered_in_one_line() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    scripts = ScriptDirectory.from_config(config)
    assert len(scripts.get_heads()) == 1
    revisions = [script.revision for script in scripts.walk_revisions()][::-1]
    assert revisions == [f"{number:04}" for number in range(1, len(revisions) + 1)]
    names = sorted(path.name for path in (MIGRATIONS / "versions").glob("*.py"))
    assert [name.partition("_")[0] for name in names] == revisions


def test_migrations_name_plain_types_so_that_an_old_one_never_changes() -> None:
    for path in (MIGRATIONS / "versions").glob("*.py"):
        assert "digest" not in {
            (node.module or "").partition(".")[0]
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom)
        }


def test_the_rule_about_addresses_can_fail() -> None:
    for code, is_address in (
        ("log.info('x', reader.address)", True),
        ("log.info(f'to {email}')", True),
        ("log.info('x', masked(address))", False),
        ("log.info('x', count=len(addresses))", False),
        ("log.info('reader@example.com')", True),
    ):
        call = ast.parse(code).body[0]
        assert isinstance(call, ast.Expr)
        assert isinstance(call.value, ast.Call)
        values = [*call.value.args, *(keyword.value for keyword in call.value.keywords)]
        assert any(_names_an_address(value) for value in values) is is_address
