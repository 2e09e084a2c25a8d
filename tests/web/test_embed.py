"""The form on other sites: a script in a real browser, from another origin, and plain HTML."""

import re
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from digest.store.tables import Subscriber
from tests.web.browsing import chromium, listening, serving
from tests.web.conftest import Make, Site, copied, open_site


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@dataclass(frozen=True)
class Embedded:
    """The brief's site and another one with its script on every page, which the brief's settings name by ``blog``."""

    site: Site
    url: str
    browser: Browser
    blog: str

    @property
    def stranger(self) -> str:
        """The other site under a name that the settings don't have."""
        return self.blog.replace("127.0.0.1", "localhost")

    def visit(self, origin: str, language: str) -> Page:
        page = self.browser.new_context(timezone_id="Asia/Shanghai").new_page()
        page.goto(f"{origin}/{language}")
        return page


class Blog(BaseHTTPRequestHandler):
    """Pages in the language that their address names."""

    script = ""

    def do_GET(self) -> None:
        language = self.path.strip("/")
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f'<!doctype html><html lang="{language}"><p>A blog.</p>{self.script}</html>'.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def embedded(browser: Browser, sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    folder = tmp_path_factory.mktemp("embedded")
    with listening() as (listener, url), ThreadingHTTPServer(("127.0.0.1", 0), Blog) as server:
        Blog.script = f'<script src="{url}/embed.js" async></script>'
        threading.Thread(target=server.serve_forever, daemon=True).start()
        blog = f"http://127.0.0.1:{server.server_port}"
        site = open_site(copied(sqlite_template, folder), folder, base_url=url, embed_origins=[blog])
        with closing(site.application), serving(site, listener):
            yield Embedded(site, url, browser, blog)
        server.shutdown()


def test_a_reader_signs_up_on_another_site_s_page_and_stays_there(embedded: Embedded) -> None:
    page = embedded.visit(embedded.blog, "zh-CN")
    page.get_by_label("邮箱地址").fill("embedded@gmial.com")
    page.get_by_role("button", name="订阅").click()
    page.get_by_text("你想写的是不是 embedded@gmail.com").wait_for()
    page.get_by_label("邮箱地址").fill("embedded@example.com")
    page.get_by_role("button", name="订阅").click()
    page.get_by_text("请查收邮件").wait_for()
    assert "北京时间" in page.get_by_role("status").inner_text()
    assert page.url == f"{embedded.blog}/zh-CN"
    found = embedded.site.subscriber("embedded@example.com")
    assert found is not None
    assert (found.language, found.cadence_row.timezone) == ("zh", "Asia/Shanghai")


def test_where_the_page_may_not_call_the_brief_s_own_page_opens(embedded: Embedded) -> None:
    page = embedded.visit(embedded.stranger, "en")
    page.get_by_label("E-mail address").fill("stranger@example.com")
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Subscribe").click()
    assert opened.value.get_by_role("heading", level=1).inner_text() == "Check your inbox"
    assert opened.value.url.startswith(f"{embedded.url}/subscribe")
    found = embedded.site.subscriber("stranger@example.com")
    assert found is not None
    assert found.cadence_row.timezone == "Asia/Shanghai"


@pytest.mark.parametrize(("language", "asked"), [("en", "Check your inbox"), ("zh", "请查收邮件")])
def test_the_plain_form_of_the_page_works_as_it_is_copied(site: Site, language: str, asked: str) -> None:
    page = site.client().get(f"/embed?lang={language}").text
    form = next(unescape(code) for code in re.findall(r"<code>(.*?)</code>", page, re.DOTALL) if "&lt;form" in code)
    action = re.search(r'method="post" action="http://testserver([^"]+)"', form)
    assert action
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="(\w+)"', form))
    assert fields == {"language": language, "source": "embed"}
    answer = site.client().post(action[1], data=fields | {"email": "plain@example.com"})
    assert answer.status_code == 200
    assert asked in answer.text
    assert site.count(Subscriber) == 1


def test_the_script_may_be_loaded_by_any_page_and_leaves_a_challenge_to_ours(make_site: Make) -> None:
    client = make_site(
        base_url="https://brief.example.com/daily",
        challenge="turnstile",
        challenge_site_key="site-key",
        challenge_secret_key="secret-key",
    ).client()
    answer = client.get("/daily/embed.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert '"base": "https://brief.example.com/daily"' in answer.text
    assert '"sends": false' in answer.text
    assert "secret-key" not in answer.text
