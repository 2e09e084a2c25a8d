"""The Today page: the kept counts by zone, what is wrong in words, and the hours ahead as pictures without script."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest
from sqlalchemy import event

from digest.domain.delivery import DeliveryReason
from digest.domain.event import EventKind, ProviderEvent
from digest.domain.schedule import Cadence
from digest.sources.story_file import bundled_stories
from digest.steps.collect_stories import import_stories
from digest.steps.count_mornings import count_mornings
from digest.steps.manage_subscriptions import unsubscribe
from digest.store.events import add_event
from digest.store.figures import Count
from digest.store.ledger import entries
from digest.store.sending import set_paused
from digest.web.admin.day import coming, row_of
from digest.web.admin.plots import clock_bars, clock_labels
from tests.web.conftest import Site, copied, open_site
from tests.web.staff import STAFF, VIEWER, send, sign_in, words_of

SHANGHAI_AT = datetime(2026, 12, 2, 0, tzinfo=UTC)
PAGES = (
    "/admin",
    "/admin/readers/1",
    "/admin/mornings",
    "/admin/briefs/1",
    "/admin/batches",
    "/admin/batches/1",
    "/admin/sources",
    "/admin/stories",
    "/admin/stories/1",
    "/admin/suppressions",
    "/admin/sending",
    "/admin/acts",
)
READERS = {"Asia/Shanghai": 4, "Asia/Tokyo": 2, "Europe/London": 1}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Site]:
    """A site at 08:10 in Shanghai: Tokyo has had its hour, London's is still to come, one reader left in between."""
    folder = tmp_path_factory.mktemp("today")
    site = open_site(copied(sqlite_template, folder), folder, **STAFF)
    own, site.now = site.application, SHANGHAI_AT - timedelta(hours=9)
    import_stories(own.sessions, own.editor, bundled_stories()[:2], site.now, enters=site.now)
    made = {
        zone: [site.active(f"{zone[5:].lower()}{n}@example.com", zone=zone) for n in range(READERS[zone])]
        for zone in READERS
    }
    for at in (SHANGHAI_AT - timedelta(hours=1), SHANGHAI_AT - timedelta(minutes=5)):
        site.now = at
        site.turn()
    unsubscribe(own.sessions, made["Asia/Shanghai"][0], site.now)
    site.now = SHANGHAI_AT + timedelta(minutes=3)
    site.turn()
    with own.sessions.begin() as session:
        for number, kind in enumerate((EventKind.DELIVERED, EventKind.SOFT_BOUNCED)):
            said = ProviderEvent("sendgrid", f"e{number}", kind, site.now)
            add_event(session, said, made["Asia/Shanghai"][number + 1], SHANGHAI_AT.date(), site.now)
    site.later(minutes=7)
    site.tick()
    count_mornings(own.sessions, own.settings.policy, site.now)
    yield site
    own.close()


