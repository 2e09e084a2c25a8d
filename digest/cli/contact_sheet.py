"""A mail at four widths, light and dark, on one sheet: as HTML always, as PNG where a Chromium is installed.

The mail stands in frames of one page, so that each has a viewport of its own. What the reader's system would decide
about light and dark is decided per frame by rewriting the media condition.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from html import escape
from pathlib import Path

from digest.cli.output import warn

WIDTHS = (320, 375, 600, 1024)
SCHEMES = {"light": "not all", "dark": "all"}
SCALE = 0.5
SECONDS = 90
GAP = 24
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_CONDITION = "(prefers-color-scheme: dark)"
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--hide-scrollbars",
    "--no-first-run",
)
_HEIGHT = re.compile(r'data-height="(\d+)"')
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Contact sheet</title><style>
body {{ margin: {gap}px; font: 28px sans-serif; background: #8a8f96; width: {width}px; }}
.row {{ display: flex; gap: {gap}px; align-items: flex-start; margin: 0 0 {gap}px; }}
iframe {{ border: 0; display: block; background: #fff; }}
figure {{ margin: 0; }} figcaption {{ padding: 0 0 6px; color: #fff; }}
</style></head><body>{rows}<script>
addEventListener("load", () => {{
  for (const frame of document.querySelectorAll("iframe"))
    frame.style.height = frame.contentDocument.documentElement.scrollHeight + "px";
  document.body.dataset.height = document.documentElement.scrollHeight;
}});
</script></body></html>"""


def write_sheet(mails: Mapping[str, str], folder: Path) -> list[str]:
    """Write ``contact-sheet.html`` and, with a Chromium at hand, ``contact-sheet.png``; returns the names written.

    Args:
        mails: what each is called -> its HTML, slots filled.
    """
    page = folder / "contact-sheet.html"
    page.write_text(sheet(mails), encoding="utf-8")
    browser = find_browser()
    if browser is None:
        return [page.name]
    picture = folder / "contact-sheet.png"
    try:
        _photograph(browser, page, picture)
    except (OSError, subprocess.SubprocessError) as error:
        warn(f"digest: {browser} took no picture ({type(error).__name__}); open {page} instead")
        return [page.name]
    return [page.name, picture.name]


def find_browser() -> str | None:
    """The Chromium that ``CHROMIUM`` names, or one on the path."""
    return os.environ.get("CHROMIUM") or next((found for name in _BROWSERS if (found := shutil.which(name))), None)


def sheet(mails: Mapping[str, str]) -> str:
    """The page: a row for each mail, light beside dark, at every width."""
    rows = "".join(f'<div class="row">{_frames(name, html)}</div>' for name, html in mails.items())
    return _PAGE.format(rows=rows, width=_sheet_width(), gap=GAP)


def _sheet_width() -> int:
    frames = [width for _ in SCHEMES for width in WIDTHS]
    return sum(frames) + GAP * (len(frames) - 1)


def _frames(name: str, html: str) -> str:
    return "".join(
        f"<figure><figcaption>{escape(name)}, {width}, {scheme}</figcaption>"
        f'<iframe width="{width}" height="400" srcdoc="{escape(html.replace(_CONDITION, condition))}"></iframe>'
        "</figure>"
        for scheme, condition in SCHEMES.items()
        for width in WIDTHS
    )


def _photograph(browser: str, page: Path, picture: Path) -> None:
    width = _sheet_width() + 2 * GAP
    address = page.resolve().as_uri()
    with tempfile.TemporaryDirectory() as profile:
        flags = (*_FLAGS, f"--user-data-dir={profile}", f"--force-device-scale-factor={SCALE}")
        seen = _run([browser, *flags, f"--window-size={width},2000", "--dump-dom", address])
        found = _HEIGHT.search(seen)
        height = int(found[1]) if found else 2000
        _run([browser, *flags, f"--window-size={width},{height}", f"--screenshot={picture.resolve()}", address])


def _run(command: list[str]) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS)  # noqa: S603 - the operator's own browser, on a page of ours
    return done.stdout
