"""Time zones as people look for them: by city or by what they call their time, in either language."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from babel.dates import get_timezone_location

from digest.domain.errors import BadInputError
from digest.domain.language import Language
from digest.domain.schedule import is_known_zone, parse_timezone
from digest.rendering.dates import LOCALES, zone_name

LABELS = {Language.ENGLISH: "{city}: {time}", Language.CHINESE: "{city}：{time}"}


@dataclass(frozen=True, slots=True)
class ZoneChoice:
    """One zone of the list: its IANA name, and what people call it."""

    name: str
    label: str


@cache
def listed_zones() -> tuple[str, ...]:
    """The zones that the list offers: one or more for every country, by name (``zone.tab`` of the pinned tzdata)."""
    lines = (files("tzdata") / "zoneinfo" / "zone.tab").read_text(encoding="utf-8").splitlines()
    names = {line.split("\t")[2] for line in lines if line and not line.startswith("#")}
    return ("UTC", *sorted(name for name in names if is_known_zone(name)))


@cache
def zone_choices(language: Language) -> tuple[ZoneChoice, ...]:
    """The list, labelled in ``language``."""
    return tuple(ZoneChoice(name, _label(name, language)) for name in listed_zones())


def _label(name: str, language: Language) -> str:
    city, time = _city(name, language), zone_name(name, language)
    return time if city in time else LABELS[language].format(city=city, time=time)


def zone_label(name: str, language: Language) -> str:
    """What a zone is called; a text that names none is shown as it is."""
    return _label(name, language) if is_known_zone(name) else name


def _city(name: str, language: Language) -> str:
    return get_timezone_location(name, LOCALES[language], return_city=True)


@cache
def _names_by_words() -> dict[str, str]:
    """City, time and label in every language -> zone; words that more than one zone goes by are left out."""
    found: dict[str, set[str]] = {}
    for language in Language:
        for choice in zone_choices(language):
            words = {choice.label, _city(choice.name, language), zone_name(choice.name, language)}
            for word in words:
                found.setdefault(word.lower(), set()).add(choice.name)
    return {word: names.pop() for word, names in found.items() if len(names) == 1}


def read_zone(text: str) -> str:
    """The IANA zone that ``text`` names: an IANA name, old ones too, or a city as the list writes it.

    Raises:
        BadInputError: it names none, or more than one.
    """
    try:
        return parse_timezone(text)
    except BadInputError:
        named = _names_by_words().get(text.strip().lower())
        if named is None:
            raise
        return named
