"""The pictures of the reader's pages in docs/pictures/pages: every page in both languages, on a phone and at a desk.

Part of ``make screenshots``. The pages of one reader's way are taken as that reader comes to them.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, FloatRect, Page, ViewportSize

from digest.bootstrap import build
from digest.domain.language import Language
from digest.links import Links
from digest.settings import Settings
from digest.store.database import migrate
from tests.screenshots import LANGUAGES, PICTURES
from tests.web.browsing import chromium, listening, serving
from tests.web.conftest import KEY, Site, stock
from tests.web.mailbox import paths

PAGES = PICTURES / "pages"
INDEX = PICTURES.parent / "pages.md"
WIDTHS = {390: 844, 1120: 800}
TALLEST = 1500
"""CSS pixels of a picture; what a page repeats below is the same."""
QUALITY = 70
STORY = "gb300-nvl72-moe-training-record"
SENT_AT = datetime.fromisoformat("2026-12-03T00:00Z")
TITLES = {
    "front": "Front page",
    "mistake": "A mistake in the form",
    "asked": "After signing up",
    "confirm": "Confirm",
    "confirmed": "Confirmed",
    "preferences": "Preferences",
    "paused": "Paused",
    "unsubscribe": "Unsubscribe",
    "left": "Unsubscribed",
    "address": "Another address",
    "data": "One's own data",
    "erase": "Erase everything",
    "expired": "A link that has expired",
    "archive": "Archive",
    "search": "Search",
    "brief": "A brief on the web",
    "story": "A story",
    "topic": "A topic",
    "outbox": "The local mailbox",
    "letter": "A message in it",
    "api": "The API, described",
}


def main() -> None:
    """Take every picture, and write the page that shows them."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGES
    out.mkdir(parents=True, exist_ok=True)
    with chromium() as browser, standing() as (site, url):
        for language in Language:
            for width in WIDTHS:
                for name, page in walk(browser, site, url, language, width):
                    take(page, out / f"{name}-{language}-{width}.jpg")
    if out == PAGES:
        INDEX.write_text(index(), encoding="utf-8")


@contextmanager
def standing() -> Iterator[tuple[Site, str]]:
    """A site that has sent a brief in each language, and its address."""
    with TemporaryDirectory() as folder, listening() as (listener, url):
        where = {"database_url": f"sqlite:///{folder}/site.db", "outbox_dir": Path(folder) / "outbox", "base_url": url}
        application = build(Settings(_env_file=None, secret_keys=[KEY], **where))
        migrate(application.engine)
        site = stock(Site(application))
        for language in Language:
            site.active(f"reader-{language}@example.com", language)
        for site.now in (SENT_AT - timedelta(minutes=5), SENT_AT):
            site.turn()
        with serving(site, listener):
            yield site, url
        application.close()


def walk(browser: Browser, site: Site, url: str, language: Language, width: int) -> Iterator[tuple[str, Page]]:
    """Every page by its name, as a reader of that language comes to it."""
    site.now = SENT_AT + timedelta(hours=3)
    locale, zone = LANGUAGES[language]
    window: ViewportSize = {"width": width, "height": WIDTHS[width]}
    page = browser.new_context(locale=locale, timezone_id=zone, viewport=window).new_page()
    walker = Walker(page, site, url, language, f"{language}{width}@example.com")
    for name, go in walker.ways().items():
        go()
        page.wait_for_load_state("networkidle")
        yield name, page
    page.context.close()


@dataclass(frozen=True)
class Walker:
    """One reader and their window."""

    page: Page
    site: Site
    url: str
    language: Language
    address: str

    def ways(self) -> dict[str, Callable[[], object]]:
        """What leads to each page; in this order."""
        return {
            "front": lambda: self.open("/"),
            "mistake": self.mistake,
            "asked": self.ask,
            "outbox": lambda: self.open("/outbox"),
            "letter": self.page.locator(".mails a").first.click,
            "confirm": lambda: self.open(self.site.confirm_path()),
            "confirmed": self.press,
            "preferences": lambda: self.open(self.site.preferences_path(self.reader)),
            "paused": self.page.locator("button[name=pause_until]").first.click,
            "address": self.another_address,
            "data": lambda: self.open(self.site.path(self.links.export(self.reader, self.site.now))),
            "erase": lambda: self.open(f"{self.site.preferences_path(self.reader)}/erase"),
            "unsubscribe": lambda: self.open(self.site.unsubscribe_path(self.reader)),
            "left": self.press,
            "expired": lambda: self.open(self.site.path(self.links.confirm(1, self.site.now - timedelta(days=30)))),
            "archive": lambda: self.open("/archive"),
            "search": lambda: self.open("/archive", q="AI"),
            "brief": lambda: self.open(f"/briefs/2026-12-03/{self.language}"),
            "story": lambda: self.open(f"/stories/{STORY}"),
            "topic": lambda: self.open("/topics/chips"),
            "api": lambda: self.open("/api"),
        }

    @property
    def links(self) -> Links:
        return self.site.application.links

    @property
    def reader(self) -> int:
        found = self.site.subscriber(self.address)
        assert found is not None
        return found.id

    def open(self, path: str, **query: str) -> None:
        given = "".join(f"&{name}={value}" for name, value in query.items())
        self.page.goto(f"{self.url}{path}?lang={self.language}{given}")

    def press(self) -> None:
        self.page.locator("main button").first.click()

    def mistake(self) -> None:
        self.page.locator("#email").fill("reader@gmial.com")
        self.page.locator("#timezone").fill("Atlantis")
        self.page.locator(".card button[type=submit]").last.click()

    def ask(self) -> None:
        self.open("/")
        self.page.locator("#email").fill(self.address)
        self.page.locator(".card button[type=submit]").last.click()
        self.page.wait_for_url("**/subscribe*")
        self.site.turn()

    def another_address(self) -> None:
        asked = f"{self.site.preferences_path(self.reader)}/address"
        self.site.client().post(asked, data={"email": f"new-{self.address}"})
        self.site.turn()
        self.open(paths(self.site, f"new-{self.address}", "/address/")[-1])


def take(page: Page, file: Path) -> None:
    """Write one picture of a page, from its top to as far as it is worth it."""
    size: ViewportSize = page.viewport_size or {"width": 0, "height": 0}
    height = min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
    clip: FloatRect = {"x": 0, "y": 0, "width": size["width"], "height": max(height, size["height"])}
    page.screenshot(path=file, full_page=True, clip=clip, type="jpeg", quality=QUALITY)


def index() -> str:
    """The page in docs that shows every picture."""
    lines = ["# The reader’s pages", "", "Taken by `make screenshots`; each page in both languages, at both sizes.", ""]
    for name, title in TITLES.items():
        files = [f"pictures/pages/{name}-{language}-{width}.jpg" for width in WIDTHS for language in Language]
        cells = [f'<img src="{file}" alt="{title}" width="{120 if "390" in file else 300}">' for file in files]
        lines += [f"## {title}", "", " ".join(cells), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
