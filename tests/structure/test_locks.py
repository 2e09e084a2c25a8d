"""The lock files agree with each other and with pyproject.toml, and name no address to fetch from."""

import re
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-extras.lock", "requirements-runtime.lock")
PIN = re.compile(r"^(?P<name>[a-z0-9.-]+)(?:\[[a-z0-9,-]+\])?==(?P<version>\S+)(?P<rest>.*(?:\n    .*)*)", re.MULTILINE)
NAME = re.compile(r"[A-Za-z0-9._-]+")


def pins(lock: str) -> dict[str, str]:
    found = PIN.finditer((PROJECT / lock).read_text(encoding="utf-8"))
    return {pin["name"]: pin["version"] + pin["rest"] for pin in found}


def names(requirements: list[str | dict[str, str]]) -> set[str]:
    found = [NAME.match(one) for one in requirements if isinstance(one, str)]
    return {re.sub(r"[._-]+", "-", one[0]).lower() for one in found if one}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_line_of_a_lock_belongs_to_a_pin_with_hashes_and_no_address(lock: str) -> None:
    text = (PROJECT / lock).read_text(encoding="utf-8")
    assert PIN.sub("", text).strip() == ""
    assert "://" not in text
    assert all("--hash=sha256:" in rest for rest in pins(lock).values())


def test_the_runtime_lock_pins_what_the_full_lock_pins() -> None:
    full, extras, runtime = (pins(lock) for lock in LOCKS)
    assert runtime.items() <= extras.items() <= full.items()


def test_what_the_project_asks_for_is_locked() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    asked, groups = names(project["project"]["dependencies"]), project["dependency-groups"]
    assert asked | names(groups["build"]) <= set(pins("requirements-runtime.lock"))
    assert asked | names(groups["build"]) | names(groups["dev"]) <= set(pins("requirements.lock"))
