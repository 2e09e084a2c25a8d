"""The pictures in the README, taken of a running installation: ``make screenshots``."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import urlsplit

from playwright.sync_api import Browser, sync_playwright

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
DIGEST = Path(sys.executable).with_name("digest")
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
LANGUAGES = {"en": ("en-US", "America/New_York"), "zh": ("zh-CN", "Asia/Shanghai")}
SIGN_UP = (1120, 790)
BRIEF = (680, 1180)
LARGEST_BYTES = 300_000
SHEET = "contact-sheet.png"
LARGEST_SHEET_BYTES = 2_000_000
"""It is linked, not loaded, by the README."""


def main() -> None:
    """Take every picture."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        sys.exit("no chromium on the path; set CHROMIUM to one")
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        with installation(Path(folder)) as address:
            for language in LANGUAGES:
                brief = written_brief(Path(folder), language)
                take(browser, language, SIGN_UP, f"{address}/?lang={language}", f"sign-up-{language}.png")
                take(browser, language, BRIEF, brief.as_uri(), f"brief-{language}.png")
        keep(brief.with_name(SHEET))
        browser.close()


@contextmanager
def installation(folder: Path) -> Iterator[str]:
    """A new installation in ``folder``, running; gives its address."""
    command = [str(DIGEST), "run", "--port", str(free_port())]
    with subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own program
        try:
            address = address_said_by(process)
            wait_until_open(address)
            yield address
        finally:
            process.terminate()


def environment() -> dict[str, str]:
    """This process's, without settings: the pictures show what a newcomer gets."""
    return {name: value for name, value in os.environ.items() if not name.startswith("DIGEST_")} | {
        "PYTHONUNBUFFERED": "1"
    }


def free_port() -> int:
    """A port that nothing listens on just now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def address_said_by(process: subprocess.Popen[str]) -> str:
    """The address in the program's greeting."""
    for line in process.stdout or ():
        if line.startswith("Sign up:"):
            return line.split()[2].partition("/?")[0]
    sys.exit("digest run ended before it said where it is")


def wait_until_open(address: str) -> None:
    """The greeting comes just before the first connection is taken."""
    host, port = urlsplit(address).hostname, urlsplit(address).port
    end = monotonic() + 30
    while monotonic() < end:
        with socket.socket() as client:
            if client.connect_ex((host, port)) == 0:
                return
        sleep(0.05)
    sys.exit(f"nothing answers at {address}")


def written_brief(folder: Path, language: str) -> Path:
    """The next brief, as a reader in that language gets it; beside it lies the contact sheet of both languages."""
    out = folder / language
    zone = LANGUAGES[language][1]
    where = ["--language", language, "--timezone", zone, "--out", str(out)]
    command = [str(DIGEST), "brief", "preview", *where]
    subprocess.run(command, cwd=folder, env=environment(), check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own program
    return out / "brief.html"


def take(browser: Browser, language: str, size: tuple[int, int], address: str, name: str) -> None:
    """Write one picture of the top of a page."""
    locale, zone = LANGUAGES[language]
    width, height = size
    page = browser.new_page(locale=locale, timezone_id=zone, viewport={"width": width, "height": height})
    page.goto(address, wait_until="networkidle")
    page.screenshot(path=PICTURES / name)
    page.close()
    check_weight(name, LARGEST_BYTES)


def keep(sheet: Path) -> None:
    """Put the contact sheet of a preview among the pictures."""
    shutil.copyfile(sheet, PICTURES / SHEET)
    check_weight(SHEET, LARGEST_SHEET_BYTES)


def check_weight(name: str, largest: int) -> None:
    """End with an error where a picture is heavier than it should be."""
    if (weight := (PICTURES / name).stat().st_size) > largest:
        sys.exit(f"{name} weighs {weight} bytes, more than {largest}")


if __name__ == "__main__":
    main()
