"""“Why did this person not get a brief on Tuesday?”: an address typed, and a page that says so in words."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from digest.domain.delivery import DeliveryReason
from digest.domain.event import EventKind, ProviderEvent
from digest.domain.explanation import Why
from digest.domain.language import Language
from digest.domain.suppression import SuppressionReason
from digest.sources.story_file import bundled_stories
from digest.steps.collect_stories import import_stories
from digest.steps.manage_subscriptions import pause, unsubscribe
from digest.store.events import add_event
from digest.store.subscribers import suppress
from digest.web.admin.words import REASONS, WHYS, reason_words
from digest.web.phrases import say
from tests.web.conftest import Site, copied, open_site
from tests.web.staff import EDITOR, STAFF, VIEWER, send, sign_in, words_of

SAMPLE = dict.fromkeys(("sent", "from", "due", "active", "changed", "reason", "ending"), "…")
TUESDAY = datetime(2026, 12, 1, 0, tzinfo=UTC)


@dataclass
class Desk:
    """A site on Wednesday, after a Tuesday that each reader fared differently on."""

    site: Site
    readers: dict[str, int]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("readers")
    site = open_site(copied(sqlite_template, folder), folder, **STAFF)
    site.now = TUESDAY - timedelta(hours=18)
    own = site.application
    import_stories(own.sessions, own.editor, bundled_stories()[:2], site.now, enters=site.now)
    readers = {name: site.active(f"{name}@example.com") for name in ("there", "left", "paused", "barred")}
    unsubscribe(own.sessions, readers["left"], site.now)
    pause(own.sessions, readers["paused"], TUESDAY.date().replace(day=9), site.now)
    site.now = TUESDAY
    site.turn()
    with own.sessions.begin() as session:
        delivered = ProviderEvent("sendgrid", "e1", EventKind.DELIVERED, TUESDAY, detail="250 OK")
        add_event(session, delivered, readers["there"], TUESDAY.date(), TUESDAY)
        suppress(session, "barred@example.com", SuppressionReason.COMPLAINED, TUESDAY)
    site.later(hours=30)
    yield Desk(site, readers)
    own.close()


def line(page: str, day: str) -> str:
    return words_of(page.partition(f'id="d{day}"')[2].partition("</li>")[0])


def test_two_clicks_lead_from_an_address_to_the_reason_in_words(desk: Desk) -> None:
    """An editor types the address, presses the button, and reads."""
    editor = sign_in(desk.site, EDITOR)

    def found(address: str, language: str = "en") -> str:
        answer = send(editor, "/admin/readers", "/admin/readers", wanted=address)
        assert answer.status_code == 303
        assert "@" not in answer.headers["Location"]
        return editor.get(answer.headers["Location"], params={"lang": language}).text

    assert "the mailbox took it" in line(found(" There@Example.com "), "2026-12-01")
    assert "邮箱已收下" in line(found("there@example.com", "zh"), "2026-12-01")
    gone = line(found("left@example.com", "en"), "2026-12-01")
    assert gone.endswith("The subscription had ended on 30 Nov 2:00 pm: the reader unsubscribed.")
    assert "Paused since 30 Nov 2:00 pm." in line(found("paused@example.com"), "2026-12-01")
    barred = found("barred@example.com")
    assert "Its owner reported a brief as spam." in words_of(barred)
    assert line(barred, "2026-11-30").endswith("4 Nov – 30 Nov Before the reader signed up.")
    assert line(barred, "2026-12-03").endswith("Nothing will go out: the address is suppressed.")
    assert "Still to come: due at 3 Dec 8:00 am." in line(found("there@example.com"), "2026-12-03")
    by_number = send(editor, "/admin/readers", "/admin/readers", wanted=str(desk.readers["there"]))
    assert by_number.headers["Location"] == f"/admin/readers/{desk.readers['there']}"


def test_a_page_tells_the_consent_and_everything_else_that_happened_to_an_address(desk: Desk) -> None:
    reader, owner = desk.site.active("history@example.com"), sign_in(desk.site)
    send(owner, f"/admin/readers/{reader}", f"/admin/readers/{reader}/end")
    send(owner, f"/admin/readers/{reader}", f"/admin/readers/{reader}/bar")
    send(owner, f"/admin/readers/{reader}", f"/admin/readers/{reader}/readmit", because="they asked by phone")
    page = words_of(sign_in(desk.site, EDITOR).get(f"/admin/readers/{reader}").text)
    happened = (
        "Confirmed 2026-12-02 06:00Z",
        "asked for confirmation through form",
        "letter welcome: ready",
        "letter goodbye: ready",
        "admin: ended a subscription",
        "admin: suppressed an address",
        "they asked by phone",
    )
    assert [said for said in happened if said not in page] == []
    assert "history@example.com" not in sign_in(desk.site, VIEWER).get(f"/admin/readers/{reader}").text


def test_an_address_that_nobody_has_is_told_apart_from_one_that_was_erased(desk: Desk) -> None:
    owner, reader = sign_in(desk.site), desk.site.active("erased@example.com")
    unknown = send(owner, "/admin/readers", "/admin/readers", wanted="nobody@example.com")
    assert unknown.status_code == 404
    assert "No subscriber has this address" in words_of(unknown.text)
    send(owner, f"/admin/readers/{reader}", f"/admin/readers/{reader}/erase", address="erased@example.com")
    erased = send(owner, "/admin/readers", "/admin/readers", wanted="ERASED@example.com")
    assert "Its owner had everything erased. Only a keyed hash" in words_of(erased.text)
    assert owner.get(f"/admin/readers/{reader}").status_code == 404
    assert "erased@example.com" not in owner.get("/admin/suppressions").text


def test_every_reason_and_every_cause_has_words_of_its_own_in_both_languages() -> None:
    assert set(REASONS) == set(DeliveryReason)
    assert set(WHYS) == set(Why)
    for language in Language:
        said = [say(words, language, **SAMPLE) for words in (*REASONS.values(), *WHYS.values())]
        assert len(set(said)) >= len(said) - 1  # an unknown zone is one sentence in both
    assert reason_words("late", Language.CHINESE) == "宽限期内未能交付。"


def test_no_address_of_a_reader_can_break_out_of_the_page(desk: Desk) -> None:
    reader = desk.site.active('"<script>alert(1)</script>"@example.com')
    assert "<script>alert" not in sign_in(desk.site).get(f"/admin/readers/{reader}").text
