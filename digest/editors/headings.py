"""Headings that a source's plain text runs into the sentence behind them."""

import re

_NUMBERED = re.compile(r"^(?:\d{1,2}\s*[、.)）]|[-•·*▪])\s*(?=\D)")
_ABOUT = re.compile(r"(?:本文|文章)(?:详细|重点)?(?:介绍|讲述|探讨|分析)了")
"""How some lists begin what stands below a heading."""
_WORD = re.compile(r"\S+")
_SMALL = frozenset(
    ("a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "of", "on", "or", "the", "to", "with")
)
_OPENERS = frozenset(
    ("The", "A", "An", "This", "These", "In", "At", "With", "For", "Our", "We", "It", "To", "By", "As", "On", "When")
)
_SHORTEST_RUN = 4
"""Words: what is shorter may be a name."""
_SHORTEST_HEAD, _LONGEST_HEAD = 8, 90
"""Characters."""
_LATIN_OPENING = re.compile(r"[A-Za-z][A-Za-z0-9.+-]{2,}")
_HAN_OPENINGS = (4, 2)
"""Characters of an opening: four that come again are a name, two are one only within a clause."""
_STOPS = re.compile(r"[，。；！？,;]")


def is_list(body: str) -> bool:
    """Whether a text is a list of items, each with a heading: then any sentence may begin with one."""
    return _NUMBERED.match(body) is not None


def without_heading(sentence: str, *, listed: bool = False) -> str:
    """The sentence without the number or bullet of its item and without the heading in front of it.

    A heading shows by its capitals (“Availability and Support The card is…”), or by a numbered item that begins anew
    with its first word: “1、小米发布新车小米今天发布……”. What can't be told apart stays as it is.

    Args:
        listed: it stands in a list of items, so that a word which begins anew ends a heading, number or not.
    """
    bare = _NUMBERED.sub("", sentence)
    begun_anew = _second_beginning(bare, is_item=listed or bare != sentence)
    return bare[begun_anew:] if begun_anew else bare[_after_capitals(bare) :]


def _second_beginning(text: str, *, is_item: bool) -> int:
    """Where the opening word of a heading comes again, or its text says what it is about; else 0."""
    if is_item and (about := _ABOUT.search(text, 0, _LONGEST_HEAD)):
        return about.end()
    if latin := _LATIN_OPENING.match(text):
        again = text.find(latin[0], _SHORTEST_HEAD, _LONGEST_HEAD)
        return again if again > 0 and (is_item or _is_title(text[:again].split())) else 0
    for length in _HAN_OPENINGS if is_item else ():
        again = text.find(text[:length], _SHORTEST_HEAD, _LONGEST_HEAD)
        if again > 0 and (length == _HAN_OPENINGS[0] or not _STOPS.search(text[:again])):
            return again
    return 0


def _after_capitals(text: str) -> int:
    """Where a sentence begins behind a run of capitalized words; 0 where there is no such run."""
    words = list(_WORD.finditer(text))
    for number, word in enumerate(words):
        if not (word[0][:1].isupper() or word[0][:1].isdigit() or word[0] in _SMALL or word[0] == "&"):
            return 0
        if number >= _SHORTEST_RUN - 1 and word[0] in _OPENERS and _is_title([w[0] for w in words[:number]]):
            return word.start()
    return 0


def _is_title(words: list[str]) -> bool:
    """Whether all but the small words are capitalized, and none ends in a stop."""
    large = [word for word in words if word not in _SMALL]
    return len(large) >= _SHORTEST_RUN - 1 and all(
        not word[:1].islower() and not word.endswith((";", ".", ":")) for word in large
    )
