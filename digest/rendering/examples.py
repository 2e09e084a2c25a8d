"""Every e-mail with the example data in ``emails/examples``, as tests and previews show it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from digest.domain.brief import BriefStory
from digest.domain.language import Language
from digest.domain.story import StoryText
from digest.links import Links
from digest.ports import Message
from digest.rendering.brief import render_brief
from digest.rendering.dates import full_date
from digest.rendering.letters import (
    AddressChange,
    AddressChanged,
    Alarm,
    AlreadySubscribed,
    Back,
    Confirm,
    ExportReady,
    Goodbye,
    Letter,
    Paused,
    PreferencesLink,
    Report,
    Welcome,
    render_letter,
)
from digest.rendering.site import Site
from digest.rendering.templates import Templates

EXAMPLE_NONCE = "example-nonce-0000"
LETTERS: Mapping[str, Callable[..., Letter]] = {
    letter.kind: letter
    for letter in (
        Confirm,
        AlreadySubscribed,
        Welcome,
        PreferencesLink,
        Goodbye,
        Paused,
        Back,
        ExportReady,
        AddressChange,
        AddressChanged,
        Alarm,
        Report,
    )
}
KINDS = ("brief", *LETTERS)
_INSTANTS = frozenset({"next_send", "since"})
_DATES = frozenset({"subscribed_on", "on"})


def example_stories(folder: Path, language: Language) -> list[BriefStory]:
    """The example brief's stories in ``language``; ``folder`` is the e-mails' folder."""
    return [_story(number, story, language) for number, story in enumerate(_read(folder, "brief")["stories"], 1)]


def example_messages(templates: Templates, links: Links, site: Site, language: Language) -> list[Message]:
    """One message of each kind. The brief's slots still hold their markers."""
    return [example_message(templates, links, site, language, kind) for kind in KINDS]


def example_message(templates: Templates, links: Links, site: Site, language: Language, kind: str) -> Message:
    """The message of one of :data:`KINDS`."""
    stories = example_stories(templates.folder, language)
    if kind in LETTERS:
        letter = _letter(templates.folder, kind, stories, language)
        key = f"letter-{KINDS.index(kind)}"
        return render_letter(templates, links, site, key=key, language=language, letter=letter)
    facts = _read(templates.folder, kind)
    return render_brief(
        templates,
        links,
        site,
        brief_id=facts["brief_id"],
        stories=stories,
        language=language,
        on=date.fromisoformat(facts["on"]),
        nonce=EXAMPLE_NONCE,
    )


def for_example_reader(message: Message, links: Links, since: date) -> Message:
    """The message with the values of a reader, who subscribed on ``since``, in the place of its markers."""
    values = {
        "unsubscribe_url": links.unsubscribe(0),
        "preferences_url": links.preferences(0),
        "subscribed_on": full_date(since, message.language),
    }
    html, text = message.html, message.text
    for slot, marker in message.slots.items():
        html, text = html.replace(marker, values[slot]), text.replace(marker, values[slot])
    return replace(message, html=html, text=text, slots={})


def _read(folder: Path, name: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((folder / "examples" / f"{name}.json").read_text(encoding="utf-8"))
    return facts


def _letter(folder: Path, kind: str, stories: list[BriefStory], language: Language) -> Letter:
    """The letter with its example's facts; what is written in a language stands under that language."""
    facts = _read(folder, kind)
    own = facts.get(str(language), {})
    given = {name: _value(name, value) for name, value in (facts | own).items() if name not in set(Language)}
    if kind == Welcome.kind:
        given["stories"] = stories
    return LETTERS[kind](**given)


def _value(name: str, value: object) -> object:
    if name in _INSTANTS:
        return datetime.fromisoformat(str(value))
    return date.fromisoformat(str(value)) if name in _DATES else value


def _story(number: int, facts: dict[str, Any], language: Language) -> BriefStory:
    texts = facts["texts"][str(language)]
    return BriefStory(
        id=number,
        slug=facts["slug"],
        url=facts["url"],
        source=facts["source"],
        text=StoryText(**{**texts, "key_points": tuple(texts.get("key_points", ()))}),
        language=language,
        published_at=None,
        topics=tuple(facts["topics"]),
        score=facts["score"],
    )
