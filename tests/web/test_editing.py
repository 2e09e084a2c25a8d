"""The editorial API: shut without a token, and everything an editor does behind it."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from digest.store.acts import newest_acts
from tests.web.conftest import Make, Site

TOKEN = "an-admin-token-of-enough-length"
PATH = "/api/v1/stories"
RECORD = {
    "url": "https://news.example.com/berths",
    "source": "City News",
    "language": "en",
    "published_at": "2026-12-02T02:00:00Z",
    "slug": "berths",
    "texts": {"en": {"title": "Berths", "quick_answer": "9 berths."}},
}
OTHER = RECORD | {"url": "https://news.example.com/cranes", "slug": "cranes", "texts": {"en": {"title": "Cranes"}}}


@pytest.fixture
def desk(make_site: Make) -> Site:
    return make_site(admin_token=TOKEN)


@pytest.fixture
def editor(desk: Site) -> TestClient:
    return desk.client(Authorization=f"Bearer {TOKEN}")


def add(editor: TestClient) -> int:
    assert editor.post(PATH, json=RECORD).json() == {"new": 1, "known": 0}
    return int(next(row["id"] for row in editor.get(PATH).json() if row["title"] == "Berths"))


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}])
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", ""), ("POST", ""), ("PUT", "/order"), ("GET", "/1"), ("PATCH", "/1"), ("POST", "/1/correction")],
)
def test_nothing_is_told_or_done_without_the_token(desk: Site, headers: dict[str, str], method: str, path: str) -> None:
    answer = desk.client(**headers).request(method, PATH + path, content=b"{")
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_where_no_token_is_set_there_is_nothing(site: Site) -> None:
    for token in ("", TOKEN):
        assert site.client(Authorization=f"Bearer {token}").get(PATH).status_code == 404


def test_a_story_is_added_listed_and_shown(editor: TestClient) -> None:
    story_id = add(editor)
    shown = editor.get(f"{PATH}/{story_id}").json()
    assert shown["texts"]["en"]["quick_answer"] == "9 berths."
    assert (shown["pinned"], shown["position"]) == (False, None)
    editor.post(PATH, json=[OTHER])
    assert [len(editor.get(f"{PATH}?limit={limit}").json()) for limit in (1, 2)] == [1, 2]
    assert editor.get(f"{PATH}?flagged=1").json() == []


def test_texts_topics_and_places_are_changed_in_one_request(editor: TestClient, desk: Site) -> None:
    story_id = add(editor)
    change: dict[str, Any] = {
        "texts": {"zh": {"title": "泊位", "key_points": ["14 个泊位。"]}, "en": {"quick_answer": "14 berths."}},
        "topics": ["policy"],
        "pinned": True,
        "enters_at": "2026-12-02T12:00:00+08:00",
    }
    shown = editor.patch(f"{PATH}/{story_id}", json=change).json()
    assert shown["texts"]["zh"]["key_points"] == ["14 个泊位。"]
    assert (shown["texts"]["en"]["title"], shown["texts"]["en"]["quick_answer"]) == ("Berths", "14 berths.")
    assert (shown["topics"], shown["pinned"], shown["enters_at"]) == (["policy"], True, "2026-12-02T04:00:00Z")
    editor.patch(f"{PATH}/{story_id}", json={"hidden": True})
    desk.later(hours=2)
    assert desk.client().get("/stories/berths").status_code == 404
    editor.patch(f"{PATH}/{story_id}", json={"hidden": False})
    assert desk.client().get("/stories/berths").status_code == 200


def test_stories_are_put_in_order(editor: TestClient) -> None:
    editor.post(PATH, json=[RECORD, OTHER])
    first, second = (row["id"] for row in editor.get(f"{PATH}?limit=2").json())
    assert editor.put(f"{PATH}/order", json={"ids": [second, first]}).status_code == 200
    assert [editor.get(f"{PATH}/{i}").json()["position"] for i in (first, second)] == [2, 1]
    assert editor.put(f"{PATH}/order", json={"ids": [second, 10**6]}).status_code == 409


def test_a_correction_reaches_those_who_got_the_story(editor: TestClient, desk: Site) -> None:
    story_id = add(editor)
    desk.active()
    for hours in (20.9, 0.2):
        desk.later(hours=hours)
        desk.turn()
    correction = {"texts": {"en": {"quick_answer": "14 berths."}}, "notes": {}}
    assert editor.post(f"{PATH}/{story_id}/correction", json=correction).status_code == 422
    correction["notes"] = {"en": "We wrote 9 berths; there are 14."}
    done = editor.post(f"{PATH}/{story_id}/correction", json=correction).json()
    assert done["briefs"] == 1
    assert "We wrote 9 berths" in desk.client().get("/stories/berths?lang=en").text


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"texts": {"fr": {"title": "x"}}}, "texts.fr"),
        ({"texts": {"en": {"title": ""}}}, "texts.en.title"),
        ({"pinned": "yes"}, "pinned"),
        ({"enters_at": "2026-12-02"}, "enters_at"),
        ({"enters_at": "2020-12-02T00:00:00Z"}, "at"),
        ({"score": 100}, "score"),
        ([], "body"),
    ],
)
def test_a_change_that_can_not_be_made_names_its_field(editor: TestClient, change: object, field: str) -> None:
    story_id = add(editor)
    answer = editor.patch(f"{PATH}/{story_id}", content=json.dumps(change))
    assert (answer.status_code, answer.json()["field"]) == (422, field)


def test_what_is_not_there_is_not_found(editor: TestClient) -> None:
    for story_id in (10**6, 0, 2**70):
        assert editor.get(f"{PATH}/{story_id}").status_code == 404
        assert editor.patch(f"{PATH}/{story_id}", json={}).status_code == 404
    assert editor.patch(f"{PATH}/1", content=b"{").status_code == 422


def test_staff_who_may_edit_get_in_by_their_own_token_and_what_they_do_is_written_down(make_site: Make) -> None:
    site = make_site(staff="desk:editor:desk-token-of-enough-length,guest:viewer:guest-token-long-enough")
    assert site.client(Authorization="Bearer guest-token-long-enough").get(PATH).status_code == 403
    editor = site.client(Authorization="Bearer desk-token-of-enough-length")
    story_id = add(editor)
    editor.patch(f"{PATH}/{story_id}", json={"pinned": True})
    untitled = {"notes": {}, "texts": {"zh": {"quick_take": "没有标题。"}}}
    assert editor.post(f"{PATH}/{story_id}/correction", json=untitled).status_code == 422
    with site.application.sessions() as session:
        acts = [(row.who, row.kind.value, row.target, row.outcome) for row in newest_acts(session, 9)]
    assert acts == [
        ("desk", "story_corrected", f"story {story_id}", "refused"),
        ("desk", "story_edited", f"story {story_id}", "done"),
        ("desk", "stories_added", "", "done"),
    ]


def test_guessing_tokens_is_slowed_down(desk: Site) -> None:
    statuses = {desk.client(Authorization=f"Bearer {n}").get(PATH).status_code for n in range(62)}
    assert statuses == {401, 429}
