"""Dates, times and zones as readers of each language write them; CLDR's words through Babel, our patterns."""

from datetime import date, time

from babel import Locale
from babel.core import get_global
from babel.dates import format_date, format_time, get_timezone_location

from digest.domain.language import Language

LOCALES = {Language.ENGLISH: Locale.parse("en"), Language.CHINESE: Locale.parse("zh_Hans")}
_WEEKDAY_DATE = {Language.ENGLISH: "EEEE, d MMMM", Language.CHINESE: "M月d日 EEEE"}
_SHORT_DATE = {Language.ENGLISH: "d MMM", Language.CHINESE: "M月d日"}
_FULL_DATE = {Language.ENGLISH: "d MMMM y", Language.CHINESE: "y年M月d日"}
_PARTS_OF_DAY = ((5, "凌晨"), (9, "早上"), (12, "上午"), (13, "中午"), (18, "下午"), (24, "晚上"))
"""Until which hour each word is said. CLDR calls 8 o'clock 上午, as an office does; people say 早上."""
_BEIJING = {Language.ENGLISH: "Beijing time", Language.CHINESE: "北京时间"}
_CITY_TIME = {Language.ENGLISH: "{} time", Language.CHINESE: "{}时间"}


def weekday_date(on: date, language: Language) -> str:
    """The date of a brief: ``Wednesday, 2 December`` or ``12月2日 星期三``."""
    return format_date(on, _WEEKDAY_DATE[language], LOCALES[language])


def short_date(on: date, language: Language) -> str:
    """The date where there is little room: ``2 Dec`` or ``12月2日``."""
    return format_date(on, _SHORT_DATE[language], LOCALES[language])


def full_date(on: date, language: Language) -> str:
    """The date with its year: ``2 December 2026`` or ``2026年12月2日``."""
    return format_date(on, _FULL_DATE[language], LOCALES[language])


def local_time(at: time, language: Language) -> str:
    """A time of day: ``8:00 am`` or ``早上 8:00``."""
    if language is Language.ENGLISH:
        return format_time(at, "h:mm a", locale=LOCALES[language]).lower()
    part = next(word for until, word in _PARTS_OF_DAY if at.hour < until)
    return f"{part} {at.hour if at.hour in (0, 12) else at.hour % 12}:{at.minute:02d}"


def zone_name(zone: str, language: Language) -> str:
    """What people call the time of an IANA zone: ``Beijing time``, ``纽约时间``; its own name where it has no place."""
    canonical = get_global("zone_aliases").get(zone, zone)
    if canonical == "Asia/Shanghai":
        return _BEIJING[language]
    if get_global("zone_territories").get(canonical, "ZZ") in {"ZZ", "001"}:
        return zone
    return _CITY_TIME[language].format(get_timezone_location(canonical, LOCALES[language], return_city=True))
