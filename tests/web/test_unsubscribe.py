"""Leaving with one click, by button, again, and back."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import delete

from digest.domain.language import Language
from digest.domain.subscriber import EndReason, LeaveReason, SubscriberState
from digest.steps.manage_subscriptions import pause, unsubscribe
from digest.store.tables import Subscriber
from tests.web.conftest import NOW, Make, Site

ONE_CLICK = {"List-Unsubscribe": "One-Click"}


def test_uns_01_scanners_that_open_every_link_unsubscribe_nobody(site: Site) -> None:
    subscriber_id = site.active()
    client = site.client()
    for path in (site.unsubscribe_path(subscriber_id), site.preferences_path(subscriber_id)):
        for _ in range(5):
            assert client.head(path).status_code == 200
            assert client.get(path).status_code == 200
    page = client.get(site.unsubscribe_path(subscriber_id)).text
    assert page.count("<button") == page.count('<form method="post"') == 1
    assert site.state(subscriber_id) is SubscriberState.ACTIVE


@pytest.mark.parametrize(
    "sent",
    [
        {"data": ONE_CLICK},
        {"files": {"List-Unsubscribe": (None, "One-Click")}},
        {"content": b"List-Unsubscribe=One-Click"},
        {"content": b""},
        {"content": b"--x\r\nbroken", "headers": {"Content-Type": "multipart/form-data; boundary=y"}},
        {"content": b"x", "headers": {"Content-Type": "multipart/form-data"}},
        {"content": b"%ff=%fe&;=&", "headers": {"Content-Type": "application/x-www-form-urlencoded; charset=nope"}},
    ],
    ids=["urlencoded", "multipart", "no type", "empty", "broken multipart", "no boundary", "broken urlencoded"],
)
def test_uns_03_odd_clients_are_unsubscribed_or_refused_but_never_failed(site: Site, sent: dict[str, object]) -> None:
    subscriber_id = site.active()
    answer = site.client().post(site.unsubscribe_path(subscriber_id), **sent)
    gone = site.state(subscriber_id) is SubscriberState.ENDED
    assert (answer.status_code == 200 and gone) or (400 <= answer.status_code < 500 and not gone)
    if sent.keys() & {"data", "files"}:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/plain")
        assert len(answer.content) < 100
    assert "location" not in answer.headers
    assert "set-cookie" not in answer.headers


def test_uns_09_repeats_are_friendly_and_only_the_first_changes_anything(site: Site) -> None:
    subscriber_id = site.active()
    client, path = site.client(), site.unsubscribe_path(subscriber_id)
    with ThreadPoolExecutor(4) as pool:
        clicks = list(pool.map(lambda _: site.client().post(path, data=ONE_CLICK).status_code, range(4)))
    assert clicks == [200] * 4
    site.later(days=1)
    assert client.post(path, data=ONE_CLICK).status_code == 200
    page = client.post(path)
    assert page.status_code == 200
    assert "You’re unsubscribed" in page.text
    found = site.subscriber("reader@example.com")
    assert found is not None
    assert (found.reason, found.changed_at) == (EndReason.UNSUBSCRIBED, NOW)
    assert site.letters() == ["confirm", "welcome", "goodbye"]


def test_uns_13_an_address_has_one_subscription_and_leaving_ends_it(site: Site) -> None:
    site.client().post(site.unsubscribe_path(site.active()), data=ONE_CLICK)
    assert "gets no more briefs" in site.client().get(site.unsubscribe_path(1)).text


def test_leaving_from_the_page_offers_a_way_back_that_works(site: Site) -> None:
    subscriber_id = site.active()
    client, path = site.client(), site.unsubscribe_path(subscriber_id)
    left = client.post(path)
    assert f'action="{path}/undo?lang=en"' in left.text
    assert client.get(f"{path}/undo").status_code in {404, 405}
    assert site.state(subscriber_id) is SubscriberState.ENDED
    back = client.post(f"{path}/undo")
    assert "Next brief: Thursday, 3 December, 8:00 am (Beijing time)" in back.text
    assert site.state(subscriber_id) is SubscriberState.ACTIVE
    assert client.post(f"{path}/undo").status_code == 200


def test_why_a_reader_leaves_is_asked_afterwards_and_kept_until_they_come_back(site: Site) -> None:
    subscriber_id = site.active(language=Language.CHINESE)
    client, path = site.client(), site.unsubscribe_path(subscriber_id)
    client.post(f"{path}/why", data={"why": "too_often"})
    assert _why(site) is None
    left = client.post(path).text
    assert re.findall(r'name="why" value="(\w+)"', left) == list(LeaveReason)
    assert client.post(f"{path}/why", data={"why": "<b>"}).status_code == 422
    told = client.post(f"{path}/why", data={"why": "too_often"}).text
    assert "这对我们有帮助。这个地址不会再收到我们的简报。" in told
    assert 'name="why"' not in told
    assert _why(site) is LeaveReason.TOO_OFTEN
    assert f'action="{path}/undo?lang=zh"' in told
    client.post(f"{path}/undo")
    assert _why(site) is None
    assert site.state(subscriber_id) is SubscriberState.ACTIVE


def _why(site: Site) -> LeaveReason | None:
    found = site.subscriber("reader@example.com")
    assert found is not None
    return found.left_because


def test_an_ending_that_the_reader_did_not_choose_is_not_undone(site: Site) -> None:
    subscriber_id = site.active()
    unsubscribe(site.application.sessions, subscriber_id, NOW, reason=EndReason.COMPLAINED)
    path = site.unsubscribe_path(subscriber_id)
    assert "/undo" not in site.client().get(path).text
    site.client().post(f"{path}/undo")
    assert site.state(subscriber_id) is SubscriberState.ENDED


def test_a_paused_reader_may_leave(site: Site) -> None:
    subscriber_id = site.active()
    pause(site.application.sessions, subscriber_id, NOW.date() + timedelta(days=9), NOW)
    assert site.client().post(site.unsubscribe_path(subscriber_id), data=ONE_CLICK).status_code == 200
    assert site.state(subscriber_id) is SubscriberState.ENDED


def test_the_link_of_an_erased_reader_is_answered_as_if_they_had_left(site: Site) -> None:
    path = site.unsubscribe_path(site.active())
    with site.application.sessions.begin() as session:
        session.execute(delete(Subscriber))
    client = site.client()
    assert client.get(path).status_code == client.post(path).status_code == 200
    assert client.post(path, data=ONE_CLICK).status_code == 200
    assert client.post(f"{path}/undo").status_code == 200


def test_sec_05_a_link_that_was_guessed_changed_or_made_for_another_purpose_opens_nothing(site: Site) -> None:
    first, second = site.active("a@example.com"), site.active("b@example.com")
    token = site.unsubscribe_path(first).rpartition("/")[2]
    number, _, signature = token.partition(".")
    assert number == str(first)
    flipped = signature[:-2] + ("A" if signature[-2] != "A" else "B") + signature[-1]
    settings = site.preferences_path(first).rpartition("/")[2]
    guesses = [
        f"{second}.{signature}",
        f"{first}.{flipped}",
        str(first),
        "x",
        "a@example.com",
        settings,
        "%F0%9F%98%80",
    ]
    answers = set()
    client = site.client()
    for guess in guesses:
        for answer in (client.get(f"/unsubscribe/{guess}?email=a@example.com"), client.post(f"/unsubscribe/{guess}")):
            answers.add((answer.status_code, answer.text))
        assert client.post(f"/unsubscribe/{guess}/undo").status_code == 404
    assert len(answers) == 1
    assert answers.pop()[0] == 404
    for place in ("confirm", "preferences"):
        assert client.get(f"/{place}/{token}").status_code == 404
        assert client.post(f"/{place}/{token}").status_code == 404
    assert {site.state(first), site.state(second)} == {SubscriberState.ACTIVE}


def test_links_in_old_mail_work_after_the_key_is_replaced(make_site: Make) -> None:
    site = make_site(secret_keys=["the-old-key-of-the-site"])
    path = site.unsubscribe_path(site.active())
    rotated = make_site(secret_keys=["the-new-key-of-the-site", "the-old-key-of-the-site"])
    assert rotated.client().post(path, data=ONE_CLICK).status_code == 200
    assert rotated.state(1) is SubscriberState.ENDED
