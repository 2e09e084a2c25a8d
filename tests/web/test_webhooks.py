"""What SendGrid posts: believed only as signed, acted on once, whoever it is about."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from digest.bootstrap import EVENT_READERS
from digest.domain.delivery import BatchState, DeliveryReason
from digest.domain.event import ProviderEvent
from digest.domain.subscriber import SubscriberState
from digest.steps import record_events as step
from digest.steps.record_posts import MOST_ATTEMPTS, record_post, record_waiting
from digest.steps.send_now import send_now
from digest.store.ledger import entries
from digest.store.tables import Batch, Event, EventPost, Subscriber, Suppression
from digest.web.app import create_app
from tests.doubles.sendgrid_events import SIGNATURE, TIMESTAMP, Signer
from tests.web.conftest import Make, Site, stock

CASES = Path(__file__).parents[1] / "providers" / "cases"
BODY = (CASES / "PRV-01-body.json").read_bytes()
HEADERS: dict[str, str] = json.loads((CASES / "PRV-01-headers.json").read_text())
THEN = datetime.fromtimestamp(int(HEADERS[TIMESTAMP]), UTC)
PATH = "/webhooks/sendgrid"


SENDGRID = Signer()


@pytest.fixture
def hooked(make_site: Make) -> Site:
    """A site that knows the key of the test's own SendGrid, at the time of the cases."""
    site = make_site(sendgrid_webhook_public_key=SENDGRID.public)
    site.now = THEN
    return site


def post(site: Site, events: object) -> Response:
    body = events if isinstance(events, bytes) else json.dumps(events, ensure_ascii=False).encode()
    return site.client().post(PATH, content=body, headers=SENDGRID.headers(body, site.now))


def told(site: Site, events: object) -> tuple[int, int, int]:
    """Post these events and let a worker read them; returns how many were new, known, and of strangers."""
    assert post(site, events).status_code == 200
    recorded = record_post(site.application.sessions, EVENT_READERS, posts(site)[-1].id, site.now)
    assert recorded is not None
    assert recorded.faults == []
    return recorded.new, recorded.known, recorded.strangers


def posts(site: Site) -> list[EventPost]:
    with site.application.sessions() as session:
        return list(session.scalars(select(EventPost).order_by(EventPost.id)))


def case(name: str, key: str = "") -> Any:  # noqa: ANN401 - any JSON value
    text = (CASES / name).read_text(encoding="utf-8").replace('"delivery_id"', '"dg_recipient"')
    return json.loads(text.replace("__DELIVERY_ID_1__", key))


def stored(site: Site) -> int:
    with site.application.sessions() as session:
        return session.scalar(select(func.count()).select_from(Event)) or 0


def suppressed(site: Site) -> set[str | None]:
    with site.application.sessions() as session:
        return set(session.scalars(select(Suppression.email_key)))


def states(site: Site) -> dict[str, str]:
    with site.application.sessions() as session:
        return {email: state.value for email, state in session.execute(select(Subscriber.email, Subscriber.state))}


@pytest.fixture
def real(make_site: Make) -> Site:
    """A site that knows the key with which the given body was signed."""
    site = make_site(sendgrid_webhook_public_key=(CASES / "PRV-01-public-key.txt").read_text())
    site.now = THEN - timedelta(days=1)
    site.active("reader@example.com")
    site.active("gone@example.com")
    site.now = THEN
    return site


def test_prv_01_the_bytes_as_sendgrid_signed_them_act(real: Site) -> None:
    answer = real.client().post(PATH, content=BODY, headers=HEADERS)
    assert (answer.status_code, answer.json()) == (200, {"received": 3})
    assert (posts(real)[0].body, stored(real)) == (BODY, 0)
    assert record_waiting(real.application.sessions, EVENT_READERS, real.now) == []
    assert (posts(real)[0].body, stored(real)) == (b"", 3)
    assert states(real) == {"reader@example.com": "active", "gone@example.com": "ended"}
    assert suppressed(real) == {"gone@example.com"}


@pytest.mark.parametrize(
    ("body", "change", "later"),
    [
        (json.dumps(json.loads(BODY)).encode(), {}, {}),
        (BODY.replace(b"5.1.1", b"5.1.2"), {}, {}),
        (BODY.rstrip(), {}, {}),
        (BODY, {TIMESTAMP: str(int(HEADERS[TIMESTAMP]) + 1)}, {}),
        (BODY, {SIGNATURE: ""}, {}),
        (BODY, {TIMESTAMP: ""}, {}),
        (BODY, {}, {"days": 2}),
        (BODY, {}, {"minutes": -10}),
    ],
    ids=["written again", "one byte", "last line break", "time stamp", "unsigned", "no time", "old", "from the future"],
)
def test_prv_01_anything_else_is_refused_and_changes_nothing(
    real: Site, body: bytes, change: dict[str, str], later: dict[str, float]
) -> None:
    real.later(**later)
    assert real.client().post(PATH, content=body, headers=HEADERS | change).status_code == 401
    assert posts(real) == []
    assert set(states(real).values()) == {"active"}


