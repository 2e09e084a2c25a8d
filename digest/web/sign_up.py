"""The sign-up form: what it shows at first, and again with what was typed when something is wrong."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from digest.domain.address import mend_address
from digest.domain.errors import BadInputError
from digest.domain.language import BOTH, Language, language_choice
from digest.domain.schedule import DEFAULT_TIME, WEEKDAY_NAMES, Cadence, weekdays_text
from digest.domain.subscriber import topics_of
from digest.settings import Settings
from digest.steps.check_address import SlipError
from digest.web.complaints import complaints
from digest.web.edge import Edge
from digest.web.fields import Fields
from digest.web.phrases import WEEKDAYS
from digest.web.wishes import Wanted
from digest.web.zones import ZoneChoice, meant_zone, zone_choices

TRAP = "leave_empty"
"""A field that people do not see; its name and label are none that browsers and password keepers fill in."""
SOURCE, EMBED = "source", "embed"
"""A form on another site says so, for the consent's record."""
ZONE_FROM = "timezone_from"
ASSUMED = "default"
MORE_CHOICES = ("time", "weekdays", "topics")


@dataclass(frozen=True, slots=True)
class FormView:
    """The values of a form as its template shows them.

    Attributes:
        choice: the field's value: a language or ``both``.
        cadence: the mornings that the values mean; where one can't be used, the usual ones.
        timezone_from: ``default`` while nobody chose the zone; the page's script then asks the browser.
        email_checked: an address that looks like a slip and that its owner is asked about just now.
        email_meant: what was probably meant instead.
        errors: field -> sentence.
        more_is_open: whether the choices that few people make are shown at once.
    """

    choice: str
    cadence: Cadence
    timezone: str
    time: str
    weekdays: Collection[str]
    topics: Collection[str]
    email: str = field(default="", repr=False)
    email_checked: str = field(default="", repr=False)
    email_meant: str = field(default="", repr=False)
    timezone_from: str = ASSUMED
    errors: Mapping[str, str] = field(default_factory=dict)
    more_is_open: bool = False


def usual_wishes(settings: Settings, language: Language) -> Wanted:
    """What a visitor gets who chooses nothing: every day at 8:00, all topics."""
    return Wanted(language_choice(language), Cadence(settings.default_timezone, DEFAULT_TIME))


def form_of(wanted: Wanted) -> FormView:
    """A form that shows ``wanted``."""
    cadence = wanted.cadence
    return FormView(
        choice=BOTH if wanted.languages.is_both else wanted.language,
        cadence=wanted.cadence,
        timezone=cadence.timezone,
        time=f"{cadence.at:%H:%M}",
        weekdays=weekdays_text(cadence.weekdays).split(","),
        topics=topics_of(wanted.topics),
    )


def box_of(edge: Edge, language: Language) -> dict[str, object]:
    """What the short form at the foot of a page shows."""
    return {"form": form_of(usual_wishes(edge.application.settings, language))}


def form_again(fields: Fields, wanted: Wanted, errors: Mapping[str, BadInputError], language: Language) -> FormView:
    """The form with what was typed, so that only what is wrong has to be written again."""
    usual, slip = form_of(wanted), errors.get("email")
    zone = fields.text("timezone")
    days, topics = fields.words("weekdays"), fields.words("topics")
    return FormView(
        choice=usual.choice,
        cadence=wanted.cadence,
        timezone=usual.timezone if zone is None else meant_zone(zone) or zone,
        time=fields.text("time") or usual.time,
        weekdays=usual.weekdays if days is None else days,
        topics=usual.topics if topics is None else topics,
        email=fields.text("email") or "",
        email_checked=str(slip.value) if isinstance(slip, SlipError) else fields.text("email_checked") or "",
        email_meant=slip.meant if isinstance(slip, SlipError) else "",
        timezone_from=fields.text(ZONE_FROM) or "reader",
        errors=complaints(errors, language),
        more_is_open=any(name in errors for name in MORE_CHOICES),
    )


def was_mended(fields: Fields) -> bool:
    """Whether the address was typed with full-width or invisible characters, so that the reader sees it corrected."""
    typed = (fields.text("email") or "").strip()
    return mend_address(typed) != typed


def zone_is_assumed(fields: Fields, settings: Settings) -> bool:
    """Whether neither the reader nor the browser named a zone."""
    zone = fields.text("timezone")
    return zone is None or (fields.text(ZONE_FROM) == ASSUMED and zone == settings.default_timezone)


def form_choices(language: Language, topics: Collection[str]) -> dict[str, object]:
    """What the form's template offers to choose from."""
    zones: tuple[ZoneChoice, ...] = zone_choices(language)
    return {"zones": zones, "weekday_names": {name: WEEKDAYS[name] for name in WEEKDAY_NAMES}, "topics": sorted(topics)}
