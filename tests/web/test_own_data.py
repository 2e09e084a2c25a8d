"""A copy of a reader's data, for the mailbox alone, and the erasure of all of it."""

import re

from sqlalchemy import select

from digest.domain.address import address_key
from digest.store.subscribers import bar_on
from digest.store.tables import Consent, Letter, Subscriber, Table
from tests.web.conftest import Site
from tests.web.mailbox import paths, texts

KEPT = {"consents", "address_changes", "letters", "deliveries", "events"}


def _export_path(site: Site, subscriber_id: int) -> str:
    site.client().post(f"{site.preferences_path(subscriber_id)}/export")
    site.turn()
    (path,) = paths(site, "reader@example.com", "/export/")
    return path


def test_the_data_is_fetched_by_a_link_in_the_mailbox_and_never_shown_on_the_page(site: Site) -> None:
    subscriber_id = site.active()
    answer = site.client().post(f"{site.preferences_path(subscriber_id)}/export")
    assert "on its way to your mailbox" in answer.text
    assert "/export/" not in answer.text.replace(f"{site.preferences_path(subscriber_id)}/export", "")
    site.turn()
    (path,) = paths(site, "reader@example.com", "/export/")
    shown = site.client().get(path)
    assert "reader@example.com" not in shown.text
    fetched = site.client().post(path)
    assert fetched.headers["content-disposition"] == 'attachment; filename="my-data.json"'
    assert fetched.headers["cache-control"] == "no-store"
    data = fetched.json()
    assert data["subscriber"]["email"] == "reader@example.com"
    assert (data["subscriber"]["timezone"], data["subscriber"]["time"]) == ("Asia/Shanghai", "08:00")
    assert data["consents"][0]["confirmed_at"] == "2026-12-02T03:00:00Z"
    assert [letter["kind"] for letter in data["letters"]] == ["confirm", "welcome", "export_ready"]


def test_the_copy_has_every_table_that_holds_a_reader(site: Site) -> None:
    held = {
        mapper.class_.__tablename__
        for mapper in Table.registry.mappers
        if "subscriber_id" in mapper.columns and mapper.class_ is not Subscriber
    }
    data = site.client().post(_export_path(site, site.active())).json()
    assert data.keys() - {"subscriber"} == held == KEPT


def test_the_copy_tells_the_mornings(stocked: Site) -> None:
    subscriber_id = stocked.active()
    stocked.later(days=1)
    stocked.turn()
    stocked.turn()
    path = _export_path(stocked, subscriber_id)
    (delivery,) = stocked.client().post(path).json()["deliveries"]
    assert (delivery["date"], delivery["status"]) == ("2026-12-03", "sent")


def test_the_link_to_the_data_is_sent_once_a_day_and_works_for_a_day(site: Site) -> None:
    subscriber_id = site.active()
    path = _export_path(site, subscriber_id)
    site.client().post(f"{site.preferences_path(subscriber_id)}/export")
    assert site.letters().count("export_ready") == 1
    site.later(days=1, minutes=1)
    assert site.client().get(path).status_code == site.client().post(path).status_code == 410


def test_erasing_takes_a_second_press_and_leaves_nothing_but_a_hash(site: Site) -> None:
    subscriber_id = site.active()
    client, path = site.client(), f"{site.preferences_path(subscriber_id)}/erase"
    settings = client.get(site.preferences_path(subscriber_id)).text
    assert f'href="{path}?lang=en"' in settings
    page = client.get(path).text
    assert "This can’t be undone" in page
    assert "r***@example.com" in page
    assert site.count(Subscriber) == 1
    assert "Everything is erased" in client.post(path).text
    assert (site.count(Subscriber), site.count(Consent), site.count(Letter)) == (0, 0, 0)
    assert client.get(path).status_code == client.post(path).status_code == 404
    hashes = site.application.address_hashes("reader@example.com")
    with site.application.sessions() as session:
        bar = bar_on(session, "reader@example.com", hashes)
        assert bar is not None
        assert (bar.email_key, bar.address_hash) == (None, hashes[0])
        assert address_key("reader@example.com") not in str(session.execute(select(Letter.detail)).all())


def test_sgn_05_who_was_erased_and_signs_up_is_answered_like_anybody(site: Site) -> None:
    subscriber_id = site.active()
    site.client().post(f"{site.preferences_path(subscriber_id)}/erase")
    form = {"email": "reader@example.com", "language": "en", "timezone": "Europe/Berlin"}
    erased = site.client().post("/subscribe", data=form)
    fresh = site.client().post("/subscribe", data={**form, "email": "a@example.com"})
    assert re.sub(r"reader@", "a@", erased.text) == fresh.text
    site.turn()
    assert texts(site, "reader@example.com") == []


def test_the_number_of_an_erased_reader_s_letter_is_never_given_again(site: Site) -> None:
    settings = site.preferences_path(site.active())
    site.turn()
    assert site.client().post(f"{settings}/erase").status_code == 200
    site.client().post("/subscribe", data={"email": "next@example.com"})
    site.turn()
    assert "/confirm/" in "".join(texts(site, "next@example.com"))
