"""Text from outside made fit for mail: no controls, no broken characters, no longer than its place.

Grapheme clusters are those of UAX #29 and widths those of UAX #11, both as the wcwidth package knows them.
"""

import re
import unicodedata
from urllib.parse import urlsplit

from wcwidth import iter_graphemes, wcswidth

ELLIPSIS = "…"
HAN_ELLIPSIS = "……"
"""In Chinese it takes two cells (GB/T 15834)."""
LONGEST_URL_LABEL = 60
CODE_POINTS_PER_CELL = 12
"""A family emoji has eleven code points in two cells; what has many more is an attack on the layout."""
_DANGLING = " ,;:，、；：·-–—(（《“‘"
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_LINE_ENDS = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
_BARRED = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # C0 and C1 controls
    "\ud800-\udfff"  # lone surrogates
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # Bidi_Control, UAX #9
    "\ufdd0-\ufdef\ufffe\uffff"  # no characters
    "\ufeff"  # a byte order mark that came along
    "]"
)


def clean(text: str) -> str:
    """The text on one line, without controls, lone surrogates and bidi controls; joiners of emoji and scripts stay."""
    return _BARRED.sub("", _LINE_ENDS.sub(" ", text)).strip()


def cells(text: str) -> int:
    """How many columns of a fixed-width display the text takes; Han characters take two."""
    return max(0, wcswidth(text))


def shorten(text: str, limit: int) -> str:
    """The text within ``limit`` cells, cut between clusters, best between words; then it ends with “…”, in Han “……”."""
    if cells(text) <= limit and len(text) <= limit * CODE_POINTS_PER_CELL:
        return text
    head = _head(text, limit - len(ELLIPSIS))
    if not _HAN.match(head[-1:]):
        return head + ELLIPSIS
    return _head(text, limit - len(HAN_ELLIPSIS)) + HAN_ELLIPSIS


def _head(text: str, limit: int) -> str:
    return _at_word_end("".join(_clusters_within(text, limit)), text).rstrip(_DANGLING)


def _clusters_within(text: str, limit: int) -> list[str]:
    kept: list[str] = []
    used = points = 0
    for cluster in iter_graphemes(text):
        used, points = used + cells(cluster), points + len(cluster)
        if used > limit or points > limit * CODE_POINTS_PER_CELL:
            break
        kept.append(cluster)
    return kept


def _at_word_end(kept: str, text: str) -> str:
    """Without the word that the cut went through, unless that takes more than a third away."""
    following = text[len(kept) : len(kept) + 1]
    if not (kept and _is_latin(kept[-1]) and _is_latin(following)):
        return kept
    words, space, _ = kept.rpartition(" ")
    return words if space and len(words) * 3 > len(kept) * 2 else kept


def _is_latin(character: str) -> bool:
    return bool(character) and character.isalnum() and unicodedata.east_asian_width(character) not in "WF"


def label(text: str, limit: int) -> str:
    """The text as a headline or link label: a bare URL is cut to 60 cells, other text to ``limit``."""
    is_address = " " not in text and text.lower().startswith(("http://", "https://", "www."))
    return shorten(text, min(limit, LONGEST_URL_LABEL) if is_address else limit)


def web_address(url: str) -> str:
    """The address if a reader may be sent there (http or https, with a host), else an empty text."""
    address = clean(url)
    if " " in address:
        return ""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return address if parts.scheme.lower() in {"http", "https"} and parts.netloc else ""
