"""What the documents link to is there."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
DOCUMENTS = [PROJECT / "README.md", PROJECT / "CHANGELOG.md", *sorted((PROJECT / "docs").rglob("*.md"))]
LINK = re.compile(r"""\]\(([^)\s#]+)(?:#[^)]*)?\)|(?:src|href)="([^"#]+)""")


def test_there_are_links_to_look_at() -> None:
    assert sum(len(LINK.findall(one.read_text(encoding="utf-8"))) for one in DOCUMENTS) > 100


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: str(one.relative_to(PROJECT)))
def test_every_relative_link_leads_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    targets = [one or other for one, other in LINK.findall(text)]
    missing = [to for to in targets if not re.match(r"[a-z]+:|/", to) and not (document.parent / to).exists()]
    assert missing == []
