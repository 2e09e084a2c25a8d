"""The links in a piece of markup."""

import html
import re

from digest.sources.web_address import web_address

_HREF = re.compile(r"<a\s[^>]*?\bhref\s*=\s*(?:\"([^\"]{1,2000})\"|'([^']{1,2000})')", re.IGNORECASE)
_MOST = 40


def links_of_html(markup: str, base: str) -> tuple[str, ...]:
    """The absolute http(s) addresses that the markup links to, each once, in their order; 40 at most.

    Args:
        markup: an HTML fragment, however broken.
        base: the address that relative links start from.
    """
    given = (html.unescape(match[1] or match[2]) for match in _HREF.finditer(markup))
    found = dict.fromkeys(address for link in given if (address := web_address(link, base)))
    return tuple(found)[:_MOST]
