"""robots.txt (RFC 9309): which pages a site lets us read, asked once an hour."""

from collections.abc import Callable
from threading import Lock
from urllib.parse import urlsplit, urlunsplit

from protego import Protego

from digest.domain.errors import PermanentError
from digest.sources.charset import decode
from digest.sources.fetch import WebFetcher

KEPT_SECONDS = 3600.0
"""RFC 9309 §2.4 allows a day."""
_MOST_READ = 500_000
"""RFC 9309 §2.5: at least 500 KiB must be read."""
_MOST_SITES = 500
_EVERYBODY = Protego.parse("")


class Robots:
    """The rules of the sites visited lately.

    Args:
        fetcher: gets robots.txt, with the same guard and limits as everything.
        agent: the name that rules are looked up by.
        clock: seconds on a clock that only goes forward.
    """

    def __init__(self, fetcher: WebFetcher, agent: str, clock: Callable[[], float]) -> None:
        self._fetcher = fetcher
        self._agent = agent
        self._clock = clock
        self._rules: dict[str, tuple[float, Protego]] = {}
        self._alone = Lock()

    def permit(self, url: str) -> None:
        """Raises PermanentError where the site asks robots not to read this page, TryAgainError where it can't say."""
        parts = urlsplit(url)
        site = urlunsplit((parts.scheme, parts.netloc, "/robots.txt", "", ""))
        if not self._of(site).can_fetch(url, self._agent):
            raise PermanentError(f"{site} asks robots not to read this page")

    def _of(self, site: str) -> Protego:
        now = self._clock()
        known = self._rules.get(site)
        if known and known[0] > now:
            return known[1]
        rules = self._read(site)
        with self._alone:
            while len(self._rules) >= _MOST_SITES:
                del self._rules[next(iter(self._rules))]
            self._rules[site] = (now + KEPT_SECONDS, rules)
        return rules

    def _read(self, site: str) -> Protego:
        """No rules where the site has no such file; one that can't say now is asked again later (RFC 9309 §2.3.1)."""
        try:
            document = self._fetcher.follow(site)
        except PermanentError:
            return _EVERYBODY
        return Protego.parse(decode(document.body[:_MOST_READ], document.content_type).text)
