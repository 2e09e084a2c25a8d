"""The full text of a story from its page, by trafilatura, where the site lets robots read it."""

import trafilatura

from digest.sources.charset import decode
from digest.sources.fetch import WebFetcher
from digest.sources.inflate import gunzipped
from digest.sources.robots import Robots
from digest.sources.text import clean_text, without_furniture

LONGEST_TEXT = 60_000
_LARGEST_PAGE = 5_000_000
_MARKUP_TYPES = ("text/html", "application/xhtml+xml")


class WebPages:
    """Implements :class:`digest.ports.PageReader`: every hop is checked like a feed's and shown to robots.txt first."""

    def __init__(self, fetcher: WebFetcher, robots: Robots) -> None:
        self._fetcher = fetcher
        self._robots = robots

    def read(self, url: str) -> str:
        """The page's main text, one line per paragraph; empty where it has none that can be told from the rest."""
        document = self._fetcher.follow(url, permit=self._robots.permit)
        kind = document.content_type.partition(";")[0].strip().lower()
        if kind and kind not in _MARKUP_TYPES:
            return ""
        page = decode(gunzipped(document.body, _LARGEST_PAGE), document.content_type).text
        return text_of_page(page, document.url)


def text_of_page(page: str, url: str) -> str:
    """The main text of a page given as markup; no comments, no tables, no repeated parts."""
    found = trafilatura.extract(
        page, url=url, include_comments=False, include_tables=False, deduplicate=False, favor_precision=True
    )
    return without_furniture(clean_text(found or ""))[:LONGEST_TEXT]
