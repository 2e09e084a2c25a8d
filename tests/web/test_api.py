"""The API: what its description says is so, and people can read it."""

import re
from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from digest.domain.language import Language
from digest.rendering.catalogue import translations
from digest.steps import read_archive
from digest.web.api_pages import OPENAPI
from tests.web.conftest import BLOG, Site

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance]
OPEN = {
    "/api/v1/subscriptions",
    "/api/v1/next-brief",
    "/api/v1/briefs",
    "/api/v1/briefs/{date}/{language}",
    "/api/v1/search",
}
EXAMPLES_OF_EACH = 10


def test_no_call_that_the_description_allows_or_forbids_is_a_failure_of_ours(library: Site) -> None:
    schema = schemathesis.openapi.from_asgi(OPENAPI, library.app)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert {operation.path for operation in operations} >= OPEN
    answered: set[tuple[str, int]] = set()
    for operation in operations:
        for mode in schemathesis.GenerationMode:

            @given(case=operation.as_strategy(generation_mode=mode))
            @settings(
                max_examples=EXAMPLES_OF_EACH,
                database=None,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            def call(case: schemathesis.Case) -> None:
                answer = case.call_and_validate(checks=CHECKS)
                answered.add((case.operation.path, answer.status_code))

            call()
    # Neither refused at the door alone, nor by never being asked anything.
    assert {path for path, status in answered if status < 300} >= {"/api/v1/next-brief", "/api/v1/search"}
    assert {path for path, status in answered if status == 422} >= {"/api/v1/subscriptions", "/api/v1/search"}


def test_a_brief_and_the_archive_are_read_as_json(library: Site) -> None:
    client = library.client()
    month = client.get("/api/v1/briefs").json()
    assert (month["month"], month["months"]) == ("2026-12", ["2026-12", "2026-11"])
    assert [(one["date"], one["language"]) for one in month["briefs"]] == [("2026-12-02", "en"), ("2026-12-02", "zh")]
    brief = client.get("/api/v1/briefs/2026-11-30/zh").json()
    assert brief["title"] == brief["stories"][0]["title"]
    assert brief["reading_minutes"] >= 1
    for story in brief["stories"]:
        assert story["language"] == "zh"
        assert client.head(story["url"]).status_code == 200
    assert client.get("/api/v1/briefs/2026-11-29/zh").status_code == 404
    assert client.get("/api/v1/briefs?month=2026-10").json()["detail"] == "There is no brief of that month."
    wrong = client.get("/api/v1/briefs/yesterday/fr")
    assert (wrong.status_code, wrong.headers["content-type"]) == (422, "application/problem+json")
    assert [error["field"] for error in wrong.json()["errors"]] == ["date", "language"]


def test_the_search_tells_stories_in_the_language_asked_for_and_where_to_go_on(
    library: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_archive, "PER_PAGE", 2)
    client, seen = library.client(), list[str]()
    address = "/api/v1/search?q=%E6%A8%A1%E5%9E%8B&lang=en"
    while address:
        page = client.get(address).json()
        assert all(story["language"] == "en" for story in page["stories"])
        seen += [story["url"] for story in page["stories"]]
        address = page["next"]
    assert len(seen) == len(set(seen)) > 2


@pytest.mark.parametrize("language", list(Language))
def test_people_read_the_description_in_their_language_without_a_script(library: Site, language: Language) -> None:
    client = library.client()
    document = client.get(OPENAPI).json()
    page = client.get(f"/api?lang={language}").text
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert f"<strong>{method.upper()}</strong> {path}<" in page
            for parameter in operation.get("parameters", []):
                assert f">{parameter['name']}</code>" in page
            assert all(f"<code>{status}</code>" in page for status in operation["responses"])
    assert re.findall(r"<script[^>]*src=\"([^\"?]+)", page) == ["/static/form.js"]
    assert page.count("curl http") + page.count("curl &#39;http") >= len(OPEN)


def test_every_sentence_of_the_description_is_said_in_chinese_too(library: Site) -> None:
    catalogue = translations(Language.CHINESE, "web")
    for sentence in _sentences(library.client().get(OPENAPI).json()["paths"]):
        assert re.search(r"[\u4e00-\u9fff]", catalogue.gettext(sentence)), sentence


def _sentences(document: object) -> Iterator[str]:
    if isinstance(document, list):
        for item in document:
            yield from _sentences(item)
    elif isinstance(document, dict):
        for name, value in document.items():
            if name in {"summary", "description"} and isinstance(value, str):
                yield value
            else:
                yield from _sentences(value)


def test_pages_of_the_sites_that_the_settings_name_may_call_the_open_api_and_no_others(library: Site) -> None:
    client = library.client()
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    allowed = client.options("/api/v1/subscriptions", headers={"Origin": BLOG, **asked})
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == BLOG
    assert "access-control-allow-credentials" not in allowed.headers
    answer = client.post("/api/v1/subscriptions", json={"email": "no"}, headers={"Origin": BLOG})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (422, BLOG)
    for origin in ("https://evil.example", "null", f"{BLOG}.evil.example", "http://blog.example.com"):
        refused = client.options("/api/v1/subscriptions", headers={"Origin": origin, **asked})
        assert "access-control-allow-origin" not in refused.headers
    for path in ("/api/v1/stories", "/subscribe", "/preferences/x", "/"):
        assert "access-control-allow-origin" not in client.get(path, headers={"Origin": BLOG}).headers, path
