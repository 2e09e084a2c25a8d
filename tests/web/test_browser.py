"""What readers do, in a real browser: one browser and one site for all, since starting them takes the time."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from digest.bootstrap import build
from digest.domain.language import Language
from digest.domain.subscriber import SubscriberState
from digest.settings import Settings
from tests.web.browsing import Visit, chromium, listening, serving, visit
from tests.web.conftest import KEY, NOW, Site, stock
from tests.web.mailbox import paths

STORY = "/stories/gb300-nvl72-moe-training-record"
ENGLISH = {
    "address": "E-mail address",
    "zone": "Time zone",
    "subscribe": "Subscribe",
    "asked": "Check your inbox",
    "assumed": "used our default",
    "outbox": "This site keeps its mail here: open the outbox",
    "confirm": "Confirm subscription",
    "confirmed": "You’re subscribed",
    "settings": "Preferences",
    "time": "Time of day",
    "save": "Save",
    "paused": "Paused",
    "resume": "Resume now",
    "leave": "Unsubscribe",
    "left": "You’re unsubscribed",
    "undo": "Undo",
    "back": "Welcome back",
    "archive": "Archive",
    "pause": "Pause until",
}
CHINESE = {
    "address": "邮箱地址",
    "zone": "时区",
    "subscribe": "订阅",
    "asked": "请查收邮件",
    "assumed": "先用了默认时区",
    "outbox": "本站的邮件都留在本机：打开发件箱",
    "confirm": "确认订阅",
    "confirmed": "订阅成功",
    "settings": "订阅设置",
    "time": "发送时间",
    "save": "保存",
    "paused": "已暂停",
    "resume": "现在恢复",
    "leave": "退订",
    "left": "已退订",
    "undo": "撤销退订",
    "back": "欢迎回来",
    "archive": "往期",
    "pause": "暂停至",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@dataclass(frozen=True)
class Served:
    site: Site
    url: str


@pytest.fixture(scope="module")
def served(browser: Browser, sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:  # noqa: ARG001 - no site where there is no browser
    """A site that has sent a brief in each language, over a mailbox in a folder."""
    folder = tmp_path_factory.mktemp("site")
    database = shutil.copy(sqlite_template, folder / "site.db")
    with listening() as (listener, url):
        values = {"database_url": f"sqlite:///{database}", "outbox_dir": folder / "outbox", "base_url": url}
        application = build(Settings(_env_file=None, secret_keys=[KEY], **values))
        site = stock(Site(application))
        _send_a_brief(site)
        with serving(site, listener):
            yield Served(site, url)
        application.close()


def _send_a_brief(site: Site) -> None:
    for language in Language:
        site.active(f"archive-{language}@example.com", language)
    for at in ("2026-12-02T23:55", "2026-12-03T00:00"):
        site.now = datetime.fromisoformat(f"{at}Z")
        site.turn()


@pytest.fixture(autouse=True)
def _on_the_same_morning(served: Served) -> None:
    served.site.now = NOW + timedelta(days=1)


@dataclass(frozen=True)
class Journey:
    """What one visitor sees and does from the form to the archive."""

    visit: Visit
    served: Served
    words: Mapping[str, str]
    address: str
    is_looked_at: bool

    def arrive(self, language: str) -> None:
        page = self.visit.page
        page.goto(self.served.url)
        assert page.locator("html").get_attribute("lang") == language
        page.get_by_label(self.words["address"]).first.fill(self.address)
        self._look()

    def sign_up(self) -> None:
        self.visit.press(self.words["subscribe"])
        assert self.visit.heading() == self.words["asked"]
        self._look()

    def confirm_from_the_outbox(self) -> Page:
        """Follow the button in the letter; it opens a window of its own, as a mail program's does."""
        self.served.site.turn()
        self.visit.press(self.words["outbox"], link=True)
        self._look()
        self.visit.follow(self.visit.page.locator(".mails a").first)
        self._look()
        with self.visit.page.context.expect_page() as opened:
            self.visit.page.frame_locator("iframe").locator("a[href*='/confirm/']").first.click()
        self.visit.page = opened.value
        self._look()
        self.visit.press(self.words["confirm"])
        assert self.visit.heading() == self.words["confirmed"]
        self._look()
        return self.visit.page

    def change_pause_and_come_back(self, moment: str) -> None:
        self.visit.press(self.words["settings"], link=True)
        self.visit.page.get_by_label(self.words["time"]).fill("06:30")
        self.visit.press(self.words["save"])
        assert moment in self.visit.words()
        self._look()
        self.visit.follow(self.visit.page.get_by_role("button", name=self.words["pause"]).first)
        assert self.visit.page.get_by_role("heading", name=self.words["paused"]).is_visible()
        self._look()
        self.visit.press(self.words["resume"])
        assert moment in self.visit.words()

    def leave_and_return(self) -> None:
        self.visit.press(self.words["leave"], link=True)
        self._look()
        self.visit.press(self.words["leave"])
        assert self.visit.heading() == self.words["left"]
        self._look()
        reader = self.served.site.subscriber(self.address)
        assert reader is not None
        assert reader.state is SubscriberState.ENDED
        self.visit.press(self.words["undo"])
        assert self.visit.heading() == self.words["back"]
        self._look()
        assert self.served.site.state(reader.id) is SubscriberState.ACTIVE

    def read_the_archive(self) -> None:
        self.visit.press(self.words["archive"], link=True)
        self._look()
        days = self.visit.page.locator(".days li").filter(has=self.visit.page.locator("time[datetime='2026-12-03']"))
        self.visit.follow(days.locator("a:not(.other)"))
        assert "/briefs/2026-12-03/" in self.visit.page.url
        self._look()
        self.visit.follow(self.visit.page.locator("article h2 a").first)
        assert "/stories/" in self.visit.page.url
        self._look()

    def _look(self) -> None:
        if self.is_looked_at:
            self.visit.look()