def test_without_a_key_nobody_is_believed(make_site: Make) -> None:
    site = make_site()
    site.now = THEN
    assert site.client().post(PATH, content=BODY, headers=HEADERS).status_code == 401
    assert post(site, []).status_code == 401


def test_prv_03_one_fact_told_ten_times_counts_once(hooked: Site) -> None:
    reader = hooked.active()
    events = case("PRV-03-duplicates.json", f"{reader}-20270609")
    assert [told(hooked, events) for _ in range(2)] == [(1, 4, 0), (0, 5, 0)]
    assert stored(hooked) == 1
    assert hooked.state(reader) is SubscriberState.ACTIVE


def test_prv_05_a_fault_of_the_sender_takes_no_reader_away(hooked: Site) -> None:
    events = case("PRV-05-events.json")
    hooked.now = THEN - timedelta(days=1)
    for address in {event["email"] for event in events}:
        hooked.active(address)
    hooked.now = THEN
    dead = {event["email"].lower() for event in events if event.get("status") == "5.1.1"}
    assert told(hooked, events) == (len(events), 0, 0)
    assert len(dead) == 1
    assert suppressed(hooked) == dead
    assert {email.lower() for email, state in states(hooked).items() if state == "ended"} == dead


def test_prv_07_events_about_strangers_disturb_nobody_and_stop_nothing(hooked: Site) -> None:
    hooked.now = THEN - timedelta(days=1)
    for name in ("known", "complainer", "reader"):
        hooked.active(f"{name}@example.com")
    hooked.now = THEN
    assert told(hooked, case("PRV-07-unknown.json")) == (5, 0, 2)
    assert states(hooked) == {
        "known@example.com": "ended",
        "complainer@example.com": "ended",
        "reader@example.com": "active",
    }
    assert suppressed(hooked) == {"known@example.com", "complainer@example.com"}


@pytest.mark.parametrize("body", [b"", b"not json", b"7", b"[" * 100_000, b'"text"'])
def test_what_is_signed_but_no_events_is_a_bad_request_and_not_kept(hooked: Site, body: bytes) -> None:
    assert post(hooked, body).status_code == 400
    assert posts(hooked) == []


def test_bytes_that_are_no_text_are_not_believed(hooked: Site) -> None:
    assert post(hooked, b"\xff").status_code == 401


@pytest.mark.parametrize("body", [b"[]", b'["text", null]', b"{}"])
def test_a_post_about_nothing_is_taken_and_does_nothing(hooked: Site, body: bytes) -> None:
    hooked.active()
    told(hooked, body)
    assert set(states(hooked).values()) == {"active"}


def test_the_workers_are_asked_once_the_post_is_stored(hooked: Site) -> None:
    asked: list[int] = []
    app = create_app(hooked.application, lambda _: None, lambda: hooked.now, asked.extend)
    body = b"[]"
    TestClient(app, base_url="http://testserver").post(PATH, content=body, headers=SENDGRID.headers(body, hooked.now))
    assert asked == [found.id for found in posts(hooked)] == [1]


def test_a_post_is_read_once(hooked: Site) -> None:
    told(hooked, [])
    assert record_post(hooked.application.sessions, EVENT_READERS, 1, hooked.now) is None
    assert record_post(hooked.application.sessions, EVENT_READERS, 7, hooked.now) is None


def test_a_worker_that_died_over_a_post_is_followed_by_another_until_enough_have(hooked: Site) -> None:
    post(hooked, [event_of("reader@example.com", "spamreport")])
    tried = []

    def dies(*_: object) -> list[ProviderEvent]:
        tried.append(hooked.now)
        raise SystemExit

    for _ in range(MOST_ATTEMPTS):
        with pytest.raises(SystemExit):
            record_post(hooked.application.sessions, {"sendgrid": dies}, 1, hooked.now)
        assert record_post(hooked.application.sessions, {"sendgrid": dies}, 1, hooked.now) is None
        hooked.later(minutes=20)
    assert len(tried) == MOST_ATTEMPTS
    assert record_waiting(hooked.application.sessions, {"sendgrid": dies}, hooked.now) != []
    (given_up,) = posts(hooked)
    assert given_up.closed_at == hooked.now
    assert given_up.body
    assert "no worker" in given_up.detail


def test_ten_thousand_events_in_one_post_are_taken_whole(hooked: Site) -> None:
    events = [event_of(f"reader{number}@example.com", "open") for number in range(10_000)]
    answer = post(hooked, events)
    assert (answer.status_code, answer.json()) == (200, {"received": 10_000})
    (kept,) = posts(hooked)
    assert len({event.identifier for event in EVENT_READERS["sendgrid"](kept.body, hooked.now)}) == 10_000


def test_no_event_is_lost_between_the_transactions_of_a_long_post(hooked: Site) -> None:
    number = 2 * step.AT_ONCE + 1
    assert told(hooked, [event_of(f"reader{n}@example.com", "open") for n in range(number)]) == (number, 0, number)
    assert stored(hooked) == number


