"""Signing up: the field cases of forms, by form and by JSON."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import time
from hashlib import sha256
from statistics import median
from time import perf_counter

import pytest
from sqlalchemy import select

from digest.domain.language import Language
from digest.domain.subscriber import SubscriberState
from digest.domain.suppression import SuppressionReason
from digest.steps.manage_subscriptions import unsubscribe
from digest.steps.read_subscribers import find_reader
from digest.store.subscribers import suppress
from digest.store.tables import Consent, Letter, Subscriber
from digest.web.wording import wording_of, words_of
from tests.web.conftest import NOW, Make, Site

BAD_ZONES = ["", "+08:00", "UTC+8", "China Standard Time", "Asia", "Factory", "localtime", "../../etc/passwd"]
BASIC = {"email": "reader@example.com", "language": "en", "timezone": "Europe/Berlin"}


def _nothing_is_stored(site: Site) -> bool:
    return (site.count(Subscriber), site.count(Consent), site.count(Letter), site.nudged) == (0, 0, 0, [])


def test_a_sign_up_asks_for_confirmation_with_all_that_was_chosen(site: Site) -> None:
    form = {**BASIC, "time": "06:30", "weekdays": ["mon", "wed"], "topics": ["chips", "models"], "shows": "choices"}
    answer = site.client().post("/subscribe", data=form)
    assert answer.status_code == 200
    assert "reader@example.com" in answer.text
    found = site.subscriber("reader@example.com")
    assert found is not None
    assert (found.state, found.language, found.topics) == (SubscriberState.PENDING, Language.ENGLISH, "chips,models")
    cadence = found.cadence_row.cadence
    assert (cadence.timezone, cadence.at, cadence.weekdays) == ("Europe/Berlin", time(6, 30), 0b101)
    assert site.letters() == ["confirm"]
    assert site.nudged == [1]


def test_the_consent_says_when_from_where_and_to_which_words(site: Site) -> None:
    site.client().post("/subscribe", data={**BASIC, "language": "zh"})
    with site.application.sessions() as session:
        consent = session.scalars(select(Consent)).one()
    assert (consent.source, consent.wording, consent.requested_at) == ("form", "2026-12-zh", NOW)


def test_lists_may_come_with_commas(site: Site) -> None:
    site.client().post("/subscribe", data={**BASIC, "weekdays": "sat,sun", "topics": "models, chips"})
    found = site.subscriber("reader@example.com")
    assert found is not None
    assert (found.topics, found.cadence_row.weekdays) == ("chips,models", 0b110_0000)


@pytest.mark.parametrize("zone", BAD_ZONES)
def test_tz_13_a_bad_zone_is_refused_at_its_field_and_nothing_is_stored(site: Site, zone: str) -> None:
    answer = site.client().post("/subscribe", data={**BASIC, "timezone": zone})
    assert answer.status_code == 422
    assert 'id="timezone-fault"' in answer.text
    assert re.search(r'id="timezone"[^>]*aria-invalid="true"[^>]*aria-describedby="timezone-fault', answer.text)
    assert _nothing_is_stored(site)


def test_tz_13_a_zone_in_the_wrong_case_is_refused_with_the_right_one_for_programs(site: Site) -> None:
    assert site.client().post("/subscribe", data={**BASIC, "timezone": "Asia/shanghai"}).status_code == 422
    answer = site.client().post("/api/v1/subscriptions", json={**BASIC, "timezone": "Asia/shanghai"})
    assert answer.status_code == 422
    assert "Asia/Shanghai" in answer.json()["mend"]
    assert _nothing_is_stored(site)


def test_tz_13_a_fixed_offset_is_accepted_and_means_what_posix_says(site: Site) -> None:
    assert site.client().post("/subscribe", data={**BASIC, "timezone": "Etc/GMT-8"}).status_code == 200
    site.client().post(site.confirm_path())
    reader = find_reader(site.application.sessions, 1, NOW)
    assert reader is not None
    assert reader.next_send is not None
    assert reader.next_send.at.isoformat() == "2026-12-03T00:00:00+00:00"


@pytest.mark.parametrize(
    ("typed", "zone"), [("US/Eastern", "US/Eastern"), ("上海", "Asia/Shanghai"), ("Beijing time", "Asia/Shanghai")]
)
def test_old_names_and_cities_are_zones_too(site: Site, typed: str, zone: str) -> None:
    assert site.client().post("/subscribe", data={**BASIC, "timezone": typed}).status_code == 200
    found = site.subscriber("reader@example.com")
    assert found is not None
    assert found.cadence_row.timezone == zone


@pytest.mark.parametrize("assumed", [{}, {"timezone": "Asia/Tokyo", "timezone_from": "default"}])
def test_sgn_23_without_a_zone_the_default_is_used_and_the_answer_says_so(
    make_site: Make, assumed: dict[str, str]
) -> None:
    site = make_site(default_timezone="Asia/Tokyo")
    form = {"email": "reader@example.com", **assumed}
    answer = site.client(**{"Accept-Language": "zh-CN"}).post("/subscribe", data=form)
    assert "东京时间" in answer.text
    assert "先用了默认时区" in answer.text
    found = site.subscriber("reader@example.com")
    assert found is not None
    assert (found.cadence_row.timezone, found.language) == ("Asia/Tokyo", Language.CHINESE)


def test_a_zone_that_the_reader_chose_is_not_called_assumed(make_site: Make) -> None:
    site = make_site(default_timezone="Asia/Tokyo")
    form = {**BASIC, "timezone": "Asia/Tokyo", "timezone_from": "browser"}
    assert "used our default" not in site.client().post("/subscribe", data=form).text


@pytest.mark.parametrize(
    "typed",
    ["ｒｅａｄｅｒ@example.com", "reader＠example.com", "reader@ｅｘａｍｐｌｅ．ｃｏｍ", "reader@example。com"],
)
def test_sgn_17_a_full_width_address_is_mended_and_shown_as_mended(site: Site, typed: str) -> None:
    answer = site.client().post("/subscribe", data={**BASIC, "email": typed})
    assert answer.status_code == 200
    assert "we read it as reader@example.com" in answer.text
    found = site.subscriber("reader@example.com")
    assert found is not None
    assert found.email == "reader@example.com"


HEADER_INJECTIONS = [
    {"email": "a@example.com\r\nBcc: victim@example.com"},
    {"email": "a@example.com,b@example.com"},
    {"email": "a@example.com%0aCc:b@example.com"},
    {"language": "en\r\nX-A: 1"},
    {"name": "Bob\r\nBcc: victim@example.com"},
    {"timezone": "Europe/Berlin\r\nX-A: 1"},
]


@pytest.mark.parametrize("field", HEADER_INJECTIONS)
def test_sgn_11_a_line_break_or_a_second_address_reaches_no_mail(site: Site, field: dict[str, str]) -> None:
    assert site.client().post("/subscribe", data={**BASIC, **field}).status_code == 422
    assert site.client().post("/api/v1/subscriptions", json={**BASIC, **field}).status_code == 422
    assert _nothing_is_stored(site)


def test_sgn_13_a_local_part_beyond_ascii_is_refused_with_the_reason(site: Site) -> None:
    answer = site.client().post("/subscribe", data={**BASIC, "email": "用户@例子.广告", "language": "zh"})
    assert answer.status_code == 422
    assert "@ 前面有邮件服务无法投递的字符" in answer.text
    assert _nothing_is_stored(site)


def test_sgn_15_a_look_alike_is_never_the_latin_address(site: Site) -> None:
    site.active("testo@example.com")
    refused = site.client().post("/subscribe", data={**BASIC, "email": "test\u043e@example.com"})
    assert refused.status_code == 422
    other = site.client().post("/subscribe", data={**BASIC, "email": "reader@ex\u0430mple.com"})
    assert other.status_code == 200
    assert "reader@xn--exmple-4nf.com" in other.text


def people(site: Site) -> tuple[str, ...]:
    """Whoever an address may belong to, by what they are to the site."""
    site.active("active@example.com")
    left = site.active("left@example.com")
    unsubscribe(site.application.sessions, left, NOW)
    with site.application.sessions.begin() as session:
        suppress(session, "barred@example.com", SuppressionReason.BOUNCED, NOW)
    site.client().post("/subscribe", data={**BASIC, "email": "asked@example.com"})
    return ("fresh", "asked", "active", "left", "barred")


def test_sgn_05_the_answer_is_the_same_whoever_the_address_belongs_to(site: Site) -> None:
    client, answers = site.client(), set()
    for name in people(site):
        answer = client.post("/subscribe", data={**BASIC, "email": f"{name}@example.com"})
        words = answer.text.replace(f"{name}@example.com", "ADDRESS")
        headers = {k: v for k, v in answer.headers.items() if k != "content-length"}
        answers.add((answer.status_code, words, str(headers)))
    assert len(answers) == 1


def test_sgn_05_the_answer_takes_as_long_whoever_the_address_belongs_to(site: Site) -> None:
    client = site.client()
    took: dict[str, list[float]] = {name: [] for name in people(site)}
    for turn in range(20):
        for name, seconds in took.items():
            address = f"fresh{turn}@example.com" if name == "fresh" else f"{name}@example.com"
            began = perf_counter()
            client.post("/subscribe", data={**BASIC, "email": address})
            seconds.append(perf_counter() - began)
    medians = sorted(median(seconds) for seconds in took.values())
    assert medians[-1] - medians[0] < 0.05


def test_sgn_19_other_letter_case_is_the_same_subscriber(site: Site) -> None:
    for typed in ("Reader@Example.com", "reader@example.com", "READER@EXAMPLE.COM"):
        assert site.client().post("/subscribe", data={**BASIC, "email": typed}).status_code == 200
    assert site.count(Subscriber) == 1


def test_sgn_19_two_sign_ups_at_the_same_instant_are_one_subscriber(site: Site) -> None:
    def sign_up(typed: str) -> int:
        return site.client().post("/subscribe", data={**BASIC, "email": typed}).status_code

    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(sign_up, ["Reader@example.com", "reader@example.com", "READER@EXAMPLE.COM"]))
    assert statuses == [200, 200, 200]
    assert site.count(Subscriber) == 1


def test_sgn_01_one_mailbox_gets_three_confirmations_an_hour_and_a_retry_the_next_day(site: Site) -> None:
    client = site.client()
    texts = {client.post("/subscribe", data=BASIC).text for _ in range(20)}
    assert len(texts) == 1
    assert site.letters() == ["confirm"] * 3
    site.later(days=1, minutes=1)
    client.post("/subscribe", data=BASIC)
    assert site.letters() == ["confirm"] * 4


def test_the_trap_takes_in_programs_and_no_autofill(site: Site) -> None:
    page = site.client().get("/").text
    trap = re.search(r'<input id="leave_empty"[^>]*>', page)
    assert trap is not None
    assert 'autocomplete="off"' in trap[0]
    assert 'tabindex="-1"' in trap[0]
    honest = site.client().post("/subscribe", data={**BASIC, "email": "a@example.com"}).text
    trapped = site.client().post("/subscribe", data={**BASIC, "email": "b@example.com", "leave_empty": "x"}).text
    assert trapped.replace("b@example.com", "a@example.com") == honest
    assert site.count(Subscriber) == 1


def test_every_fault_is_told_at_once_and_what_was_typed_is_kept(site: Site) -> None:
    form = {
        "email": 'no"address<b>',
        "language": "zh",
        "timezone": "Mars/Olympus",
        "time": "25:00",
        "weekdays": ["mon"],
        "topics": ["chips"],
        "shows": "choices",
    }
    answer = site.client().post("/subscribe?lang=zh", data=form)
    assert answer.status_code == 422
    assert re.findall(r'class="fault" id="(\w+)-fault"', answer.text) == ["email", "timezone", "time"]
    assert "“Mars/Olympus”不是可用的时区" in answer.text
    assert 'value="no&#34;address&lt;b&gt;"' in answer.text
    assert 'value="Mars/Olympus"' in answer.text
    assert re.search(r'name="weekdays" value="mon" checked', answer.text)
    assert not re.search(r'name="weekdays" value="tue" checked', answer.text)
    assert re.search(r'name="topics" value="chips" checked', answer.text)
    assert "<details open>" in answer.text
    assert "data-detect" not in answer.text
    assert _nothing_is_stored(site)


def test_no_day_at_all_is_a_slip_and_not_every_day(site: Site) -> None:
    answer = site.client().post("/subscribe", data={**BASIC, "shows": "choices"})
    assert answer.status_code == 422
    assert "Tick at least one day" in answer.text


def test_a_topic_that_the_brief_does_not_have_is_refused(site: Site, stocked: Site) -> None:
    assert site.client().post("/subscribe", data={**BASIC, "topics": "knitting"}).status_code == 422
    assert stocked.client().post("/subscribe", data={**BASIC, "topics": "robotics"}).status_code == 200


def test_json_is_answered_with_202_and_what_was_understood(site: Site) -> None:
    body = {"email": "Reader@Example.COM", "language": "zh", "timezone": "Asia/Shanghai", "weekdays": ["mon", "tue"]}
    answer = site.client().post("/api/v1/subscriptions", json=body)
    assert answer.status_code == 202
    assert answer.json() == {
        "status": "confirmation requested",
        "email": "Reader@example.com",
        "language": "zh",
        "timezone": "Asia/Shanghai",
        "timezone_assumed": False,
        "time": "08:00",
        "weekdays": ["mon", "tue"],
        "topics": [],
        "next_brief": "12月7日 星期一 早上 8:00（北京时间）",
    }
    assert site.nudged == [1]


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        ({"email": "nobody"}, "email", "nobody"),
        ({"email": None}, "email", ""),
        ({"email": 7}, "email", "7"),
        ({"language": "tlh"}, "language", "tlh"),
        ({"time": "8"}, "time", "8"),
        ({"weekdays": ["funday"]}, "weekdays", "funday"),
        ({"topics": [["chips"]]}, "topics", '[["chips"]]'),
        ({"topics": "\ud800"}, "topics", "a lone surrogate"),
    ],
)
def test_bad_json_values_get_a_problem_document(site: Site, change: dict[str, object], field: str, value: str) -> None:
    answer = site.client().post("/api/v1/subscriptions", content=json.dumps({**BASIC, **change}))
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["status"], problem["field"], problem["value"]) == (422, field, value)
    assert problem["mend"]
    assert _nothing_is_stored(site)


@pytest.mark.parametrize(
    ("body", "status"), [(b"", 400), (b"{", 400), (b"\xff", 400), (b"[]", 422), (b"[" * 9000, 400)]
)
def test_a_body_that_is_no_json_object_gets_a_problem_document(site: Site, body: bytes, status: int) -> None:
    answer = site.client().post("/api/v1/subscriptions", content=body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_api_is_described(site: Site) -> None:
    document = site.client().get("/api/v1/openapi.json").json()
    assert {"/api/v1/subscriptions", "/api/v1/next-brief"} <= set(document["paths"])


def test_uns_11_who_left_may_come_back_with_other_wishes(site: Site) -> None:
    subscriber_id = site.active()
    unsubscribe(site.application.sessions, subscriber_id, NOW)
    form = {"email": "reader@example.com", "language": "zh", "timezone": "Asia/Tokyo"}
    site.client().post("/subscribe", data=form)
    assert site.state(subscriber_id) is SubscriberState.ENDED
    assert site.client().post(site.confirm_path()).status_code == 200
    found = site.subscriber("reader@example.com")
    assert found is not None
    assert (found.state, found.language) == (SubscriberState.ACTIVE, Language.CHINESE)
    assert found.cadence_row.timezone == "Asia/Tokyo"


@pytest.mark.parametrize(
    ("typed", "zone"), [("China Standard Time", "Asia/Shanghai"), ("Asia/shanghai", "Asia/Shanghai")]
)
def test_tz_13_another_name_of_a_zone_is_refused_once_with_the_right_one_filled_in(
    site: Site, typed: str, zone: str
) -> None:
    answer = site.client().post("/subscribe?lang=zh", data={**BASIC, "timezone": typed})
    assert answer.status_code == 422
    assert f"“{typed}”就是 {zone}" in answer.text
    assert re.search(rf'<input id="timezone"[^>]* value="{zone}"', answer.text)
    assert _nothing_is_stored(site)


@pytest.mark.parametrize("city", ["Beijing", "深圳", "san francisco", "北京时间", "Ürümqi"])
def test_a_city_is_a_zone_in_either_language(site: Site, city: str) -> None:
    answer = site.client().post("/subscribe", data={**BASIC, "timezone": city})
    assert answer.status_code == 200
    assert site.count(Subscriber) == 1


def test_a_slip_is_asked_about_once_and_either_answer_takes_one_press(site: Site) -> None:
    client, form = site.client(), {**BASIC, "email": "reader@gmial.com"}
    asked = client.post("/subscribe?lang=zh", data=form)
    assert asked.status_code == 422
    assert "你想写的是不是 reader@gmail.com？" in asked.text
    assert _nothing_is_stored(site)
    (checked,) = re.findall(r'name="email_checked" value="([^"]*)"', asked.text)
    (meant,) = re.findall(r'name="email_meant" value="([^"]*)"', asked.text)
    assert client.post("/subscribe", data={**form, "email_meant": meant}).status_code == 200
    assert site.subscriber("reader@gmail.com") is not None
    assert client.post("/subscribe", data={**form, "email_checked": checked}).status_code == 200
    assert site.subscriber("reader@gmial.com") is not None


def test_the_first_brief_is_told_before_signing_up(site: Site) -> None:
    client = site.client()
    assert "<output>Wednesday, 2 December, 8:00 am (UTC)</output>" in client.get("/?lang=en").text
    when = {"timezone": "Asia/Shanghai", "time": "06:30", "weekdays": ["sat", "sun"], "lang": "zh"}
    told = client.get("/api/v1/next-brief", params=when).json()
    assert told["next_brief"] == "12月5日 星期六 早上 6:30（北京时间）"
    assert (told["utc"], told["date"]) == ("2026-12-04T22:30:00Z", "2026-12-05")
    assert client.get("/api/v1/next-brief", params={"timezone": "Mars"}).status_code == 422
    assert client.get("/api/v1/next-brief", params={"time": "8\r\nX: 1"}).status_code == 422


@pytest.mark.parametrize("language", list(Language))
def test_what_a_consent_names_are_the_words_that_the_form_showed(site: Site, language: Language) -> None:
    page = site.client().get(f"/?lang={language}").text
    shown = re.findall(r"<li>(.*?)</li>", page.partition('class="promises"')[2].partition("</ul>")[0])
    assert words_of(wording_of(language)) == shown
    assert len(shown) == 3
    assert words_of("an old list") == words_of("1999-01-en") == []


def test_words_that_readers_agreed_to_never_change_under_their_version() -> None:
    words = "\n".join(words_of("2026-12-en") + words_of("2026-12-zh"))
    assert sha256(words.encode()).hexdigest()[:16] == "53b3cc26aae5886e"
