"""Confirming: a scanner changes nothing, a repeat is friendly, an old link says what to do."""

from sqlalchemy import select

from digest.domain.subscriber import SubscriberState
from digest.steps.manage_subscriptions import unsubscribe
from digest.store.tables import Consent
from tests.web.conftest import NOW, Site

FORM = {"email": "reader@example.com", "language": "zh", "timezone": "Asia/Shanghai"}


def test_looking_changes_nothing_and_the_button_confirms(site: Site) -> None:
    client = site.client()
    client.post("/subscribe", data=FORM)
    path = site.confirm_path()
    for _ in range(3):
        assert client.head(path).status_code == 200
        page = client.get(path)
    assert page.text.count("<form") == 1
    assert "确认订阅" in page.text
    assert site.state(1) is SubscriberState.PENDING
    confirmed = client.post(path)
    assert confirmed.status_code == 200
    assert "下一期：12月3日 星期四 早上 8:00（北京时间）" in confirmed.text
    assert site.state(1) is SubscriberState.ACTIVE
    assert site.letters() == ["confirm", "welcome"]
    assert site.nudged == [1, 2]


def test_sgn_07_a_second_click_is_friendly_a_minute_and_a_week_later(site: Site) -> None:
    client = site.client()
    client.post("/subscribe", data=FORM)
    path = site.confirm_path()
    client.post(path)
    for days in (0.001, 6.9):
        site.later(days=days)
        for answer in (client.get(path), client.post(path)):
            assert answer.status_code == 200
            assert "你已经订阅了" in answer.text
    with site.application.sessions() as session:
        assert session.scalars(select(Consent.confirmed_at)).one() == NOW
    assert site.letters() == ["confirm", "welcome"]


def test_sgn_09_the_first_of_two_links_works_and_the_second_says_already(site: Site) -> None:
    client = site.client()
    client.post("/subscribe", data=FORM)
    site.later(minutes=10)
    client.post("/subscribe", data=FORM)
    assert "订阅成功" in client.post(site.confirm_path(1)).text
    assert "你已经订阅了" in client.post(site.confirm_path(2)).text


def test_sgn_21_an_expired_link_says_so_and_leads_back_to_the_form(site: Site) -> None:
    client = site.client(**{"Accept-Language": "zh"})
    client.post("/subscribe", data=FORM)
    path = site.confirm_path()
    site.later(days=8)
    for answer in (client.get(path), client.post(path)):
        assert answer.status_code == 410
        assert "这个链接已过期" in answer.text
        assert 'href="/?lang=zh"' in answer.text
    assert site.state(1) is SubscriberState.PENDING


def test_a_used_link_does_not_bring_back_a_reader_who_left_since(site: Site) -> None:
    subscriber_id = site.active()
    path = site.confirm_path()
    unsubscribe(site.application.sessions, subscriber_id, site.now)
    assert site.client().post(path).status_code == 410
    assert site.state(subscriber_id) is SubscriberState.ENDED


def test_a_page_behind_a_token_is_kept_by_nobody_and_told_to_nobody(site: Site) -> None:
    subscriber_id = site.active()
    client = site.client()
    for path in (site.confirm_path(), site.unsubscribe_path(subscriber_id), site.preferences_path(subscriber_id)):
        headers = client.get(path).headers
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "noindex" in headers["x-robots-tag"]
        assert "set-cookie" not in headers
