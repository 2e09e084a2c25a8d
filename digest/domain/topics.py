"""Topics: a small tree in both languages, how stories get theirs, and what readers follow or mute."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from digest.domain.language import Language
from digest.domain.topic_tree import TREE

MUTED = "-"
"""Before a topic in a reader's list: none of it, please."""
MOST_OF_A_STORY = 3
TITLE_COUNTS = 3
ENOUGH = 2
"""Mentions that put a story under a topic; one in the title is enough."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic of the tree.

    Attributes:
        name: stands in settings, forms and addresses; ASCII.
        labels: as readers see it.
        parent: the name of the topic it belongs to; empty at the top.
    """

    name: str
    labels: dict[Language, str]
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Taste:
    """What a reader follows and mutes; following nothing means everything."""

    followed: tuple[str, ...] = ()
    muted: tuple[str, ...] = ()

    def takes(self, topics: Sequence[str]) -> bool:
        """Whether the reader wants a story of these topics; a muted one outweighs a followed one."""
        if any(is_under(topic, muted) for topic in topics for muted in self.muted):
            return False
        return not self.followed or any(is_under(topic, f) for topic in topics for f in self.followed)


@cache
def topic_tree() -> tuple[Topic, ...]:
    """Every topic, each parent before its children, in the order in which forms list them."""
    return tuple(
        Topic(name, {Language.ENGLISH: english, Language.CHINESE: chinese}, parent)
        for name, parent, english, chinese, _, _ in TREE
    )


@cache
def _by_name() -> dict[str, Topic]:
    return {topic.name: topic for topic in topic_tree()}


def topic_named(name: str) -> Topic | None:
    """The topic of the tree with that name."""
    return _by_name().get(name.strip().lower())


def is_under(name: str, ancestor: str) -> bool:
    """Whether ``name`` is ``ancestor`` or lies below it. Topics outside the tree are under themselves only."""
    while name != ancestor:
        topic = topic_named(name)
        if topic is None or not topic.parent:
            return False
        name = topic.parent
    return True


def main_branch(topics: Sequence[str]) -> str:
    """The top of the tree that a story's main topic belongs to; empty where it has none."""
    name = topics[0] if topics else ""
    while (topic := topic_named(name)) and topic.parent:
        name = topic.parent
    return name


def taste_of(topics: Iterable[str]) -> Taste:
    """The taste that a reader's list says, in which ``-policy`` mutes."""
    given = list(topics)
    muted = tuple(sorted({name.removeprefix(MUTED) for name in given if name.startswith(MUTED)}))
    return Taste(tuple(sorted({name for name in given if not name.startswith(MUTED)})), muted)


def topics_in(title: str, body: str, given: Collection[str] = ()) -> tuple[str, ...]:
    """The topics of a story by the words it uses: the main one first, at most :data:`MOST_OF_A_STORY`.

    Args:
        given: what its source or its editor says; always kept, before those found.
    """
    counted: Counter[str] = Counter()
    # Lowered once: a search that ignores case takes twice as long, for each of the patterns.
    title, body = title.lower(), body.lower()
    for name, pattern in _patterns():
        heads, mentions = len(pattern.findall(title)), len(pattern.findall(body))
        if TITLE_COUNTS * heads + mentions >= ENOUGH:
            counted[name] = TITLE_COUNTS * heads + mentions
    found = [name for name, _ in counted.most_common()]
    specific = [name for name in found if not any(other != name and is_under(other, name) for other in found)]
    return tuple(dict.fromkeys([*given, *specific]))[: max(len(given), MOST_OF_A_STORY)]


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, _pattern(english, chinese)) for name, _, _, _, english, chinese in TREE)


def _pattern(english: str, chinese: str) -> re.Pattern[str]:
    # Han has no gaps between words, so an English word may stand right beside it.
    latin = rf"(?<![a-z0-9])(?:{english})(?![a-z])"
    return re.compile(f"{latin}|{chinese}" if chinese else latin)
