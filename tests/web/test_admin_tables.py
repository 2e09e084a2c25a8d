"""The rows behind the pages: looked at, never changed, cheap however many there are, masked for viewers."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event, insert

from digest.domain.event import EventKind
from digest.domain.suppression import SuppressionReason
from digest.store.subscribers import suppress
from digest.store.tables import Event, Letter
from digest.web.admin.tables import MOST, SHOWN
from tests.web.conftest import NOW, Site, copied, open_site
from tests.web.staff import EDITOR, STAFF, VIEWER, sign_in, words_of

TABLES = "/admin/tables"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Site]:
    """A site with a reader, an event that names its address, and more letters than a page or two."""
    folder = tmp_path_factory.mktemp("tables")
    site = open_site(copied(sqlite_template, folder), folder, **STAFF)
    reader = site.active("reader@example.com")
    row = {"kind": "welcome", "subscriber_id": reader, "language": "en", "state": "sent", "attempts": 1, "detail": ""}
    said = {
        "provider": "smtp",
        "identifier": "e1",
        "kind": EventKind.BOUNCED,
        "occurred_at": NOW,
        "received_at": NOW,
        "subscriber_id": reader,
        "detail": "550 <reader@example.com>: no such user",
        "raw": "To: reader@example.com",
    }
    with site.application.sessions.begin() as session:
        session.execute(insert(Letter), [row | {"created_at": NOW, "not_before_at": NOW}] * (MOST + 200))
        session.execute(insert(Event), [said])
        suppress(session, "barred@example.com", SuppressionReason.OPERATOR, NOW)
    yield site
    site.application.close()


def test_every_table_can_be_looked_at_and_none_written_to(desk: Site) -> None:
    owner = sign_in(desk)
    lists = re.findall(rf'href="({TABLES}/[a-z-]+/list)"', owner.get(TABLES).text)
    assert len(lists) == len(SHOWN)
    for path in lists:
        answer = owner.get(path)
        assert answer.status_code == 200, path
        assert not re.search(r"<script|<style|\sstyle=", answer.text), path
    for method, tail in (("POST", "create"), ("DELETE", "delete?pks=1"), ("POST", "edit/1"), ("GET", "export/csv")):
        assert owner.request(method, f"{TABLES}/subscriber/{tail}").status_code in {404, 405}, f"{method} {tail}"
    assert "reader@example.com" in owner.get(f"{TABLES}/subscriber/details/1").text


def test_sec_08_the_tables_are_as_shut_as_the_other_pages(desk: Site) -> None:
    client = desk.client()
    for path in (TABLES, f"{TABLES}/subscriber/list", f"{TABLES}/subscriber/details/1", f"{TABLES}/nothing/list"):
        answer = client.get(path)
        assert answer.status_code == 303, path
        assert answer.headers["Location"].startswith("/admin/login"), path
    assert client.get(f"{TABLES}/login").status_code == 404
    assert client.get(f"{TABLES}/statics/js/main.js").status_code == 404


def test_a_viewer_sees_no_address_in_any_cell(desk: Site) -> None:
    viewer, editor = sign_in(desk, VIEWER), sign_in(desk, EDITOR)
    for path in ("subscriber/list", "subscriber/details/1", "event/list", "event/details/1", "suppression/list"):
        assert "@example.com" in editor.get(f"{TABLES}/{path}").text, path
        assert not re.search(r"(reader|barred)@example\.com", viewer.get(f"{TABLES}/{path}").text), path
    assert "raw" not in words_of(viewer.get(f"{TABLES}/event/details/1").text)
    assert "To: reader@example.com" in words_of(editor.get(f"{TABLES}/event/details/1").text)


def test_a_long_table_is_read_by_its_key_and_counted_no_further_than_a_limit(desk: Site) -> None:
    owner, said = sign_in(desk), list[tuple[str, object]]()
    listen = lambda *args: said.append((args[2], args[3]))  # noqa: E731 - SQLAlchemy compares listeners by identity
    event.listen(desk.application.engine, "before_cursor_execute", listen)
    try:
        page = owner.get(f"{TABLES}/letter/list").text
        last = owner.get(f"{TABLES}/letter/list", params={"page": 999_999_999}).headers["Location"]
    finally:
        event.remove(desk.application.engine, "before_cursor_execute", listen)
    assert f"The newest {MOST} rows can be paged through" in words_of(page)
    assert last.endswith(f"page={MOST // 50}")
    counted = [(sql, values) for sql, values in said if "count(" in sql.lower()]
    assert counted
    assert all("LIMIT" in sql and MOST in tuple(values) for sql, values in counted)  # type: ignore[arg-type] # of numbers
    assert all("ORDER BY letters.id DESC" in sql for sql, _ in said if "FROM letters" in sql)
    assert owner.get(f"{TABLES}/letter/list", params={"sortBy": "created_at"}).status_code == 400


def test_a_search_is_for_one_exact_value_and_takes_no_address(desk: Site) -> None:
    owner = sign_in(desk)
    found = words_of(owner.get(f"{TABLES}/letter/list", params={"search": "1"}).text)
    assert "Find by subscriber_id" in found
    for odd in ("reader@example.com", "' OR 1=1 --", "9" * 40, "１", "%"):
        assert "0 rows" in words_of(owner.get(f"{TABLES}/subscriber/list", params={"search": odd}).text), odd
    for odd in ("x", "9" * 40, "-1", "1;2"):
        assert owner.get(f"{TABLES}/subscriber/details/{odd}").status_code == 404, odd
    assert owner.get(f"{TABLES}/subscriber/details/77").status_code == 404
    assert owner.get(f"{TABLES}/nothing/list").status_code == 404
