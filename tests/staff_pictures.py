"""The pictures of the staff's pages in docs/pictures: a realistic day on a phone and a desk, light and dark.

Part of ``make screenshots``; takes a few minutes, because the day is really worked through.
"""

import os
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import uvicorn
from playwright.sync_api import Browser, StorageState, ViewportSize, sync_playwright

from digest.bootstrap import Application
from digest.web.app import create_app
from tests.screenshots import PICTURES, QUIET
from tests.staff_day import NOW, make_day

OWNER, VIEWER = "an-owner-token-for-pictures", "a-viewer-token-for-pictures"
DESK, PHONE = (1280, 860), (390, 844)
LARGEST_BYTES = 400_000
Shot = tuple[str, str, tuple[int, int], str, Literal["light", "dark"]]
"""Name, page, size, language, scheme."""
SHOTS: tuple[Shot, ...] = (
    ("today", "/admin", DESK, "en", "light"),
    ("today", "/admin", DESK, "zh", "dark"),
    ("today", "/admin", PHONE, "en", "light"),
    ("today", "/admin", PHONE, "zh", "dark"),
    ("reader", "/admin/readers/41", DESK, "en", "light"),
    ("reader", "/admin/readers/41", PHONE, "zh", "light"),
    ("batch", "/admin/batches/93", DESK, "en", "light"),
    ("sources", "/admin/sources", DESK, "en", "light"),
    ("story", "/admin/stories/1", DESK, "en", "light"),
    ("brief", "/admin/briefs/1", DESK, "en", "light"),
    ("tables", "/admin/tables/subscriber/list", DESK, "en", "light"),
)


def main() -> None:
    """Take every picture, into docs/pictures or the folder given."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        sys.exit("no chromium on the path; set CHROMIUM to one")
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        database = os.environ.get("STAFF_DAY", f"{folder}/day.db")
        tokens = {"admin_token": OWNER, "staff": f"guest:viewer:{VIEWER}"}
        app = make_day(f"sqlite:///{database}", outbox_dir=Path(folder), **tokens)
        browser = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        with served(app) as address:
            session = sign_in(browser, address)
            for shot in SHOTS:
                take(browser, session, f"{address}{shot[1]}", shot, out)
        browser.close()
        app.close()


@contextmanager
def served(app: Application) -> Iterator[str]:
    """The site of that day; its clock stands still. Gives its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    site = create_app(app, lambda _: None, lambda: NOW)
    server = uvicorn.Server(uvicorn.Config(site, log_config=None, lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()


def sign_in(browser: Browser, address: str) -> StorageState:
    """Through the door, as people do; gives the cookie."""
    page = browser.new_page()
    page.goto(f"{address}/admin/login?lang=en")
    page.get_by_label("Your token").fill(OWNER)
    page.get_by_role("button", name="Sign in").click()
    return page.context.storage_state()


def take(browser: Browser, session: StorageState, url: str, shot: Shot, out: Path) -> None:
    """Open the page and write one picture; whatever the browser objects to stops it."""
    name, _, (width, height), language, scheme = shot
    size: ViewportSize = {"width": width, "height": height}
    page = browser.new_context(viewport=size, color_scheme=scheme, storage_state=session).new_page()
    faults: list[str] = []
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.goto(f"{url}{'&' if '?' in url else '?'}lang={language}", wait_until="networkidle")
    file = out / f"staff-{name}-{language}-{width}-{scheme}.png"
    page.screenshot(path=file, full_page=name == "today")
    page.context.close()
    if faults:
        sys.exit(f"{url}: {faults}")
    if (weight := file.stat().st_size) > LARGEST_BYTES:
        sys.exit(f"{file.name} weighs {weight} bytes")


if __name__ == "__main__":
    main()
