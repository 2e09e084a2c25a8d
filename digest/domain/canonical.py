"""The one spelling of a page's address under which a story is unique, and the slug of its page here."""

import re
import unicodedata
from hashlib import sha256
from urllib.parse import quote, unquote, urlsplit, urlunsplit

_TRACKING = re.compile(
    r"utm_\w+|utm|[gdy]clid|gclsrc|gbraid|wbraid|fbclid|msclkid|twclid|igshid|igsh|ttclid|li_fat_id|mc_[ce]id|mkt_tok"
    r"|_hs(?:enc|mi)|_ga|_gl|vero_(?:id|conv)|oly_(?:anon|enc)_id|spm|scm|share_(?:token|source|medium)|s_cid|cmpid"
    r"|wt\.mc_id|at_(?:medium|campaign|link)\w*|pk_(?:campaign|kwd|source|medium)|ref_src|ref_url",
    re.IGNORECASE,
)
_TWIN_HOSTS = re.compile(r"^(?:(?:www\d?|m|mobile|wap|touch|3g|amp)\.)+(?=[^.]+\.[^.])")
_MOBILE_WIKI = re.compile(r"(?<=[a-z])\.m(?=\.(?:wiki\w+|mediawiki|wiktionary)\.org$)")
_AMP_CACHE_HOST = re.compile(r"\.cdn\.ampproject\.org$")
_AMP_CACHE_PATH = re.compile(r"^/(?:[acirv]/)+(?:s/)?(?P<page>[^/]+\.[^/]+/.*)$")
_AMP_VIEWER_PATH = re.compile(r"^/amp/(?:s/)?(?P<page>[^/]+\.[^/]+/.*)$")
_AMP_VIEWERS = re.compile(r"^(?:www\.)?google\.[a-z.]+$")
_AMP_PATH = re.compile(r"(?:/amp(?:\.html?)?|(?<=[^/])\.amp(?=\.html?$|$))/?$|^/amp(?=/.+/)", re.IGNORECASE)
_AMP_PARAMETERS = frozenset({"amp", "amp=1", "amp=true", "outputtype=amp", "usqp=mq331aq"})
_DEFAULT_PORTS = {80, 443, None}
_SLUG_LENGTH = 72
_HASH_LENGTH = 10
_ENOUGH_LETTERS = 8
_UNRESERVED_OR_RESERVED = "!$&'()*+,/:;=@~"


def canonical_url(url: str) -> str:
    """The spelling that all addresses of one page share, for comparing only; it need not lead anywhere.

    Equal are: http and https, upper and lower case of the host, default ports, ``www.``, ``m.`` and the like before a
    host, percent-encoding of what needs none, a trailing slash, the order of parameters, a page and its AMP edition
    (its site's own or a cached one). A fragment and tracking parameters (``utm_*``, ``gclid``, …) do not count.

    Args:
        url: absolute http(s) address.
    """
    parts = urlsplit(_without_amp_cache(url.strip()))
    host = _MOBILE_WIKI.sub("", _TWIN_HOSTS.sub("", (parts.hostname or "").rstrip(".")))
    place = host if parts.port in _DEFAULT_PORTS else f"{host}:{parts.port}"
    path = _AMP_PATH.sub("", quote(unquote(parts.path), safe=_UNRESERVED_OR_RESERVED)).rstrip("/")
    pieces = [piece for piece in parts.query.split("&") if piece and not _is_tracking(piece)]
    kept = sorted(piece for piece in pieces if piece.lower() not in _AMP_PARAMETERS)
    return f"https://{place}{path}" + (f"?{'&'.join(kept)}" if kept else "")


def slug_for(title: str, url: str) -> str:
    """A short name for the story's page: the words of an English title, else its Latin words and a stable hash.

    Two stories may get one slug; who stores them adds a suffix.

    Args:
        title: in English where there is one.
        url: the story's address; its canonical spelling is what is hashed.
    """
    words = _latin_words(title)
    if len(words) >= _ENOUGH_LETTERS and not _has_other_letters(title):
        return words
    hashed = sha256(canonical_url(url).encode()).hexdigest()[:_HASH_LENGTH]
    return f"{words or 'story'}-{hashed}"


def _without_amp_cache(url: str) -> str:
    """The page that a cache of AMP pages or a viewer of them holds; any other address as it is."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    held = _AMP_CACHE_PATH if _AMP_CACHE_HOST.search(host) else _AMP_VIEWER_PATH if _AMP_VIEWERS.match(host) else None
    found = held.match(parts.path) if held else None
    return urlunsplit(("https", *found["page"].partition("/")[::2], parts.query, "")) if found else url


def _is_tracking(piece: str) -> bool:
    return _TRACKING.fullmatch(unquote(piece.partition("=")[0])) is not None


def _latin_words(title: str) -> str:
    folded = unicodedata.normalize("NFKD", title).replace("’", "").replace("'", "")
    # Accents go, other scripts end a word.
    base = "".join(c for c in folded if not unicodedata.combining(c)).lower()
    words = "-".join(re.findall(r"[a-z0-9]+", base))
    if len(words) <= _SLUG_LENGTH:
        return words
    return words[: _SLUG_LENGTH + 1].rpartition("-")[0] or words[:_SLUG_LENGTH]


def _has_other_letters(title: str) -> bool:
    folded = unicodedata.normalize("NFKD", title)
    return any(c.isalpha() and not c.isascii() for c in folded)