def zone_of(served: Served, address: str) -> str:
    found = served.site.subscriber(address)
    assert found is not None
    return found.cadence_row.timezone


def test_a_reader_in_shanghai_on_a_phone_from_the_form_to_the_archive(browser: Browser, served: Served) -> None:
    with visit(browser, 390, locale="zh-CN", timezone_id="Asia/Shanghai", color_scheme="light") as seen:
        journey = Journey(seen, served, CHINESE, "phone@example.com", is_looked_at=True)
        journey.arrive("zh-Hans")
        assert seen.page.get_by_label("时区", exact=True).input_value() == "Asia/Shanghai"
        assert seen.page.locator("[data-zone-label]").inner_text() == "上海：北京时间"
        seen.page.locator("output", has_text="12月4日 星期五 早上 8:00（北京时间）").wait_for()
        journey.sign_up()
        assert "默认时区" not in seen.words()
        journey.confirm_from_the_outbox()
        assert "下一期：12月4日 星期五 早上 8:00（北京时间）" in seen.words()
        journey.change_pause_and_come_back("12月4日 星期五 早上 6:30（北京时间）")
        journey.leave_and_return()
        journey.read_the_archive()
    assert zone_of(served, "phone@example.com") == "Asia/Shanghai"


def test_a_reader_in_st_john_s_at_a_desk_in_the_dark(browser: Browser, served: Served) -> None:
    with visit(browser, 1280, locale="en-CA", timezone_id="America/St_Johns", color_scheme="dark") as seen:
        journey = Journey(seen, served, ENGLISH, "desk@example.com", is_looked_at=True)
        journey.arrive("en")
        assert seen.page.get_by_label("Time zone", exact=True).input_value() == "America/St_Johns"
        journey.sign_up()
        assert "Thursday, 3 December, 8:00 am (St. John’s time)" in seen.words()
        journey.confirm_from_the_outbox()
        journey.change_pause_and_come_back("Thursday, 3 December, 6:30 am (St. John’s time)")
        journey.leave_and_return()
        journey.read_the_archive()
    assert zone_of(served, "desk@example.com") == "America/St_Johns"


def test_all_of_it_works_without_javascript(browser: Browser, served: Served) -> None:
    settings = {"locale": "zh-CN", "timezone_id": "Asia/Shanghai", "java_script_enabled": False}
    with visit(browser, 390, **settings) as seen:
        journey = Journey(seen, served, CHINESE, "quiet@example.com", is_looked_at=False)
        journey.arrive("zh-Hans")
        journey.sign_up()
        assert "先用了默认时区" in seen.words()
        assert zone_of(served, "quiet@example.com") == "UTC"
        seen.press("回到表单选择，或之后在“订阅设置”里改", link=True)
        seen.page.get_by_label("邮箱地址").first.fill("quiet@example.com")
        seen.page.get_by_label("时区", exact=True).fill("上海")
        journey.sign_up()
        assert "默认时区" not in seen.words()
        assert "12月4日 星期五 早上 8:00（北京时间）" in seen.words()
        journey.confirm_from_the_outbox()
        journey.change_pause_and_come_back("12月4日 星期五 早上 6:30（北京时间）")
        journey.leave_and_return()
        journey.read_the_archive()
    assert zone_of(served, "quiet@example.com") == "Asia/Shanghai"


