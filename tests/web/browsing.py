"""A real browser before a real server: what it takes to start both, and what every page must be."""

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import axe_playwright_python
import pytest
import uvicorn
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from digest.web.app import create_app
from tests.web.conftest import Site

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NARROWEST = 320
"""CSS pixels: at 400 % of a common window nothing may have to be scrolled sideways (WCAG 2.2, 1.4.10)."""
REFUSED = "Failed to load resource: the server responded with a status of 4"
"""What the browser says of an answer such as 404 or 422, whose page is looked at all the same."""
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
FAULTS = """async () => {
  const found = await axe.run(document, {resultTypes: ["violations"], iframes: false});
  return found.violations.map((fault) => `${fault.id}: ${fault.nodes.map((node) => node.html).join(" ")}`);
}"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's browser; without one the test is skipped, or fails where REQUIRE_BROWSER=1."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail("REQUIRE_BROWSER=1 and there is no chromium on the path")
        pytest.skip("no chromium on the path; set CHROMIUM to one, or REQUIRE_BROWSER=1 to fail here")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        yield started
        started.close()


@contextmanager
def listening() -> Iterator[tuple[socket.socket, str]]:
    """A socket that nobody else has, and its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener, f"http://127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def serving(site: Site, listener: socket.socket) -> Iterator[None]:
    """The site, answering on this socket."""
    app = create_app(site.application, site.nudged.extend, lambda: site.now)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield
    server.should_exit = True
    thread.join()


@dataclass
class Visit:
    """One visitor's window, and what was wrong with the pages that were looked at in it.

    Attributes:
        said: what the browser's console said.
    """

    page: Page
    said: list[str] = field(default_factory=list)

    def look(self) -> None:
        """Every page: nothing for axe-core to find, readable in the narrowest window, and no complaint."""
        page, size = self.page, self.page.viewport_size
        page.evaluate(AXE)
        assert page.evaluate(FAULTS) == [], page.url
        assert size is not None
        page.set_viewport_size({"width": NARROWEST, "height": size["height"]})
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROWEST, page.url
        page.set_viewport_size(size)
        assert self.said == [], page.url

    def heading(self) -> str:
        """What the page says first."""
        return self.page.get_by_role("heading", level=1).inner_text()

    def words(self) -> str:
        """What the page says."""
        return self.page.locator("main").inner_text()

    def press(self, name: str, *, link: bool = False) -> None:
        """Press the button, or follow the link, of this name."""
        self.follow(self.page.get_by_role("link" if link else "button", name=name, exact=True).first)

    def follow(self, way: Locator) -> None:
        """Press what leads to another page and wait for that: a click alone may end before the old page is gone."""
        with self.page.expect_navigation():
            way.click()


@contextmanager
def visit(browser: Browser, width: int, **context: object) -> Iterator[Visit]:
    """A window of a new visitor, with the browser's own settings in ``context``."""
    own = browser.new_context(viewport={"width": width, "height": 844}, **context)
    seen = Visit(own.new_page())
    own.on("console", lambda message: None if message.text.startswith(REFUSED) else seen.said.append(message.text))
    yield seen
    own.close()
