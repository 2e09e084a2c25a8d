"""Imports point one way, and a machine says so."""

import ast
import sys
from pathlib import Path

from importlinter import cli
from importlinter.application.use_cases import read_user_options

ROOT = Path(__file__).parents[2]
DIGEST = ROOT / "digest"


def imported(path: Path) -> set[str]:
    """The top-level names of what a module imports, with their full dotted names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return found | {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


def test_contracts_are_configured() -> None:
    options = read_user_options(config_filename=str(ROOT / "pyproject.toml"))
    assert {contract["type"] for contract in options.contracts_options} & {"layers", "forbidden"}
    assert set(options.session_options["root_packages"]) >= {"digest", "workers"}


def test_the_contracts_hold() -> None:
    assert cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == cli.EXIT_STATUS_SUCCESS


def test_the_domain_uses_the_standard_library_only() -> None:
    for path in sorted((DIGEST / "domain").glob("*.py")):
        foreign = {
            name
            for name in imported(path)
            if name.partition(".")[0] not in sys.stdlib_module_names and not name.startswith("digest.domain.")
        }
        assert foreign == set(), path.name


def test_nothing_is_imported_inside_a_function() -> None:
    """An import there hides an arrow between rooms."""
    for path in sorted([*DIGEST.rglob("*.py"), *(ROOT / "workers").rglob("*.py")]):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = [
            node.lineno
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef)
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        assert inside == [], path.name


def test_no_room_is_called_after_nothing() -> None:
    names = {path.stem for path in [*DIGEST.rglob("*"), *(ROOT / "workers").rglob("*")]}
    assert not names & {"utils", "helpers", "manager", "common", "misc"}