@pytest.mark.parametrize(("language", "scheme"), [(Language.ENGLISH, "light"), (Language.CHINESE, "dark")])
def test_the_pages_beside_the_way_hold_for_everybody_too(
    browser: Browser, served: Served, language: Language, scheme: str
) -> None:
    """What the journeys do not pass: mistakes, dead ends, another address, one's own data."""
    site, name = served.site, f"beside-{language}"
    reader = site.active(f"{name}@example.com", language)
    settings, client = site.preferences_path(reader), site.client()
    client.post(f"{settings}/address", data={"email": f"{name}-new@example.com"})
    client.post(f"{settings}/export")
    site.turn()
    (moving,) = paths(site, f"{name}-new@example.com", "/address/")
    (data,) = paths(site, f"{name}@example.com", "/export/")
    with visit(browser, 390, locale="en-US", timezone_id="Asia/Shanghai", color_scheme=scheme) as seen:
        for path in (moving, data, f"{settings}/erase", "/emails", "/api", "/archive?q=AI", "/topics/chips", "/embed"):
            seen.page.goto(f"{served.url}{path}{'&' if '?' in path else '?'}lang={language}")
            seen.look()
        seen.page.goto(f"{served.url}{moving}")
        seen.follow(seen.page.locator("main button"))
        seen.look()
        site.now += timedelta(days=40)
        for path in ("/nothing", data, moving):
            seen.page.goto(f"{served.url}{path}?lang={language}")
            seen.look()
        seen.page.goto(f"{served.url}{settings}/erase")
        seen.follow(seen.page.locator("main button"))
        seen.look()


def test_a_mistake_is_told_at_its_field_and_nothing_typed_is_lost(browser: Browser, served: Served) -> None:
    with visit(browser, 390, locale="en-US", timezone_id="Europe/Paris") as seen:
        page = seen.page
        page.goto(served.url)
        page.get_by_label("E-mail address").fill("nobody")
        page.get_by_label("Time zone", exact=True).fill("Atlantis")
        seen.press("Subscribe")
        seen.look()
        assert page.evaluate("document.activeElement.getAttribute('role')") == "alert"
        assert page.get_by_label("E-mail address").input_value() == "nobody"
        assert page.get_by_label("Time zone", exact=True).input_value() == "Atlantis"
        assert page.get_by_label("E-mail address").get_attribute("aria-describedby") == "email-fault"
        assert page.locator("[data-zone-label]").inner_text() == ""
        assert page.locator("[data-first-brief]").is_hidden()
        page.get_by_role("alert").get_by_role("link").first.click()
        assert page.evaluate("document.activeElement.id") == "email"


def test_an_old_zone_name_of_the_browser_is_kept_and_shown_by_city(browser: Browser, served: Served) -> None:
    with visit(browser, 390, locale="en-US", timezone_id="America/St_Johns") as seen:
        seen.page.add_init_script(
            "const real = Intl.DateTimeFormat.prototype.resolvedOptions;"
            "Intl.DateTimeFormat.prototype.resolvedOptions = function () {"
            " return {...real.call(this), timeZone: 'Asia/Calcutta'} }"
        )
        seen.page.goto(served.url)
        assert seen.page.get_by_label("Time zone", exact=True).input_value() == "Asia/Calcutta"
        seen.page.locator("output", has_text="Kolkata time").first.wait_for()
        seen.page.get_by_label("E-mail address").fill("kolkata@example.com")
        seen.press("Subscribe")
        assert "Kolkata time" in seen.words()


def test_the_keyboard_alone_signs_up(browser: Browser, served: Served) -> None:
    with visit(browser, 1280, locale="en-US", timezone_id="Asia/Shanghai", reduced_motion="reduce") as seen:
        page = seen.page
        page.goto(served.url)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('href')") == "#main"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "email"
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.keyboard.type("keyboard@example.com")
        page.keyboard.press("Enter")
        page.wait_for_url("**/subscribe*")
        assert seen.heading() == "Check your inbox"


LOADED = """async () => {
  await document.fonts.ready;
  const shifts = await new Promise((done) => {
    new PerformanceObserver((list, observer) => { observer.disconnect(); done(list.getEntries()); })
      .observe({type: "layout-shift", buffered: true});
    setTimeout(() => done([]), 300);
  });
  return shifts.reduce((sum, shift) => sum + shift.value, 0);
}"""


@pytest.mark.parametrize("path", ["/?lang=en", "/?lang=zh", STORY])
def test_a_page_is_light_stays_where_it_is_and_asks_nobody_else(browser: Browser, served: Served, path: str) -> None:
    with visit(browser, 390, locale="en-US", timezone_id="Asia/Shanghai") as seen:
        asked: list[str] = []
        taken: list[float] = []
        wire = seen.page.context.new_cdp_session(seen.page)
        wire.send("Network.enable")
        wire.on("Network.loadingFinished", lambda event: taken.append(event["encodedDataLength"]))
        seen.page.on("request", lambda request: asked.append(request.url))
        seen.page.goto(served.url + path, wait_until="networkidle")
        assert seen.page.evaluate(LOADED) < 0.001
        assert len(taken) == len(asked)
        assert 0 < sum(taken) < 50_000
        assert {url.startswith(served.url) for url in asked} == {True}
        assert seen.page.context.cookies() == []
