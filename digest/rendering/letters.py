"""Letters: e-mail to one reader about their subscription. Each kind says what it needs; nothing in them is a slot."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import ClassVar

from digest.domain.brief import BriefStory
from digest.domain.language import Language
from digest.links import Links
from digest.ports import Message
from digest.rendering.clean import clean
from digest.rendering.dates import full_date, local_time, weekday_date, zone_name
from digest.rendering.site import Site
from digest.rendering.stories import story_views
from digest.rendering.templates import Templates

WELCOME_STORIES = 5


@dataclass(frozen=True, slots=True)
class Confirm:
    """Asks the owner of an address whether they want the brief; holds nothing that a stranger typed."""

    kind: ClassVar[str] = "confirm"
    confirm_url: str
    valid_days: int


@dataclass(frozen=True, slots=True)
class Welcome:
    """Says that the subscription stands and when the first brief comes.

    Attributes:
        next_send: aware, in the reader's zone.
        timezone: the IANA name of that zone, as the reader gave it.
        stories: those of the latest brief, best first; may be empty.
    """

    kind: ClassVar[str] = "welcome"
    next_send: datetime
    timezone: str
    subscribed_on: date
    preferences_url: str
    unsubscribe_url: str
    stories: Sequence[BriefStory] = ()


@dataclass(frozen=True, slots=True)
class Goodbye:
    """Says that the reader has left, with a way back."""

    kind: ClassVar[str] = "goodbye"
    undo_url: str


@dataclass(frozen=True, slots=True)
class AlreadySubscribed:
    """Answers a sign-up for an address that gets the brief already."""

    kind: ClassVar[str] = "already_subscribed"
    preferences_url: str


Letter = Confirm | Welcome | Goodbye | AlreadySubscribed


def render_letter(
    templates: Templates, links: Links, site: Site, *, key: str, language: Language, letter: Letter
) -> Message:
    """The letter as a message named ``key`` (``letter-7``)."""
    values: dict[str, object] = {
        "site": Site(clean(site.name), clean(site.postal_address), site.base_url),
        "home_url": links.home(language),
        **(_welcome(letter, links, language) if isinstance(letter, Welcome) else asdict(letter)),
    }
    words = templates.render(letter.kind, language, values)
    return Message(key, letter.kind, language, words.subject, words.html, words.text)


def _welcome(letter: Welcome, links: Links, language: Language) -> dict[str, object]:
    return {
        "first_date": weekday_date(letter.next_send.date(), language),
        "first_time": local_time(letter.next_send.time(), language),
        "zone": zone_name(letter.timezone, language),
        "subscribed_on": full_date(letter.subscribed_on, language),
        "preferences_url": letter.preferences_url,
        "unsubscribe_url": letter.unsubscribe_url,
        "web_url": "",
        "stories": story_views(letter.stories[:WELCOME_STORIES], links, language),
    }
