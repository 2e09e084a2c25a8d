"""What holds for every answer: headers, limits, addresses, and what logs may hold."""

import io
import logging
import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from uvicorn.config import LOGGING_CONFIG

from digest.domain.subscriber import SubscriberState
from digest.store.tables import Subscriber
from digest.web.access_log import hide_tokens, without_token
from digest.web.app import ROUTERS
from digest.web.client import client_address
from digest.web.guards import LONGEST_BODY
from tests.web.conftest import Make, Site

TEMPLATES = Path(__file__).parents[2] / "digest" / "web" / "templates"
BASIC = {"email": "reader@example.com", "language": "en", "timezone": "Europe/Berlin"}
ELSEWHERE = ["https://evil.example", "//evil.example", "/\\evil.example", "https:evil.example", "javascript:alert(1)"]


@pytest.mark.parametrize("path", ["/", "/nothing", "/static/site.css", "/healthz", "/api/v1/openapi.json", "/outbox"])
def test_every_answer_has_the_security_headers_and_sets_no_cookie(site: Site, path: str) -> None:
    headers = site.client().get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] in {"same-origin", "no-referrer"}
    assert "set-cookie" not in headers


def test_browsers_are_held_to_tls_where_the_site_has_it(make_site: Make, site: Site) -> None:
    assert "strict-transport-security" not in site.client().get("/").headers
    secure = make_site(base_url="https://brief.example.com").client().get("/")
    assert "max-age=31536000" in secure.headers["strict-transport-security"]


