"""The pages in a real browser. Screenshots go to the folder named by SCREENSHOTS, else nowhere."""

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from digest.domain.language import Language
from digest.domain.subscriber import SubscriberState
from digest.web.app import create_app
from tests.web.conftest import Make, Site, stock

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
RECORD = "/stories/gb300-nvl72-moe-training-record"
WEAK_CONTRAST = """() => {
  const channels = (c) => c.match(/[\\d.]+/g).map(Number);
  const linear = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = channels(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const weak = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !e.checkVisibility() || e.closest('datalist')) continue;
    const [a, b] = [light(channels(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) weak.push([texts.currentNode.data.trim().slice(0, 40), (a + 0.05) / (b + 0.05)]);
  }
  return weak;
}"""
"""Texts whose contrast is below WCAG 2.2 AA for small text, with their ratio."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail("REQUIRE_BROWSER=1 and there is no chromium on the path")
        pytest.skip("no chromium on the path; set CHROMIUM to one, or REQUIRE_BROWSER=1 to fail here")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        yield started
        started.close()


@dataclass(frozen=True)
class Served:
    site: Site
    url: str


@pytest.fixture
def served(make_site: Make) -> Iterator[Served]:
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    stocked = stock(make_site(base_url=url))
    app = create_app(stocked.application, stocked.nudged.extend, lambda: stocked.now)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield Served(stocked, url)
    server.should_exit = True
    thread.join()
    listener.close()


def _page(browser: Browser, width: int = 390, **context: object) -> Page:
    return browser.new_context(viewport={"width": width, "height": 844}, **context).new_page()


def _shoot(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def test_a_chinese_phone_in_shanghai_signs_up_with_its_own_zone(browser: Browser, served: Served) -> None:
    page = _page(browser, locale="zh-CN", timezone_id="Asia/Shanghai")
    page.goto(served.url)
    assert page.locator("html").get_attribute("lang") == "zh-Hans"
    assert page.get_by_label("时区", exact=True).input_value() == "Asia/Shanghai"
    assert page.locator("[data-zone-label]").inner_text() == "上海：北京时间"
    page.get_by_label("邮箱地址").fill("reader@example.com")
    page.get_by_role("button", name="订阅").click()
    assert page.get_by_role("heading", level=1).inner_text() == "请查收邮件"
    assert "默认时区" not in page.content()
    found = served.site.subscriber("reader@example.com")
    assert found is not None
    assert (found.language, found.cadence_row.timezone) == (Language.CHINESE, "Asia/Shanghai")


def test_from_the_form_through_the_outbox_to_the_settings_and_out(browser: Browser, served: Served) -> None:
    page = _page(browser, locale="zh-CN", timezone_id="Asia/Shanghai")
    page.goto(served.url)
    page.get_by_label("邮箱地址").fill("reader@example.com")
    page.get_by_role("button", name="订阅").click()
    served.site.turn()
    page.get_by_role("link", name="打开发件箱").click()
    page.locator(".mails a").first.click()
    _shoot(page, "message-zh-390")
    with page.context.expect_page() as opened:
        page.frame_locator("iframe").locator("a[href*='/confirm/']").first.click()
    page = opened.value
    page.get_by_role("button", name="确认订阅").click()
    assert "下一期：12月3日 星期四 早上 8:00（北京时间）" in page.locator("main").inner_text()
    page.get_by_role("link", name="订阅设置").click()
    page.get_by_label("发送时间").fill("06:30")
    page.get_by_role("button", name="保存").click()
    assert "早上 6:30（北京时间）" in page.locator("main").inner_text()
    page.get_by_role("button", name="明天不发").click()
    assert "暂停至 12月4日 星期五" in page.locator("main").inner_text()
    page.get_by_role("button", name="现在恢复").click()
    page.get_by_role("link", name="退订").click()
    page.get_by_role("button", name="退订").click()
    _shoot(page, "left-zh-390")
    assert served.site.state(1) is SubscriberState.ENDED
    page.get_by_role("button", name="撤销退订").click()
    assert served.site.state(1) is SubscriberState.ACTIVE


def test_an_old_zone_name_of_the_browser_is_kept(browser: Browser, served: Served) -> None:
    page = _page(browser, locale="en-US", timezone_id="America/St_Johns")
    page.add_init_script(
        "const real = Intl.DateTimeFormat.prototype.resolvedOptions;"
        "Intl.DateTimeFormat.prototype.resolvedOptions = function () {"
        " return {...real.call(this), timeZone: 'Asia/Calcutta'} }"
    )
    page.goto(served.url)
    assert page.get_by_label("Time zone", exact=True).input_value() == "Asia/Calcutta"
    page.get_by_label("E-mail address").fill("reader@example.com")
    page.get_by_role("button", name="Subscribe").click()
    assert "Kolkata time" in page.content()


def test_without_scripts_the_form_works_and_says_whose_zone_it_took(browser: Browser, served: Served) -> None:
    page = _page(browser, locale="zh-CN", timezone_id="Asia/Shanghai", java_script_enabled=False)
    page.goto(served.url)
    page.get_by_label("邮箱地址").fill("reader@example.com")
    page.get_by_text("更多选项").click()
    page.get_by_label("星期日").uncheck()
    page.get_by_role("button", name="订阅").click()
    assert "先用了默认时区" in page.content()
    page.goto(served.url + served.site.confirm_path())
    page.get_by_role("button", name="确认订阅").click()
    assert page.get_by_role("heading", level=1).inner_text() == "订阅成功"


def test_a_mistake_is_told_and_nothing_typed_is_lost(browser: Browser, served: Served) -> None:
    page = _page(browser, locale="en-US", timezone_id="Europe/Paris")
    page.goto(served.url)
    page.get_by_label("E-mail address").fill("nobody")
    page.get_by_label("Time zone", exact=True).fill("Atlantis")
    page.get_by_role("button", name="Subscribe").click()
    assert page.get_by_role("alert").is_visible()
    assert page.get_by_label("E-mail address").input_value() == "nobody"
    assert page.get_by_label("Time zone", exact=True).input_value() == "Atlantis"
    assert page.get_by_label("E-mail address").get_attribute("aria-describedby") == "email-fault"
    _shoot(page, "mistake-en-390")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", list(Language))
def test_every_page_fits_the_narrowest_phone_and_a_desk_and_contrasts(
    browser: Browser, served: Served, language: Language, scheme: str
) -> None:
    subscriber_id = served.site.active(language=language)
    paths = {
        "front": f"/?lang={language}",
        "story": f"{RECORD}?lang={language}",
        "archive": f"/archive?lang={language}",
        "confirm": served.site.confirm_path(),
        "unsubscribe": served.site.unsubscribe_path(subscriber_id),
        "preferences": served.site.preferences_path(subscriber_id),
        "outbox": f"/outbox?lang={language}",
        "not-found": f"/nothing?lang={language}",
    }
    page = _page(browser, locale="en-US", timezone_id="Asia/Shanghai", color_scheme=scheme)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    for name, path in paths.items():
        for width in (320, 1280):
            page.set_viewport_size({"width": width, "height": 844})
            page.goto(served.url + path)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            _shoot(page, f"{name}-{language}-{width}-{scheme}")
        assert page.evaluate(WEAK_CONTRAST) == [], name
    assert [text for text in complaints if "404" not in text] == []


def test_every_control_has_a_name_and_the_keyboard_reaches_the_content_first(browser: Browser, served: Served) -> None:
    page = _page(browser, width=1280, locale="en-US", timezone_id="Asia/Shanghai")
    for path in ("/?lang=en", served.site.preferences_path(served.site.active())):
        page.goto(served.url + path)
        unnamed = page.evaluate(
            "() => [...document.querySelectorAll('input:not([type=hidden]), button, iframe')]"
            ".filter((e) => !(e.labels?.length || e.textContent.trim() || e.title)).map((e) => e.outerHTML)"
        )
        assert unnamed == []
        ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map((e) => e.id)")
        assert len(ids) == len(set(ids))
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('href')") == "#main"
