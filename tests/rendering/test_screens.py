"""The brief in a real browser. Screenshots go to the folder named by SCREENSHOTS, else to a temporary one."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from digest.domain.brief import BriefStory
from digest.domain.language import Language
from digest.domain.story import StoryText
from digest.links import Links
from digest.ports import Message
from digest.rendering.examples import example_messages
from digest.rendering.site import Site
from digest.rendering.templates import Templates

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
CONTRAST = """() => {
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
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const weak = [];
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !e.checkVisibility() || e.closest('style')) continue;
    const [a, b] = [light(channels(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) weak.push([texts.currentNode.data.trim().slice(0, 40), ratio]);
  }
  return weak;
}"""
"""Texts whose contrast is below WCAG 2.2 AA for small text, with their ratio."""

Brief = Callable[..., Message]
Bundled = Callable[[Language, int], list[BriefStory]]
Stories = Callable[..., list[BriefStory]]


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


@pytest.fixture
def screenshots(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def filled(message: Message, language: Language) -> str:
    html = message.html
    values = {
        "unsubscribe_url": "https://brief.example.com/unsubscribe/u",
        "preferences_url": "https://brief.example.com/preferences/p",
        "subscribed_on": {"en": "1 November 2026", "zh": "2026年11月1日"}[language],
    }
    for name, marker in message.slots.items():
        html = html.replace(marker, values[name])
    return html


def overflow(browser: Browser, html: str, width: int) -> int:
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.set_content(html)
    wide: int = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    return wide - width


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_brief_reads_well_at_every_width(
    language: Language, scheme: str, browser: Browser, brief: Brief, bundled: Bundled, screenshots: Path
) -> None:
    html = filled(brief(bundled(language, 8), language), language)
    for width in (390, 800):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type] # a literal
        page.set_content(html)
        shot = page.screenshot(path=screenshots / f"brief-{language}-{width}-{scheme}.png", full_page=True)

        assert shot.startswith(b"\x89PNG")
        assert page.evaluate(CONTRAST) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.close()


def test_rnd_15_words_and_addresses_without_a_break_do_not_widen_the_page(
    browser: Browser, brief: Brief, stories_of: Stories
) -> None:
    address, base64 = "https://news.example/" + "x" * 279, "QUJD" * 100
    endless = (
        StoryText(address, quick_answer=base64, key_points=(base64,), why_it_matters=base64, quick_take=base64),
        StoryText("W" * 200, quick_take=base64),
        StoryText(address, quick_take=address),
    )
    for lead in range(3):
        html = brief(stories_of(*endless[lead:], *endless[:lead], source="S" * 200)).html

        assert overflow(browser, html, 320) <= 0


def test_no_letter_is_wider_than_the_narrowest_phone(
    browser: Browser, templates: Templates, links: Links, site: Site
) -> None:
    page = browser.new_page(viewport={"width": 320, "height": 800})
    for message in example_messages(templates, links, site, Language.CHINESE):
        page.set_content(message.html)

        assert page.evaluate("document.documentElement.scrollWidth") <= 320, message.kind
    page.close()


def test_the_checks_of_this_file_can_fail(browser: Browser) -> None:
    assert overflow(browser, f"<p>{'W' * 400}</p>", 320) > 0
    page = browser.new_page()
    page.set_content("<body style='background:#fff'><p style='color:#999'>faint</p></body>")
    assert [text for text, _ in page.evaluate(CONTRAST)] == ["faint"]
    page.close()