def test_one_event_that_cannot_be_recorded_stops_no_other_and_is_not_tried_for_ever(
    hooked: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "poison", "two"):
        hooked.active(f"{name}@example.com")
    real_act = step._act  # noqa: SLF001 - where an event does its harm

    def act(session: Session, event: ProviderEvent, *rest: Any) -> None:  # noqa: ANN401 - passed on
        if event.address == "poison@example.com":
            raise ValueError(event.address)
        real_act(session, event, *rest)

    monkeypatch.setattr(step, "_act", act)
    hooked.later(minutes=1)
    post(hooked, [event_of(f"{name}@example.com", "spamreport", hooked.now) for name in ("one", "poison", "two")])
    faults = record_waiting(hooked.application.sessions, EVENT_READERS, hooked.now)
    assert faults == ["events 1: ValueError"]
    assert states(hooked) == {"one@example.com": "ended", "poison@example.com": "active", "two@example.com": "ended"}
    for _ in range(MOST_ATTEMPTS + 2):
        hooked.later(hours=2)
        record_waiting(hooked.application.sessions, EVENT_READERS, hooked.now)
    (given_up,) = posts(hooked)
    assert (given_up.attempts, given_up.detail) == (MOST_ATTEMPTS, "1 not recorded: ValueError")
    assert given_up.closed_at is not None
    assert given_up.body


ODD = {"email": ["x"], "timestamp": {"a": 1}, "sg_event_id": 7, "reason": "\x00\ud800", "type": None, "status": 5.1}


def test_odd_types_and_nuls_spoil_no_event_beside_them(hooked: Site) -> None:
    reader = hooked.active()
    hooked.later(minutes=1)
    deep = b'{"event": "open", "x": ' + b"[" * 900 + b"]" * 900 + b"}"
    huge = b'{"event": "open", "timestamp": ' + b"9" * 5000 + b"}"
    odd = json.dumps([ODD | {"event": name} for name in ("bounce", "dropped", ["x"], None)]).encode()
    good = json.dumps(event_of("reader@example.com", "spamreport", hooked.now)).encode()
    told(hooked, odd[:-1] + b", " + deep + b", " + huge + b", " + good + b"]")
    assert hooked.state(reader) is SubscriberState.ENDED


def test_uns_07_a_complaint_reaches_the_reader_in_whatever_case_it_names_them(hooked: Site) -> None:
    hooked.now = THEN - timedelta(days=1)
    reader = hooked.active("Reader.Test2@Example.COM")
    hooked.now = THEN
    told(hooked, [event_of("reader.test2@example.com", "spamreport", THEN)])
    assert hooked.state(reader) is SubscriberState.ENDED


def event_of(address: str, name: str, at: datetime = THEN) -> dict[str, Any]:
    return {"email": address, "event": name, "timestamp": int(at.timestamp()), "sg_event_id": f"{name}{address}"}


def test_a_delivery_whose_answer_was_lost_is_settled_when_sendgrid_has_processed_it(hooked: Site) -> None:
    site = hooked
    reader = site.active()
    stock(site)
    own = site.application
    site.later(hours=1)
    with own.sessions.begin() as session:
        session.execute(update(Subscriber).values(window_start_at=site.now - timedelta(days=365)))
    assert (
        send_now(own.sessions, own.provider, own.press, own.settings.policy, "reader@example.com", site.now) == "sent"
    )
    lost = {"state": BatchState.UNKNOWN, "reason": DeliveryReason.ANSWER_LOST, "sent_at": None}
    with own.sessions.begin() as session:
        session.execute(update(Batch).values(lost))
    with own.sessions() as session:
        (before,) = entries(session)
    assert (before.status, before.reason) == ("unknown", "answer_lost")
    key = f"{reader}-{before.on:%Y%m%d}"
    stamp = int(site.now.timestamp())
    event = {"email": "reader@example.com", "event": "processed", "timestamp": stamp, "dg_recipient": key}
    assert told(site, [event]) == (1, 0, 0)
    with own.sessions() as session:
        (after,) = entries(session)
    assert (after.status, after.reason) == ("sent", None)


def test_a_post_as_long_as_sendgrids_is_read_and_one_beyond_all_measure_is_not(hooked: Site) -> None:
    long = json.dumps([{"event": "open", "filler": "x" * 768_000}]).encode()
    assert told(hooked, long)[0] == 1
    beyond = b"[" + b" " * 20_000_000 + b"]"
    assert post(hooked, beyond).status_code == 413

    def in_pieces() -> Iterator[bytes]:
        for start in range(0, len(beyond), 65_536):
            yield beyond[start : start + 65_536]

    answer = hooked.client().post(PATH, content=in_pieces(), headers=SENDGRID.headers(beyond, hooked.now))
    assert answer.status_code == 413
    assert len(posts(hooked)) == 1


def test_what_is_refused_is_told_to_the_program_that_posted_it_in_a_problem_document(hooked: Site) -> None:
    unsigned = hooked.client().post(PATH, content=b"[]")
    for status, answer in ((401, unsigned), (400, post(hooked, b"{")), (413, post(hooked, b" " * 20_000_000))):
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
        assert answer.json()["status"] == status
        assert answer.json()["detail"]


def test_only_a_post_is_a_webhook(hooked: Site) -> None:
    assert hooked.client().get(PATH).status_code == 405
