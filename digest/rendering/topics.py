"""What topics are called. A topic outside this list is shown as its source wrote it."""

from digest.domain.language import Language
from digest.rendering.catalogue import translations
from digest.rendering.clean import clean, shorten

LONGEST_TOPIC = 24


def _message(text: str) -> str:
    """Marks a message for extraction; it is translated where it is used."""
    return text


TOPICS = {
    "agents": _message("Agents"),
    "business": _message("Business"),
    "chips": _message("Chips"),
    "models": _message("Models"),
    "policy": _message("Policy"),
    "research": _message("Research"),
    "robotics": _message("Robotics"),
    "safety": _message("Safety"),
    "science": _message("Science"),
    "tools": _message("Tools"),
}


def topic_name(topic: str, language: Language) -> str:
    """The topic as a reader sees it: ``Chips``, ``芯片``."""
    known = TOPICS.get(topic.strip().lower())
    if known is not None:
        return translations(language, "emails").gettext(known)
    word = clean(topic)
    return shorten(word[:1].upper() + word[1:], LONGEST_TOPIC)
