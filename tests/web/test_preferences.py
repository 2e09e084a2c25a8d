"""A reader's settings: seen, changed, paused, and never anybody else's."""

import re
from datetime import date, time

import pytest
from sqlalchemy import delete

from digest.domain.language import Language, LanguageChoice
from digest.domain.subscriber import SubscriberState
from digest.steps.manage_subscriptions import unsubscribe
from digest.steps.read_subscribers import Reader, find_reader
from digest.store.tables import Subscriber
from tests.web.conftest import NOW, Site
from tests.web.test_subscribe import BAD_ZONES


def _reader(site: Site, subscriber_id: int) -> Reader:
    found = find_reader(site.application.sessions, subscriber_id, site.now)
    assert found is not None
    return found


def test_the_page_shows_the_settings_and_the_next_brief(site: Site) -> None:
    page = site.client().get(site.preferences_path(site.active())).text
    assert "Thursday, 3 December, 8:00 am (Beijing time)" in page
    assert 'value="Asia/Shanghai"' in page
    assert re.search(r'value="en" checked', page)
    assert "Skip tomorrow" in page
    assert "reader@example.com" not in page


def test_the_page_speaks_the_reader_s_language_or_the_one_asked_for(site: Site) -> None:
    path = site.preferences_path(site.active(language=Language.CHINESE))
    assert "12月3日 星期四 早上 8:00（北京时间）" in site.client(**{"Accept-Language": "en"}).get(path).text
    assert "Thursday, 3 December" in site.client().get(f"{path}?lang=en").text


def test_saving_changes_what_was_sent_and_nothing_else(site: Site) -> None:
    subscriber_id = site.active()
    client, path = site.client(), site.preferences_path(subscriber_id)
    assert client.post(path, data={"time": "06:30"}).status_code == 200
    reader = _reader(site, subscriber_id)
    assert (reader.cadence.at, reader.cadence.timezone, reader.language) == (time(6, 30), "Asia/Shanghai", "en")
    answer = client.post(path, data={"language": "zh", "timezone": "Asia/Tokyo", "topics": "chips"})
    assert '<html lang="zh-Hans">' in answer.text
    assert "已保存" in answer.text
    reader = _reader(site, subscriber_id)
    assert (reader.cadence.at, reader.cadence.timezone, reader.topics) == (time(6, 30), "Asia/Tokyo", ("chips",))


def test_the_page_s_own_form_may_take_topics_back_but_not_all_days(site: Site) -> None:
    subscriber_id = site.active()
    client, path = site.client(), site.preferences_path(subscriber_id)
    client.post(path, data={"topics": ["chips", "models"], "weekdays": ["mon"], "shows": "choices"})
    assert _reader(site, subscriber_id).topics == ("chips", "models")
    client.post(path, data={"weekdays": ["mon"], "shows": "choices"})
    assert _reader(site, subscriber_id).topics == ()
    refused = client.post(path, data={"shows": "choices"})
    assert refused.status_code == 422
    assert "To stop for a while, pause" in refused.text
    assert _reader(site, subscriber_id).cadence.weekdays == 1


@pytest.mark.parametrize("zone", [*BAD_ZONES, "Asia/shanghai"])
def test_tz_13_a_bad_zone_is_refused_at_its_field_and_nothing_changes(site: Site, zone: str) -> None:
    subscriber_id = site.active()
    answer = site.client().post(site.preferences_path(subscriber_id), data={"timezone": zone, "time": "06:00"})
    assert answer.status_code == 422
    assert 'id="timezone-fault"' in answer.text
    reader = _reader(site, subscriber_id)
    assert (reader.cadence.timezone, reader.cadence.at) == ("Asia/Shanghai", time(8))


def test_skip_pause_and_resume(site: Site) -> None:
    subscriber_id = site.active()
    client, path = site.client(), site.preferences_path(subscriber_id)
    skipped = client.post(path, data={"action": "skip"})
    assert _reader(site, subscriber_id).paused_until_on == date(2026, 12, 4)
    assert "Until Friday, 4 December<" in skipped.text
    assert "Next brief: Friday, 4 December, 8:00 am (Beijing time)" in skipped.text
    client.post(path, data={"action": "pause", "pause_until": "2026-12-20"})
    assert _reader(site, subscriber_id).paused_until_on == date(2026, 12, 20)
    client.post(path, data={"action": "resume"})
    reader = _reader(site, subscriber_id)
    assert (reader.state, reader.paused_until_on) == (SubscriberState.ACTIVE, None)


