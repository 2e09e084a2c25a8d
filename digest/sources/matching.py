"""Whether two headlines report one event: the rule of decision 43, which also says how well it does.

A wrong yes costs a reader a story, a wrong no shows one twice, so doubt is a no.
"""

import re
from datetime import timedelta
from functools import lru_cache
from hashlib import blake2b

from rapidfuzz import fuzz

from digest.domain.story import Sighting
from digest.sources.terms import Terms, fold, is_known_name, terms_of

STRONG = "="
"""Begins a key that is enough by itself to look at a pair; see :mod:`digest.store.grouping`."""
ALIKE = 90.0
"""Titles of one language whose words are the same to this percentage, in any order, report one event."""
SHARED = 0.6
"""The part of the shorter title's weight that both share."""
SHARED_WITH_FIGURE = 0.4
"""The same where a product, an amount or a deed such as a takeover is among it."""
ENOUGH = 4.0
"""The least weight of what is shared: a company and two more words, say, or a company and a product."""
OWN = 2.0
"""The least of it that stands in both titles, and not in a publisher's name only."""
_SAME_SOURCE_HOURS = 12
_PRODUCT, _AMOUNT, _WORD, _PAIR = 3.0, 2.0, 1.5, 0.5
_MOST_LINKS = 5
_MOST_WORDS = 8
_MOST_PAIRS = 10
_COMMON_DEEDS = frozenset({"release", "update"})
"""Deeds that most news is about."""
_ROUNDUP = re.compile(
    r"日报[:：]|早报|晚报|周报|一周|round-?up|newsletter|th(?:is|e) week in|(?:[^;；]+[;；]){2}", re.IGNORECASE
)
"""Titles of many events at once, which are the twin of none of them."""


class TitleMatcher:
    """Implements :class:`digest.ports.Matcher` on titles, addresses and links."""

    reach = timedelta(days=3)

    def keys(self, sighting: Sighting) -> frozenset[str]:
        """The page itself and the few it links to, the title as a whole, its products, and its telling terms."""
        pages = [sighting.url, *sighting.links] if len(sighting.links) <= _MOST_LINKS else [sighting.url]
        strong = {f"{STRONG}{_short(page)}" for page in pages} | {f"{STRONG}{_short(_words(sighting.title))}"}
        terms = _terms(sighting.title)
        strong |= {f"{STRONG}{product}" for product in terms.products}
        words = sorted(terms.words, key=lambda word: (not is_known_name(word), -len(word), word))[:_MOST_WORDS]
        pairs = sorted(terms.han)[:_MOST_PAIRS]
        return frozenset(strong | terms.amounts | set(words) | set(pairs))

    def is_same(self, one: Sighting, other: Sighting) -> bool:
        """Whether both report the same event."""
        if one.url == other.url:
            return True
        if abs(one.at - other.at) > self.reach or _is_roundup(one.title) or _is_roundup(other.title):
            return False
        if one.source == other.source:
            return _is_reissue(one, other)
        a, b = _terms(one.title), _terms(other.title)
        if _contradict(a, b):
            return False
        in_one_language = one.language == other.language
        if in_one_language and fuzz.token_sort_ratio(_words(one.title), _words(other.title)) >= ALIKE:
            return True
        weights = (_weights(a, pairs=in_one_language), _weights(b, pairs=in_one_language))
        return _share(*weights, _publisher(one), _publisher(other), least=_least(a, b))


def _short(text: str) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=12).hexdigest()


@lru_cache(maxsize=8192)
def _terms(title: str) -> Terms:
    return terms_of(title)


@lru_cache(maxsize=8192)
def _is_roundup(title: str) -> bool:
    return _ROUNDUP.search(title) is not None


@lru_cache(maxsize=8192)
def _words(title: str) -> str:
    return fold(title)


def _is_reissue(one: Sighting, other: Sighting) -> bool:
    """One source gives one event twice only under one title; columns with a fixed title come a day apart or more."""
    soon = abs(one.at - other.at) < timedelta(hours=_SAME_SOURCE_HOURS)
    return soon and one.language == other.language and _words(one.title) == _words(other.title)


def _contradict(a: Terms, b: Terms) -> bool:
    """Both name products, amounts or deeds, and none of them in common; or one tells of the future."""
    pairs = ((a.products, b.products), (a.amounts, b.amounts), (a.deeds, b.deeds))
    return a.ahead != b.ahead or any(mine and theirs and not mine & theirs for mine, theirs in pairs)


def _weights(terms: Terms, *, pairs: bool) -> dict[str, float]:
    weights = dict.fromkeys(terms.words, _WORD) | dict.fromkeys(terms.deeds - _COMMON_DEEDS, _WORD)
    weights |= dict.fromkeys(terms.amounts, _AMOUNT) | dict.fromkeys(terms.products, _PRODUCT)
    return weights | (dict.fromkeys(terms.han, _PAIR) if pairs else {})


def _publisher(sighting: Sighting) -> dict[str, float]:
    """A company's own news leaves its name out of the title, and its readers don't miss it."""
    return dict.fromkeys(_terms(sighting.source).words, _WORD)


def _least(a: Terms, b: Terms) -> float:
    """A figure, a product or a deed in common says more than as many words."""
    telling = (a.products & b.products) | (a.amounts & b.amounts) | ((a.deeds & b.deeds) - _COMMON_DEEDS)
    return SHARED_WITH_FIGURE if telling else SHARED


def _share(
    a: dict[str, float], b: dict[str, float], by_a: dict[str, float], by_b: dict[str, float], *, least: float
) -> bool:
    with_a, with_b = by_a | a, by_b | b
    # What only the publishers' names have in common is no sign: two papers may be called alike.
    shared = sum(with_a[term] for term in with_a.keys() & with_b.keys() if term in a or term in b)
    shorter = min(sum(a.values()), sum(b.values()))
    own = sum(a[term] for term in a.keys() & b.keys())
    return own >= OWN and shared >= ENOUGH and shared >= least * shorter