@pytest.mark.parametrize("template", sorted(TEMPLATES.glob("*.html")), ids=lambda path: path.name)
def test_no_template_has_inline_script_or_style_or_switches_escaping_off(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|\|\s*safe|autoescape", text)
    scripts = [tag for tag in re.findall(r"<script[^>]*>", text) if tag != '<script type="application/ld+json">']
    assert all("src=" in tag for tag in scripts)


def test_a_body_that_is_too_long_is_refused_announced_or_not(site: Site) -> None:
    long = b"email=" + b"a" * LONGEST_BODY
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    announced = site.client().post("/subscribe", content=long, headers=form)
    streamed = site.client().post(
        "/subscribe", content=(long[i : i + 4096] for i in range(0, len(long), 4096)), headers=form
    )
    by_json = site.client().post("/api/v1/subscriptions", content=long)
    assert (announced.status_code, streamed.status_code, by_json.status_code) == (413, 413, 413)
    assert "Nothing was saved" in announced.text
    assert by_json.headers["content-type"] == "application/problem+json"
    assert site.count(Subscriber) == 0


@pytest.mark.parametrize("host", ["evil.example", "brief.example.com:443@evil.example", "x y", ""])
def test_sec_07_a_public_site_answers_for_its_own_host_only(make_site: Make, host: str) -> None:
    site = make_site(base_url="https://brief.example.com/daily", trusted_hosts=["brief-old.example.com"])
    stranger = site.client(Host=host)
    for answer in (stranger.post("/daily/subscribe", data=BASIC), stranger.get("/daily/?lang=zh")):
        assert answer.status_code == 400
        assert "evil.example" not in answer.text
        assert "location" not in answer.headers
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert site.count(Subscriber) == 0
    assert stranger.get("/healthz").status_code == 200
    for own in ("brief.example.com", "BRIEF.example.com:443", "brief-old.example.com"):
        assert site.client(Host=own).get("/daily/").status_code == 200


def test_sec_07_no_link_or_redirect_is_built_from_the_request(make_site: Make) -> None:
    site = make_site(base_url="https://brief.example.com/daily")
    client = site.client(**{"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "gopher"})
    for answer in (
        client.post("/daily/subscribe", data=BASIC),
        client.get("/daily/?lang=zh"),
        client.get("/daily"),
        client.get("/daily/archive/"),
        client.get("/daily/nothing"),
    ):
        assert "evil.example" not in answer.text
        assert "location" not in answer.headers
    found = site.subscriber("reader@example.com")
    assert found is not None
    assert found.state is SubscriberState.PENDING


@pytest.mark.parametrize("target", [*ELSEWHERE, "%2f%2fevil.example"])
def test_sec_01_nothing_leads_to_an_address_that_a_request_names(site: Site, target: str) -> None:
    subscriber_id = site.active()
    client = site.client()
    where = {"next": target, "return": target, "url": target}
    paths = ["/", site.confirm_path(), site.preferences_path(subscriber_id), site.unsubscribe_path(subscriber_id)]
    answers = [client.get(path, params=where) for path in paths]
    answers += [client.post(path, params=where, data=where) for path in ["/subscribe", *paths[1:]]]
    for answer in answers:
        assert "location" not in answer.headers
        assert "evil.example" not in answer.text
        assert "alert(1)" not in answer.text
        assert 'http-equiv="refresh"' not in answer.text


def test_a_failure_of_ours_is_a_plain_page_with_the_same_headers(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("reader@example.com")

    monkeypatch.setattr("digest.web.unsubscribe.find_reader", fail)
    client = TestClient(site.client().app, raise_server_exceptions=False)
    answer = client.get(site.unsubscribe_path(site.active()))
    assert answer.status_code == 500
    assert "Nothing was changed" in answer.text
    assert "reader@example.com" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"


def test_the_bare_prefix_is_the_front_page(make_site: Make) -> None:
    assert make_site(base_url="https://brief.example.com/daily").client().get("/daily").status_code == 200


def test_a_path_that_does_not_exist_is_not_echoed(site: Site) -> None:
    answer = site.client().get("/%3Cscript%3Ealert(1)%3C/script%3E")
    assert answer.status_code == 404
    assert "alert(1)" not in answer.text


def test_a_method_that_an_address_does_not_have_says_which_it_has(site: Site) -> None:
    answer = site.client().get("/subscribe")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


def test_every_address_that_answers_get_answers_head() -> None:
    routes = [route for router in ROUTERS for route in router.routes]
    by_method = {
        method: {route.path for route in routes if method in getattr(route, "methods", ())}
        for method in ("GET", "HEAD")
    }
    assert by_method["GET"] == by_method["HEAD"]


@pytest.mark.parametrize(
    ("forwarded", "trusted", "address"),
    [
        ("", [], "192.0.2.1"),
        ("198.51.100.7", [], "192.0.2.1"),
        ("203.0.113.9, 198.51.100.7", ["192.0.2.1"], "198.51.100.7"),
        ("203.0.113.9, 198.51.100.7", ["192.0.2.0/24", "198.51.100.7"], "203.0.113.9"),
        ("fe80::1%" + "a" * 99, ["192.0.2.1"], ""),
        ("203.0.113.9, junk", ["192.0.2.1"], ""),
        ("2001:db8::1", ["192.0.2.1"], "2001:db8::1"),
    ],
)
def test_sgn_03_only_a_trusted_proxy_says_where_a_request_came_from(
    forwarded: str, trusted: list[str], address: str
) -> None:
    assert client_address("192.0.2.1", forwarded, trusted) == address


def test_a_log_line_holds_no_token_and_no_query(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_tokens()
    hide_tokens()
    logger = logging.getLogger("uvicorn.access")
    monkeypatch.setattr(logger, "disabled", False)  # another test's logging set-up may have switched it off
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(
        logging.Formatter(LOGGING_CONFIG["formatters"]["default"]["fmt"].replace("%(levelprefix)s", ""))
    )
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        for path in ("/daily/confirm/7.secret?lang=zh", "/unsubscribe/7.secret/undo", "/?email=reader@example.com"):
            logger.info('%s - "%s %s HTTP/%s" %d', "192.0.2.1:1", "GET", path, "1.1", 200)
    finally:
        logger.removeHandler(handler)
    assert "secret" not in written.getvalue()
    assert "reader@example.com" not in written.getvalue()
    assert "/daily/confirm/…" in written.getvalue()
    assert without_token("/stories/a-story?lang=zh") == "/stories/a-story"