def test_the_footer_s_links_are_two_taps_from_a_pause_and_the_other_language(site: Site) -> None:
    subscriber_id = site.active()
    client, path = site.client(), site.preferences_path(subscriber_id)
    page = client.get(path).text
    pause = page.partition('id="pause"')[2].partition("</form>")[0]
    assert re.findall(r'name="(?:action|pause_until)" (?:type="hidden" )?value="([^"]*)"', pause) == [
        "pause",
        "2026-12-10",
        "2026-12-31",
    ]
    assert "Pause until Thursday, 10 December" in pause
    client.post(path, data={"action": "pause", "pause_until": "2026-12-10"})
    assert _reader(site, subscriber_id).paused_until_on == date(2026, 12, 10)
    assert re.search(r'name="language" value="zh"><span lang="zh-Hans">换成中文', page)
    switched = client.post(path, data={"action": "save", "language": "zh"}).text
    assert '<html lang="zh-Hans">' in switched
    assert _reader(site, subscriber_id).paused_until_on == date(2026, 12, 10)


def test_a_reader_of_both_languages_stays_one_when_the_time_is_saved_or_the_first_is_switched(site: Site) -> None:
    subscriber_id = site.active()
    client, path = site.client(), site.preferences_path(subscriber_id)
    client.post(path, data={"language": "both"})
    assert re.search(r'value="both" checked', client.get(path).text)
    client.post(path, data={"language": "both", "time": "07:00"})
    assert _reader(site, subscriber_id).languages is LanguageChoice.ENGLISH_FIRST
    (switch,) = re.findall(r'name="language" value="([^"]*)"><span', client.get(path).text)
    client.post(path, data={"language": switch})
    assert _reader(site, subscriber_id).languages is LanguageChoice.CHINESE_FIRST


@pytest.mark.parametrize("text", ["", "soon", "2026-12-02", "2025-01-01", "2028-12-02", "2026-13-01", "<b>"])
def test_a_pause_needs_a_date_after_today_and_within_a_year(site: Site, text: str) -> None:
    subscriber_id = site.active()
    data = {"action": "pause", "pause_until": text}
    answer = site.client().post(site.preferences_path(subscriber_id), data=data)
    assert answer.status_code == 422
    assert 'id="pause_until-fault"' in answer.text
    assert site.state(subscriber_id) is SubscriberState.ACTIVE


def test_settings_and_a_pause_may_be_sent_together_and_both_or_neither_count(site: Site) -> None:
    subscriber_id = site.active()
    client, path = site.client(), site.preferences_path(subscriber_id)
    assert client.post(path, data={"time": "07:00", "pause_until": "never"}).status_code == 422
    assert _reader(site, subscriber_id).cadence.at == time(8)
    client.post(path, data={"time": "07:00", "pause_until": "2026-12-09"})
    reader = _reader(site, subscriber_id)
    assert (reader.cadence.at, reader.paused_until_on) == (time(7), date(2026, 12, 9))


def test_a_line_break_in_a_value_changes_nothing(site: Site) -> None:
    subscriber_id = site.active()
    data = {"language": "zh\r\nX-A: 1", "time": "07:00"}
    assert site.client().post(site.preferences_path(subscriber_id), data=data).status_code == 422
    assert _reader(site, subscriber_id).cadence.at == time(8)


def test_leaving_from_the_settings(site: Site) -> None:
    subscriber_id = site.active()
    client, path = site.client(), site.preferences_path(subscriber_id)
    assert "/undo" in client.post(path, data={"action": "unsubscribe"}).text
    assert site.state(subscriber_id) is SubscriberState.ENDED


def test_the_settings_of_a_reader_who_left_offer_the_way_back_and_no_change(site: Site) -> None:
    subscriber_id = site.active()
    unsubscribe(site.application.sessions, subscriber_id, NOW)
    client, path = site.client(), site.preferences_path(subscriber_id)
    assert "/undo" in client.get(path).text
    assert client.post(path, data={"time": "06:00"}).status_code == 200
    assert _reader(site, subscriber_id).cadence.at == time(8)


def test_a_pending_reader_is_asked_to_confirm_first(site: Site) -> None:
    site.client().post("/subscribe", data={"email": "reader@example.com", "language": "en"})
    page = site.client().get(site.preferences_path(1))
    assert "isn’t confirmed yet" in page.text
    assert 'name="action"' not in page.text


def test_the_settings_of_an_erased_reader_are_gone(site: Site) -> None:
    path = site.preferences_path(site.active())
    with site.application.sessions.begin() as session:
        session.execute(delete(Subscriber))
    assert site.client().get(path).status_code == 404
    assert site.client().post(path, data={"time": "06:00"}).status_code == 404


def test_an_action_that_is_none_changes_nothing_and_says_so(site: Site) -> None:
    path = site.preferences_path(site.active())
    assert site.client().post(path, data={"action": "bogus"}).status_code == 422
