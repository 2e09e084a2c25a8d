"""Time zones as people look for them: by city or by what they call their time, in either language."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from babel.dates import get_timezone_location
from tzlocal.windows_tz import win_tz

from digest.domain.errors import BadInputError
from digest.domain.language import Language
from digest.domain.schedule import is_known_zone, parse_timezone, timezone_names
from digest.rendering.dates import LOCALES, zone_name

LABELS = {Language.ENGLISH: "{city}: {time}", Language.CHINESE: "{city}：{time}"}
SEARCHED = {Language.ENGLISH: "{label} ({other})", Language.CHINESE: "{label}（{other}）"}
BIG_CITIES = {
    "Asia/Shanghai": "beijing 北京 shenzhen 深圳 guangzhou 广州 hangzhou 杭州 chengdu 成都 wuhan 武汉 nanjing 南京",
    "America/Los_Angeles": "san_francisco 旧金山 seattle 西雅图 san_diego 圣迭戈 palo_alto 帕洛阿尔托",
    "America/New_York": "boston 波士顿 washington 华盛顿 miami 迈阿密 atlanta 亚特兰大 philadelphia 费城",
    "America/Toronto": "ottawa 渥太华 montreal 蒙特利尔",
    "Asia/Kolkata": "mumbai 孟买 delhi 德里 new_delhi 新德里 bangalore 班加罗尔 bengaluru chennai 金奈",
    "Asia/Tokyo": "osaka 大阪 kyoto 京都",
    "Australia/Sydney": "canberra 堪培拉",
    "Europe/Berlin": "munich 慕尼黑 hamburg 汉堡 frankfurt 法兰克福",
    "Europe/Rome": "milan 米兰",
    "Europe/Madrid": "barcelona 巴塞罗那",
    "Europe/Zurich": "geneva 日内瓦",
}
"""Cities that people type and that no zone is named after."""


@dataclass(frozen=True, slots=True)
class ZoneChoice:
    """One zone of the list: its IANA name, what people call it, and that with its city in the other language too."""

    name: str
    label: str
    searched: str


@cache
def listed_zones() -> tuple[str, ...]:
    """The zones that the list offers: one or more for every country, by name (``zone.tab`` of the pinned tzdata)."""
    lines = (files("tzdata") / "zoneinfo" / "zone.tab").read_text(encoding="utf-8").splitlines()
    names = {line.split("\t")[2] for line in lines if line and not line.startswith("#")}
    return ("UTC", *sorted(name for name in names if is_known_zone(name)))


@cache
def zone_choices(language: Language) -> tuple[ZoneChoice, ...]:
    """The list, labelled in ``language``, with the city's name in the other one, so that either finds it."""
    return tuple(ZoneChoice(name, _label(name, language), _searched(name, language)) for name in listed_zones())


def _searched(name: str, language: Language) -> str:
    label = _label(name, language)
    other = city_name(name, next(tongue for tongue in Language if tongue is not language))
    is_the_same = other.casefold() in label.casefold()
    return label if is_the_same else SEARCHED[language].format(label=label, other=other)


def _label(name: str, language: Language) -> str:
    city, time = city_name(name, language), zone_name(name, language)
    return time if city in time else LABELS[language].format(city=city, time=time)


def zone_label(name: str, language: Language) -> str:
    """What a zone is called; a text that names none is shown as it is."""
    return _label(name, language) if is_known_zone(name) else name


def city_name(name: str, language: Language) -> str:
    """The place that a zone is named after: ``Shanghai``, ``上海``."""
    return get_timezone_location(name, LOCALES[language], return_city=True)


@cache
def _names_by_words() -> dict[str, str]:
    """City, time and label in every language -> zone; words that more than one zone goes by are left out."""
    found: dict[str, set[str]] = {}
    for language in Language:
        for choice in zone_choices(language):
            name = choice.name
            words = {choice.label, choice.searched, city_name(name, language), zone_name(name, language)}
            for word in words:
                found.setdefault(word.lower(), set()).add(choice.name)
    for name, cities in BIG_CITIES.items():
        for city in cities.split():
            found.setdefault(city.replace("_", " "), set()).add(name)
    return {word: names.pop() for word, names in found.items() if len(names) == 1}


@cache
def _names_in_other_spellings() -> dict[str, str]:
    """IANA names in small letters, and what Windows calls zones (CLDR's windowsZones) -> zone."""
    windows = {word.casefold(): name for word, name in win_tz.items() if is_known_zone(name)}
    return windows | {name.casefold(): name for name in timezone_names()}


def meant_zone(text: str) -> str:
    """The zone that a refused text most probably means: another system's name, or one in the wrong case; else empty."""
    return _names_in_other_spellings().get(text.strip().casefold(), "")


def read_zone(text: str) -> str:
    """The IANA zone that ``text`` names: an IANA name, old ones too, or a city as the list writes it.

    Raises:
        BadInputError: it names none, or more than one.
    """
    try:
        return parse_timezone(text)
    except BadInputError:
        named = _names_by_words().get(text.strip().lower())
        if named is not None:
            return named
        if meant := meant_zone(text):
            raise BadInputError("timezone", text, f"is not an IANA time zone: did you mean {meant}?") from None
        raise
