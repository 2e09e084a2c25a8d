"""Letters: e-mail to one reader about their subscription. Each kind says what it needs; nothing in them is a slot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import ClassVar

from digest.domain.brief import BriefStory
from digest.domain.language import Language
from digest.links import Links
from digest.ports import Message
from digest.rendering.dates import full_date, local_time, weekday_date, zone_name
from digest.rendering.reports import report_words
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


@dataclass(frozen=True, slots=True)
class PreferencesLink:
    """Brings the link to the reader's settings to whoever owns the address."""

    kind: ClassVar[str] = "preferences_link"
    preferences_url: str


@dataclass(frozen=True, slots=True)
class Paused:
    """Says until when no brief comes; ``next_send`` and ``timezone`` as in :class:`Welcome`."""

    kind: ClassVar[str] = "paused"
    next_send: datetime
    timezone: str
    preferences_url: str


@dataclass(frozen=True, slots=True)
class Back:
    """Says that a pause is over; ``next_send`` and ``timezone`` as in :class:`Welcome`."""

    kind: ClassVar[str] = "back"
    next_send: datetime
    timezone: str
    preferences_url: str


@dataclass(frozen=True, slots=True)
class ExportReady:
    """Says where everything kept about the reader can be fetched."""

    kind: ClassVar[str] = "export_ready"
    export_url: str
    valid_days: int


@dataclass(frozen=True, slots=True)
class AddressChange:
    """Asks the owner of a new address whether briefs may go there."""

    kind: ClassVar[str] = "address_change"
    confirm_url: str
    valid_days: int


@dataclass(frozen=True, slots=True)
class AddressChanged:
    """Tells the old address that briefs go to another one, with a way back.

    Attributes:
        new_address: masked, since the old mailbox may be read by somebody else.
    """

    kind: ClassVar[str] = "address_changed"
    new_address: str
    undo_url: str
    valid_days: int


@dataclass(frozen=True, slots=True)
class Alarm:
    """Tells the operator what has to be looked at.

    Attributes:
        what: a few words, in the language of the letter.
        details: whole sentences.
        since: aware, in the operator's zone.
        timezone: the IANA name of that zone.
    """

    kind: ClassVar[str] = "alarm"
    what: str
    details: Sequence[str]
    since: datetime
    timezone: str
    admin_url: str


@dataclass(frozen=True, slots=True)
class Report:
    """Tells the operator how a morning went.

    Attributes:
        on: the local date.
        is_good: whether nothing has to be looked at.
        flaws: what has, as keys of :data:`digest.rendering.reports.FLAWS`.
        counts: keys of :data:`digest.rendering.reports.COUNTS` -> how many, in order.
        skipped: reason -> how many.
        notes: sentences about what is to be mended.
    """

    kind: ClassVar[str] = "report"
    on: date
    is_good: bool
    flaws: Sequence[str]
    counts: Mapping[str, int]
    skipped: Mapping[str, int]
    notes: Sequence[str]
    admin_url: str


Letter = (
    Confirm
    | Welcome
    | Goodbye
    | AlreadySubscribed
    | PreferencesLink
    | Paused
    | Back
    | ExportReady
    | AddressChange
    | AddressChanged
    | Alarm
    | Report
)
"""Every kind; its ``kind`` is the name of its folder in ``emails/`` and of its rows in the table of letters."""


def render_letter(
    templates: Templates, links: Links, site: Site, *, key: str, language: Language, letter: Letter
) -> Message:
    """The letter as a message named ``key`` (``letter-7``)."""
    values: dict[str, object] = {
        "site": site.in_language(language),
        "home_url": links.home(language),
        "web_url": "",
    }
    for field in fields(letter):
        values |= _shown(field.name, getattr(letter, field.name), language)
    if isinstance(letter, Report):
        values |= report_words(letter.flaws, letter.counts, letter.skipped, language)
    if isinstance(letter, Welcome):
        values["stories"] = story_views(letter.stories[:WELCOME_STORIES], links, language)
    words = templates.render(letter.kind, language, values)
    return Message(key, letter.kind, language, words.subject, words.html, words.text)


def _shown(name: str, value: object, language: Language) -> dict[str, object]:
    """A field as templates show it: an instant as its date and its time, a date with its year, a zone by its place."""
    if isinstance(value, datetime):
        return {
            f"{name}_date": weekday_date(value.date(), language),
            f"{name}_time": local_time(value.time(), language),
        }
    if isinstance(value, date):
        return {name: full_date(value, language)}
    return {"zone": zone_name(str(value), language)} if name == "timezone" else {name: value}
