from datetime import date, time
from zoneinfo import available_timezones

import pytest

from digest.domain.language import Language
from digest.rendering.dates import full_date, local_time, short_date, weekday_date, zone_name

ON = date(2026, 12, 2)
EN, ZH = Language.ENGLISH, Language.CHINESE


def test_dates_are_written_as_each_language_writes_them() -> None:
    assert [weekday_date(ON, EN), weekday_date(ON, ZH)] == ["Wednesday, 2 December", "12月2日 星期三"]
    assert [full_date(ON, EN), full_date(ON, ZH)] == ["2 December 2026", "2026年12月2日"]
    assert [short_date(ON, EN), short_date(ON, ZH)] == ["2 Dec", "12月2日"]


@pytest.mark.parametrize(
    ("at", "english", "chinese"),
    [
        (time(0, 5), "12:05 am", "凌晨 0:05"),
        (time(8), "8:00 am", "早上 8:00"),
        (time(9, 30), "9:30 am", "上午 9:30"),
        (time(12), "12:00 pm", "中午 12:00"),
        (time(15, 45), "3:45 pm", "下午 3:45"),
        (time(18), "6:00 pm", "晚上 6:00"),
        (time(23, 59), "11:59 pm", "晚上 11:59"),
    ],
)
def test_times_are_said_as_people_say_them(at: time, english: str, chinese: str) -> None:
    assert local_time(at, EN) == english
    assert local_time(at, ZH) == chinese


@pytest.mark.parametrize(
    ("zone", "english", "chinese"),
    [
        ("Asia/Shanghai", "Beijing time", "北京时间"),
        ("PRC", "Beijing time", "北京时间"),
        ("Asia/Chongqing", "Beijing time", "北京时间"),
        ("Asia/Urumqi", "Ürümqi time", "乌鲁木齐时间"),
        ("Asia/Calcutta", "Kolkata time", "加尔各答时间"),
        ("America/New_York", "New York time", "纽约时间"),
        ("UTC", "UTC", "UTC"),
        ("Etc/GMT-8", "Etc/GMT-8", "Etc/GMT-8"),
    ],
)
def test_a_zone_is_called_by_its_city_or_else_by_its_own_name(zone: str, english: str, chinese: str) -> None:
    assert zone_name(zone, EN) == english
    assert zone_name(zone, ZH) == chinese


def test_every_zone_there_is_has_a_name_in_both_languages() -> None:
    assert all(zone_name(zone, language) for zone in available_timezones() for language in Language)
