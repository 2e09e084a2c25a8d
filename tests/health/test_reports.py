"""The morning report, the alarms and the dead man's switch."""

from collections.abc import Iterator
from datetime import date, timedelta

import pytest

from digest.domain.language import Language
from digest.health.operator import report_morning, show_life
from digest.health.reports import REPORTED, mark
from digest.health.watch import watch
from tests.doubles.listener import Listener, listening
from tests.health.conftest import Build, House
from tests.steps.recording import RecordingProvider
from tests.steps.world import utc

ADDRESS = "ops@example.com"
EVENING = utc("2027-06-09T23:00")


def installed(url: str, build_house: Build, carrier: RecordingProvider, **more: object) -> House:
    """A list in Shanghai and in Berlin, an hour before the first of them gets the brief of the tenth of June."""
    settings = {"base_url": "https://brief.example.com", "operator_email": ADDRESS} | more
    house = build_house(url, EVENING, carrier, **settings)
    house.world.news(EVENING - timedelta(days=1), EVENING + timedelta(hours=8), timedelta(hours=6))
    for number in range(4):
        house.world.reader(f"s{number}@example.com")
        house.world.reader(f"b{number}@example.com", "Europe/Berlin")
    with house.application.sessions.begin() as session:
        mark(session, REPORTED, date(2027, 6, 9), EVENING)
    return house


def at(house: House, *times: str) -> None:
    """A turn and a look at each of these moments of the tenth, UTC; nobody outside is asked for anything."""
    for time in times:
        house.now = utc(f"2027-06-10T{time}")
        house.turn()
        report_morning(house.application, house.now)
        show_life(house.application, house.now)


def mail_to_operator(carrier: RecordingProvider) -> list[str]:
    return [f"{taken.at:%H:%M} {taken.message.subject}" for taken in carrier.taken if taken.address == ADDRESS]


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as heard:
        yield heard


def test_a_good_morning_is_reported_once_when_it_is_over_around_the_world_and_the_switch_is_asked(
    sqlite_url: str, build_house: Build, listener: Listener
) -> None:
    carrier = RecordingProvider()
    house = installed(sqlite_url, build_house, carrier, alive_url=listener.url)
    at(house, "00:00", "00:40", "05:50", "06:00", "06:20")
    assert (mail_to_operator(carrier), listener.asked) == ([], [])
    listener.status = 503
    at(house, "06:30", "06:40")
    assert mail_to_operator(carrier) == ["06:30 10 June 2027 went well at The Daily Brief"]
    assert len(listener.asked) == 2
    listener.status = 200
    at(house, "06:50", "07:00", "11:00")
    assert len(listener.asked) == 3
    assert len(mail_to_operator(carrier)) == 1
    assert house.metrics()["digest_good_morning_timestamp_seconds"] == utc("2027-06-10T06:50").timestamp()
    text = next(taken.message.text for taken in carrier.taken if taken.address == ADDRESS)
    assert "due 8" in text
    assert "handed over 8" in text


def test_a_morning_that_lost_somebody_is_told_with_its_reasons_and_the_switch_stays_silent(
    sqlite_url: str, build_house: Build, listener: Listener
) -> None:
    carrier = RecordingProvider(loses={"s1@example.com"})
    house = installed(sqlite_url, build_house, carrier, alive_url=listener.url, operator_language=Language.CHINESE)
    at(house, "00:00", "06:00", "06:30", "06:40")
    assert mail_to_operator(carrier) == ["06:30 《每日简报》2027年6月10日 需要查看"]
    assert listener.asked == []
    text = next(taken.message.text for taken in carrier.taken if taken.address == ADDRESS)
    assert "不会给任何人重发" in text
    assert "结果不明 1" in text


@pytest.mark.parametrize(
    ("language", "check", "words"),
    [
        (Language.ENGLISH, "sending switch", "mend that, then digest deliveries resume"),
        (Language.CHINESE, "发送开关", "请先排除，再运行 digest deliveries resume"),
    ],
)
def test_a_fault_raises_one_alarm_until_it_is_gone(
    sqlite_url: str, build_house: Build, language: Language, check: str, words: str
) -> None:
    carrier = RecordingProvider(alarm="recording: 401 the key was refused")
    settings = {"base_url": "https://127.0.0.1:8025", "operator_language": language}
    house = installed(sqlite_url, build_house, carrier, **settings)
    house.now = utc("2027-06-10T00:00")
    house.turn()
    carrier.alarm = ""
    for _ in range(3):
        watch(house.application, house.now)
        house.later(minutes=1)
    (alarm,) = mail_to_operator(carrier)
    assert check in alarm
    text = next(taken.message.text for taken in carrier.taken if taken.address == ADDRESS)
    assert "401 the key was refused" in text
    assert words in text
