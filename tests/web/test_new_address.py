"""Moving to another address: asked at the new one, told to the old one, and back."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from digest.domain.event import EventKind, ProviderEvent
from digest.domain.subscriber import SubscriberState
from digest.domain.suppression import SuppressionReason
from digest.sources.story_file import bundled_stories
from digest.steps.collect_stories import import_stories
from digest.steps.manage_subscriptions import unsubscribe
from digest.steps.record_events import record_events
from digest.store.subscribers import bar_on, suppress
from digest.store.tables import Letter, Subscriber
from tests.web.conftest import NOW, Site
from tests.web.mailbox import paths, texts

NEW = "new@example.com"


@pytest.fixture
def reader(site: Site) -> int:
    """A reader at ``reader@example.com`` whose letters so far have left."""
    found = site.active()
    site.turn()
    return found


def ask(site: Site, reader: int, address: str = NEW) -> str:
    """What the settings page answers to a wish for another address; the letters owed leave."""
    answer = site.client().post(f"{site.preferences_path(reader)}/address", data={"email": address})
    assert answer.status_code == 200
    site.turn()
    return answer.text


def moved(site: Site, reader: int) -> str:
    """The reader moves to ``new@example.com``; returns the path by which the former owner takes it back."""
    ask(site, reader)
    (path,) = paths(site, NEW, "/address/")
    assert site.client().post(path).status_code == 200
    site.turn()
    (back,) = paths(site, "reader@example.com", "/address/back/")
    return back


def test_the_address_changes_when_its_owner_agrees_and_not_before(site: Site, reader: int) -> None:
    assert "on its way to the new address" in ask(site, reader)
    (path,) = paths(site, NEW, "/address/")
    client = site.client()
    assert NEW in client.get(path).text
    assert site.subscriber(NEW) is None
    assert f"Briefs go to {NEW}." in client.post(path).text
    assert client.post(path).status_code == 200
    found = site.subscriber(NEW)
    assert found is not None
    assert (found.id, found.state) == (reader, SubscriberState.ACTIVE)
    assert site.subscriber("reader@example.com") is None
    assert site.letters()[-2:] == ["address_change", "address_changed"]


def test_the_former_owner_is_told_without_the_new_address_and_can_take_it_back(site: Site, reader: int) -> None:
    back = moved(site, reader)
    assert all(NEW not in text for text in texts(site, "reader@example.com"))
    assert any("n***@example.com" in text for text in texts(site, "reader@example.com"))
    client = site.client()
    assert client.get(back).status_code == 200
    assert site.subscriber(NEW) is not None
    assert "Briefs go to reader@example.com." in client.post(back).text
    found = site.subscriber("reader@example.com")
    assert found is not None
    assert found.id == reader
    (path,) = paths(site, NEW, "/address/")
    assert client.post(path).status_code == 410


def test_it_is_taken_back_also_after_another_move_and_for_thirty_days(site: Site, reader: int) -> None:
    back = moved(site, reader)
    ask(site, reader, "third@example.com")
    (path,) = paths(site, "third@example.com", "/address/")
    site.client().post(path)
    assert site.subscriber("third@example.com") is not None
    site.later(days=29)
    assert site.client().post(back).status_code == 200
    assert site.subscriber("reader@example.com") is not None
    site.later(days=2)
    assert site.client().get(back).status_code == 410


def test_sec_09_nobody_learns_who_reads_already_and_no_letter_goes_there(site: Site, reader: int) -> None:
    site.active("other@example.com")
    with site.application.sessions.begin() as session:
        suppress(session, "barred@example.com", SuppressionReason.COMPLAINED, NOW)
    site.turn()
    answers = {ask(site, reader, address) for address in ("other@example.com", "barred@example.com", NEW)}
    assert len(answers) == 1
    assert site.letters().count("address_change") == 1


def test_sec_09_nothing_moves_until_the_new_owner_agrees_and_one_of_both_gets_the_brief(
    site: Site, reader: int
) -> None:
    application = site.application
    briefs: list[list[bool]] = []
    ask(site, reader)
    (path,) = paths(site, NEW, "/address/")
    site.client().get(path)
    for day, stories in enumerate((bundled_stories()[:3], bundled_stories()[3:6])):
        site.now = NOW + timedelta(days=day)
        import_stories(application.sessions, application.editor, stories, site.now, enters=site.now)
        for hours in (20.95, 0.05):
            site.later(hours=hours)
            site.turn()
        on = f"/briefs/{site.now.date().isoformat()}/"
        briefs.append([any(on in text for text in texts(site, to)) for to in ("reader@example.com", NEW)])
        assert site.client().post(path).status_code == 200
    assert briefs == [[True, False], [False, True]]


def test_who_left_there_or_never_confirmed_makes_room(site: Site, reader: int) -> None:
    unsubscribe(site.application.sessions, site.active(NEW), NOW)
    site.turn()
    moved(site, reader)
    found = site.subscriber(NEW)
    assert found is not None
    assert (found.id, site.count(Subscriber)) == (reader, 1)


def test_an_older_question_is_void_and_few_are_asked(site: Site, reader: int) -> None:
    for number in range(6):
        ask(site, reader, f"a{number}@example.com")
    assert site.letters().count("address_change") == 3
    (path,) = paths(site, "a0@example.com", "/address/")
    assert site.client().post(path).status_code == 410
    (path,) = paths(site, "a2@example.com", "/address/")
    assert site.client().post(path).status_code == 200


def test_a_bounce_at_the_other_address_bars_that_one_and_the_reader_reads_on(site: Site, reader: int) -> None:
    ask(site, reader, "nobody@example.com")
    with site.application.sessions() as session:
        letter = session.scalars(select(Letter.id).where(Letter.kind == "address_change")).one()
    bounce = ProviderEvent("smtp", "b1", EventKind.BOUNCED, site.now, recipient_key=f"letter-{letter}")
    record_events(site.application.sessions, [bounce], site.now)
    assert site.state(reader) is SubscriberState.ACTIVE
    with site.application.sessions() as session:
        assert bar_on(session, "nobody@example.com") is not None
        assert bar_on(session, "reader@example.com") is None


def test_a_bounce_of_what_went_to_the_former_address_comes_too_late_to_matter(site: Site, reader: int) -> None:
    before = site.now
    site.later(minutes=5)
    moved(site, reader)
    late = ProviderEvent("smtp", "b2", EventKind.BOUNCED, before, recipient_key=f"reader-{reader}")
    record_events(site.application.sessions, [late], site.now)
    assert site.state(reader) is SubscriberState.ACTIVE
    with site.application.sessions() as session:
        assert bar_on(session, NEW) is None


@pytest.mark.parametrize("typed", ["", "nobody", "a@example.com,b@example.com", "a@example.com\r\nBcc: b@example.com"])
def test_a_bad_address_is_refused_at_its_field(site: Site, reader: int, typed: str) -> None:
    answer = site.client().post(f"{site.preferences_path(reader)}/address", data={"email": typed})
    assert answer.status_code == 422
    assert 'id="email-fault"' in answer.text
    assert "address_change" not in site.letters()


def test_a_token_of_another_purpose_opens_nothing(site: Site, reader: int) -> None:
    back = moved(site, reader)
    (path,) = paths(site, NEW, "/address/")
    client = site.client()
    assert client.post(back.replace("/back", "")).status_code == 404
    assert client.post(path.replace("/address/", "/address/back/")).status_code == 404