def row(html: str, place: str) -> list[str]:
    """The cells of a zone's line, by what they say."""
    line = next(
        each for each in re.findall(r"<tr[^>]*>.*?</tr>", html, re.DOTALL) if f"<strong>{place}</strong>" in each
    )
    return [words_of(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", line, re.DOTALL)][1:]


def test_each_zone_tells_what_was_due_and_what_became_of_it(desk: Site) -> None:
    html = sign_in(desk, VIEWER).get("/admin").text
    assert row(html, "Shanghai") == ["4", "3", "1", "1", "1 left 1", "–", "–", "3.0"]
    assert row(html, "Tokyo") == ["2", "2", "–", "–", "–", "–", "–", "0.0"]
    with desk.application.sessions() as session:
        ledger = [(entry.status, entry.reason) for entry in entries(session)]
    assert (len(ledger), ledger.count(("skipped", DeliveryReason.UNSUBSCRIBED))) == (6, 1)


def test_the_hours_ahead_are_the_readers_of_each_cadence(desk: Site) -> None:
    page = words_of(sign_in(desk, VIEWER).get("/admin").text)
    assert "6 readers are due; next London." in page
    chinese = words_of(sign_in(desk, VIEWER).get("/admin?lang=zh").text)
    assert "共有 6 位读者待发，接下来是伦敦。" in chinese


def test_a_look_at_the_page_reads_no_delivery_and_no_subscriber(desk: Site) -> None:
    """A million of them cost it nothing: it reads the counts that were made before."""
    said: list[str] = []
    engine = desk.application.engine
    listen = lambda *args: said.append(args[2])  # noqa: E731 - SQLAlchemy compares listeners by identity
    event.listen(engine, "before_cursor_execute", listen)
    try:
        sign_in(desk, VIEWER).get("/admin")
    finally:
        event.remove(engine, "before_cursor_execute", listen)
    assert any("FROM figures" in sql for sql in said)
    assert not [sql for sql in said if re.search(r"FROM (deliveries|subscribers|events)\b", sql)]


def test_what_is_wrong_stands_at_the_top_in_words_that_tell_what_to_do(desk: Site) -> None:
    owner = sign_in(desk)
    send(owner, "/admin/sending", "/admin/sending", paused="yes", why="the key is wrong")
    page = words_of(owner.get("/admin").text)
    assert page.index("Sending is paused") < page.index("the key is wrong") < page.index("The coming 24 hours")
    with desk.application.sessions.begin() as session:
        set_paused(session, paused=False, now=desk.now)
    desk.later(minutes=20)
    page = words_of(owner.get("/admin").text)
    desk.later(minutes=-20)
    assert "Something keeps briefs from leaving" in page
    assert "start digest run, or digest beat and a worker" in page


def test_the_pages_hold_no_script_no_style_of_their_own_and_nothing_from_elsewhere(desk: Site) -> None:
    owner = sign_in(desk)
    for path in PAGES:
        answer = owner.get(path)
        assert answer.status_code == 200, path
        assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cache-Control"] == "no-store"
        assert not re.search(r"<script|<style|\sstyle=|\son\w+=", answer.text), path
        outside = [url for url in re.findall(r'\bsrc="([^"]+)"', answer.text) if not url.startswith("/")]
        assert outside == [], path


def test_lateness_and_trouble_are_told_by_the_worst() -> None:
    late = row_of(
        "",
        Count.from_json(
            {"status": {"sent": 2, "unknown:answer_lost": 1}, "late": {"60": 1, "7200": 1}, "late_seconds": 5460}
        ),
    )
    assert (late.late_minutes, late.latest_minutes, late.is_troubled) == (45.5, 120, True)
    assert row_of("", Count.from_json({"late": {"+Inf": 1}, "status": {"sent": 1}})).latest_minutes == float("inf")
    calm = row_of("", Count.from_json({"status": {"skipped:nothing_new": 3, "sent": 9}}))
    assert not calm.is_troubled
    assert row_of("", Count.from_json({"status": {"skipped:late": 1}})).is_troubled


def test_the_clock_shows_every_reader_of_the_coming_day_once_in_the_half_hour_that_is_theirs() -> None:
    cadences = [
        (Cadence("Asia/Kathmandu"), 5),
        (Cadence("Asia/Shanghai"), 80),
        (Cadence("Europe/London", time(8, 10)), 9),
    ]
    ahead = coming(
        [*cadences, (Cadence("Asia/Tokyo"), 0), (Cadence("No/Where"), 7)], SHANGHAI_AT + timedelta(minutes=14)
    )
    held = {f"{slot.starts_at:%d %H:%M}": (slot.readers, slot.zones[0]) for slot in ahead.slots if slot.readers}
    assert held == {
        "02 00:00": (80, "Asia/Shanghai"),
        "02 02:00": (5, "Asia/Kathmandu"),
        "02 08:00": (9, "Europe/London"),
    }
    assert (len(ahead.slots), ahead.readers, ahead.next_zone) == (48, 94, "Asia/Kathmandu")
    assert len(clock_bars(ahead.slots)) == len(clock_labels(ahead.slots)) == 3
    assert clock_bars(coming([], SHANGHAI_AT).slots) == []
