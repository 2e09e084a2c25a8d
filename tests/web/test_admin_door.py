"""Who gets into the staff's pages, how, for how long, and what they may."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError
from sqlalchemy import func, select

from digest.domain.errors import BadInputError
from digest.domain.language import Language
from digest.domain.staff import ActKind, parse_staff
from digest.settings import Settings
from digest.steps.edit_stories import AlreadySentError
from digest.store.tables import Act
from digest.web.admin.desk import COOKIE
from digest.web.admin.pages import ROUTERS
from digest.web.admin.refusals import refusal_words
from digest.web.admin.session import Cookies, new_session
from tests.web.conftest import KEY, NOW, Make, Site, copied, open_site
from tests.web.staff import EDITOR, OWNER, STAFF, VIEWER, send, sign_in, words_of


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Site]:
    """One site for all: sessions and readers of one test are nothing to another."""
    folder = tmp_path_factory.mktemp("staff")
    site = open_site(copied(sqlite_template, folder), folder, **STAFF)
    yield site
    site.application.close()


@pytest.fixture
def door(desk: Site) -> Site:
    """The same site with a process of its own, which has counted no tries yet."""
    return Site(desk.application)


def acts(site: Site, after: int = 0) -> list[tuple[str, str, str, str]]:
    with site.application.sessions() as session:
        rows = session.scalars(select(Act).where(Act.id > after).order_by(Act.id))
        return [(row.who, row.kind.value, row.target, row.outcome) for row in rows]


def last_act(site: Site) -> int:
    with site.application.sessions() as session:
        return session.scalar(select(func.max(Act.id))) or 0


def test_sec_08_no_page_and_no_act_of_the_staff_is_open_without_a_session(desk: Site) -> None:
    client = desk.client()
    routes = [
        (method, re.sub(r"\{\w+\}", "1", getattr(route, "path", "")))
        for router in ROUTERS
        for route in router.routes
        for method in getattr(route, "methods", ())
        if getattr(route, "path", "") != "/admin/login"
    ]
    assert len(routes) > 30
    assert all(path.startswith("/admin") for _, path in routes)
    for method, path in routes:
        answer = client.request(method, path)
        assert answer.status_code == 303, f"{method} {path}"
        assert answer.headers["Location"].startswith("/admin/login"), path


def test_where_nobody_may_sign_in_there_is_nothing(site: Site) -> None:
    assert site.client().get("/admin").status_code == 404
    assert site.client().get("/admin/login").status_code == 404
    assert site.client().post("/admin/login", data={"token": ""}).status_code == 404


def test_a_token_opens_a_session_in_a_cookie_that_scripts_and_other_pages_do_not_get(make_site: Make) -> None:
    site = make_site(**STAFF, base_url="https://brief.example.com/daily", provider="smtp", smtp_url="smtp://localhost")
    answer = site.client().post("/admin/login", data={"token": OWNER})
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/daily/admin"} <= set(cookie.split("; "))
    assert OWNER not in cookie
    assert answer.headers["Location"] == "/daily/admin"


def test_a_wrong_token_opens_nothing_and_too_many_tries_are_stopped_even_with_the_right_one(door: Site) -> None:
    client, before = door.client(), last_act(door)
    statuses = [client.post("/admin/login", data={"token": f"wrong-{n}"}).status_code for n in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    answer = client.post("/admin/login", data={"token": OWNER})
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0
    assert acts(door, before) == [("nobody", "sign_in_refused", "", "done")] * 10


def test_sec_01_a_sign_in_leads_to_our_own_pages_only(door: Site) -> None:
    for place in (
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "/admin/../x",
        "/admin?evil",
        "/admin//evil",
    ):
        answer = door.client().post("/admin/login", data={"token": OWNER, "next": place})
        assert answer.headers["Location"] == "/admin", place
        assert "evil" not in door.client().get("/admin/login", params={"next": place}).text
    answer = door.client().post("/admin/login", data={"token": OWNER, "next": "/admin/readers/7"})
    assert answer.headers["Location"] == "/admin/readers/7"


def test_a_session_ends_after_half_an_hour_without_a_page_and_after_a_shift_in_any_case(desk: Site) -> None:
    client = sign_in(desk)
    for _ in range(16):
        desk.later(minutes=29)
        assert client.get("/admin/sending").status_code == 200
    desk.later(minutes=29)
    assert client.get("/admin/sending").status_code == 303
    client = sign_in(desk)
    desk.later(minutes=31)
    assert client.get("/admin/sending").status_code == 303
    desk.now = NOW


def test_a_cookie_is_worth_nothing_once_its_token_or_role_has_changed_or_a_bit_of_it(desk: Site) -> None:
    before, now = parse_staff(f"desk:editor:{EDITOR}"), desk.now
    cookie = Cookies([KEY], before).write(new_session(before[0], now))
    assert Cookies([KEY], before).read(cookie, now) is not None
    for after in (f"desk:owner:{EDITOR}", f"desk:editor:{EDITOR}x", f"other:editor:{EDITOR}"):
        assert Cookies([KEY], parse_staff(after)).read(cookie, now) is None
    assert Cookies(["another-key-of-enough-length"], before).read(cookie, now) is None
    assert Cookies(["a-newer-key-of-enough-length", KEY], before).read(cookie, now) is not None
    assert Cookies([KEY], before).read(cookie[:-3] + "xxx", now) is None


def test_a_form_from_elsewhere_does_nothing(desk: Site) -> None:
    client, other = sign_in(desk), sign_in(desk)
    theirs = re.findall(r'name="csrf" value="([^"]+)"', other.get("/admin/sending").text)[0]
    own = re.findall(r'name="csrf" value="([^"]+)"', client.get("/admin/sending").text)[0]
    for fields in ({}, {"csrf": ""}, {"csrf": theirs}, {"csrf": "…"}):
        assert client.post("/admin/sending", data={"paused": "yes", **fields}).status_code == 403
    away = {"Sec-Fetch-Site": "cross-site"}
    assert client.post("/admin/sending", data={"paused": "yes", "csrf": own}, headers=away).status_code == 403
    assert client.post("/admin/login", data={"token": OWNER}, headers=away).status_code == 403
    assert "Sending is on" in client.get("/admin/sending").text


def test_each_role_may_what_those_before_it_may_and_no_more(desk: Site) -> None:
    viewer, editor, owner = (sign_in(desk, token) for token in (VIEWER, EDITOR, OWNER))
    reader = desk.active("reader@example.com")
    page = f"/admin/readers/{reader}"
    assert "r***@example.com" in viewer.get(page).text
    assert "reader@example.com" not in viewer.get(page).text
    assert "reader@example.com" in editor.get(page).text
    for client, expected in ((viewer, 403), (editor, 403), (owner, 303)):
        csrf = re.findall(r'name="csrf" value="([^"]+)"', client.get(page).text)[0]
        answer = client.post(f"{page}/end", data={"csrf": csrf})
        assert answer.status_code == expected
        if expected == 403:
            assert "this takes the role owner" in words_of(answer.text)
            assert client.get(f"{page}/export").status_code == 403
            in_chinese = client.get(f"{page}/export?lang=zh")
            assert f"这一步需要所有者权限，而你是{'查看者' if client is viewer else '编辑'}" in words_of(
                in_chinese.text
            )
    assert owner.get(f"{page}/export").json()["subscriber"]["state"] == "ended"


def test_every_act_is_written_down_with_who_and_how_it_went_and_without_addresses(door: Site) -> None:
    client, before, reader = door.client(), last_act(door), door.active("gone@example.com")
    client.post("/admin/login", data={"token": OWNER})
    send(client, "/admin/sending", "/admin/sending", paused="yes", why="trying it")
    send(client, "/admin/sending", "/admin/sending", paused="no")
    send(client, f"/admin/readers/{reader}", f"/admin/readers/{reader}/erase", address="other@example.com")
    send(client, f"/admin/readers/{reader}", f"/admin/readers/{reader}/erase", address=" Gone@example.com ")
    send(client, "/admin/suppressions", "/admin/suppressions", address="somebody@example.com")
    assert send(client, "/admin/acts", "/admin/logout").headers["Location"] == "/admin/login"
    target = f"subscriber {reader}"
    assert acts(door, before) == [
        ("admin", "signed_in", "", "done"),
        ("admin", "sending_paused", "", "done"),
        ("admin", "sending_resumed", "", "done"),
        ("admin", "reader_seen", target, "done"),
        ("admin", "reader_seen", target, "done"),
        ("admin", "reader_erased", target, "done"),
        ("admin", "address_barred", "", "done"),
        ("admin", "signed_out", "", "done"),
    ]
    assert not client.cookies.get(COOKIE)
    with door.application.sessions() as session:
        kept = [str(row.__dict__) for row in session.scalars(select(Act))]
    assert not any("@" in row for row in kept)
    page = words_of(sign_in(door).get("/admin/acts").text)
    assert page.index("suppressed an address") < page.index("erased a reader") < page.index("paused the sending")


def test_an_act_that_could_not_be_done_says_so_in_the_log(desk: Site) -> None:
    client = sign_in(desk)
    csrf = re.findall(r'name="csrf" value="([^"]+)"', client.get("/admin/sending").text)[0]
    answer = client.post("/admin/batches/7/retry", data={"csrf": csrf})
    assert answer.status_code == 409
    assert "batch 7 is not unknown, failed or late" in words_of(answer.text)
    assert acts(desk)[-1] == ("admin", ActKind.BATCH_RETRIED.value, "batch 7", "refused")
    in_chinese = client.post("/admin/batches/7/retry?lang=zh", data={"csrf": csrf})
    assert "批次 7 的状态不是结果不明、失败或过晚，什么都没有更改" in words_of(in_chinese.text)


def test_a_refusal_is_told_in_the_language_of_whoever_tried() -> None:
    told = {
        AlreadySentError("story 7 is in a brief already"): "这篇报道已经编进简报，不会发给任何人第二次。",
        BadInputError(
            "at", "2027-06-09", "has passed: name an instant to come."
        ): "这个时刻已经过去，请选一个将来的时刻。",
        BadInputError("texts.en.title", "", "is missing: a text has a title."): "每种语言的文本都要有标题。",
        BadInputError("topics", "x", "is too long."): "topics：“x”无法使用（is too long.）",
    }
    for error, words in told.items():
        assert refusal_words(error, Language.CHINESE) == words
    assert refusal_words(BadInputError("topics", "x", "is too long."), Language.ENGLISH) == "topics: “x” is too long."


def test_staff_that_is_not_well_formed_stops_the_start_without_telling_a_token() -> None:
    long = "token-of-enough-length"
    for staff, fault in (
        ("desk:editor", "entry 1"),
        (f"desk:king:{long}", "entry 1"),
        ("desk:editor:short", "shorter than 16"),
        (f"a:viewer:{long}1,a:editor:{long}2", "one name twice"),
        (f"a:viewer:{long},b:editor:{long}", "one token twice"),
    ):
        with pytest.raises(ValidationError) as told:
            Settings(_env_file=None, staff=staff)
        words = str(told.value.errors()[0]["msg"])
        assert fault in words
        assert long not in words
