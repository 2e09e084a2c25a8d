"""The README's table of settings is held against the settings."""

import re
from pathlib import Path

import pytest
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from digest.settings import PREFIX, Settings

README = Path(__file__).parents[2] / "README.md"
ROW = re.compile(r"^\| `(DIGEST_[A-Z_]+|PORT)` \| (?:`([^`]*)`)? ?\| (.+) \|$", re.MULTILINE)
FIELDS = {str(field.validation_alias or PREFIX + name.upper()): field for name, field in Settings.model_fields.items()}


@pytest.fixture(scope="module")
def table() -> list[tuple[str, str, str]]:
    return ROW.findall(README.read_text(encoding="utf-8"))


def default_of(field: FieldInfo) -> str:
    default = field.get_default()
    if default is None or default is PydanticUndefined or hasattr(default, "get_secret_value"):
        return ""
    return str(default)


def test_the_readme_lists_every_setting_once_in_their_order(table: list[tuple[str, str, str]]) -> None:
    assert [name for name, _, _ in table] == list(FIELDS)


def test_the_readme_tells_the_default_of_every_setting(table: list[tuple[str, str, str]]) -> None:
    assert {name: default for name, default, _ in table} == {name: default_of(FIELDS[name]) for name in FIELDS}
