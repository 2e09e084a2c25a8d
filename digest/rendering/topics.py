"""What topics are called. A topic outside this list is shown as its source wrote it."""

from digest.domain.language import Language
from digest.domain.topics import topic_named, topic_tree
from digest.rendering.clean import clean, shorten

LONGEST_TOPIC = 24
TOPICS = tuple(topic.name for topic in topic_tree())
"""The names of the brief's own topics, each parent before its children."""


def topic_name(topic: str, language: Language) -> str:
    """The topic as a reader sees it: ``Chips``, ``芯片``."""
    known = topic_named(topic)
    if known is not None:
        return known.labels[language]
    word = clean(topic)
    return shorten(word[:1].upper() + word[1:], LONGEST_TOPIC)
