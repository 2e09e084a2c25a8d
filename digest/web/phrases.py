"""Sentences about a reader's mornings, in the reader's language."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

from babel.dates import format_date

from digest.domain.language import Language
from digest.domain.schedule import EVERY_DAY, WEEKDAY_NAMES, Cadence, Send, sends_from
from digest.rendering.catalogue import translations
from digest.rendering.dates import LOCALES, local_time, weekday_date, zone_name

DOMAIN = "web"
WORKDAYS = 0b001_1111
_MONTH = {Language.ENGLISH: "MMMM y", Language.CHINESE: "y年M月"}


def marked(text: str) -> str:
    """Marks a message for the catalogue; it is translated where it is used."""
    return text


WEEKDAYS = {
    "mon": marked("Monday"),
    "tue": marked("Tuesday"),
    "wed": marked("Wednesday"),
    "thu": marked("Thursday"),
    "fri": marked("Friday"),
    "sat": marked("Saturday"),
    "sun": marked("Sunday"),
}
MOMENT = marked("{date}, {time} ({zone})")
EVERY_MORNING = marked("Every day at {time} ({zone})")
ON_WORKDAYS = marked("Monday to Friday at {time} ({zone})")
ON_DAYS = marked("{days} at {time} ({zone})")
BETWEEN_DAYS = marked(", ")


def say(text: str, language: Language, **values: str) -> str:
    """A marked message in ``language``, with its values filled in."""
    return translations(language, DOMAIN).gettext(text).format(**values)


def moment(send: Send, cadence: Cadence, language: Language) -> str:
    """When a brief leaves: ``Thursday, 3 December, 8:00 am (Beijing time)``."""
    local = send.at.astimezone(ZoneInfo(cadence.timezone))
    return say(
        MOMENT,
        language,
        date=weekday_date(send.on, language),
        time=local_time(local.time(), language),
        zone=zone_name(cadence.timezone, language),
    )


def rhythm(cadence: Cadence, language: Language) -> str:
    """How often briefs come: ``Every day at 8:00 am (Beijing time)``."""
    values = {"time": local_time(cadence.at, language), "zone": zone_name(cadence.timezone, language)}
    if cadence.weekdays == EVERY_DAY:
        return say(EVERY_MORNING, language, **values)
    if cadence.weekdays == WORKDAYS:
        return say(ON_WORKDAYS, language, **values)
    chosen = [WEEKDAYS[name] for day, name in enumerate(WEEKDAY_NAMES) if cadence.weekdays >> day & 1]
    days = say(BETWEEN_DAYS, language).join(say(name, language) for name in chosen)
    return say(ON_DAYS, language, days=days, **values)


def first_send_on_or_after(cadence: Cadence, on: date, now: datetime) -> Send:
    """The first send after ``now`` whose local date is ``on`` or later: where a pause ends."""
    return next(send for send in sends_from(cadence, now) if send.on >= on)


def month_name(on: date, language: Language) -> str:
    """A month with its year: ``December 2026``, ``2026年12月``."""
    return format_date(on, _MONTH[language], LOCALES[language])
