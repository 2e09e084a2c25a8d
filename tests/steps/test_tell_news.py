"""Other programs are told once what happened, in ids, signed; their silence costs nobody anything."""

from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime, timedelta

import pytest
from sqlalchemy import func, select

from digest.domain.event import EventKind, ProviderEvent
from digest.domain.webhook_signature import key_of, signature
from digest.steps.manage_subscriptions import pause, unsubscribe
from digest.steps.record_events import record_events
from digest.steps.tell_news import WAITS, Told, make_waiting_calls, prepare_calls
from digest.store.tables import Announcement, Call
from digest.teller import WebTeller
from tests.doubles.listener import Listener, listening
from tests.servers import free_port
from tests.steps.world import World, utc

SEND = utc("2027-06-10T00:00")
HOUR = timedelta(hours=1)
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as found:
        yield found


@pytest.fixture
def teller() -> Iterator[WebTeller]:
    with closing(WebTeller([SECRET], timeout=2)) as found:
        yield found


def tell(world: World, teller: WebTeller, *urls: str, at: datetime = SEND, with_address: bool = False) -> list[Told]:
    prepare_calls(world.sessions, urls, at)
    return make_waiting_calls(world.sessions, teller, at, with_address=with_address)


def report(world: World, kind: EventKind, reader: int, at: datetime) -> None:
    record_events(world.sessions, [ProviderEvent("recording", f"{kind}{reader}", kind, at, f"{reader}-20270610")], at)


def test_sign_ups_and_endings_are_told_once_each_in_ids(world: World, teller: WebTeller, listener: Listener) -> None:
    names = ("left", "bounced", "complained", "paused")
    left, bounced, complained, paused = (world.join(SEND - HOUR, f"{name}@example.com") for name in names)
    unsubscribe(world.sessions, left, SEND)
    unsubscribe(world.sessions, left, SEND + HOUR)
    report(world, EventKind.BOUNCED, bounced, SEND)
    report(world, EventKind.COMPLAINED, complained, SEND)
    pause(world.sessions, paused, date(2027, 6, 20), SEND)
    for _ in range(2):
        tell(world, teller, listener.url, at=SEND + HOUR)
    told = sorted((one["type"], one["data"]["subscriber"]) for one in listener.news())
    assert told == sorted(
        [("subscriber.confirmed", reader) for reader in (left, bounced, complained, paused)]
        + [("subscriber.left", left), ("subscriber.bounced", bounced), ("subscriber.complained", complained)]
    )
    assert b"example.com" not in b"".join(listener.bodies)


def test_what_is_told_is_signed_by_the_standard(world: World, teller: WebTeller, listener: Listener) -> None:
    world.join(SEND - HOUR)
    tell(world, teller, listener.url)
    (headers,), (body,) = listener.headers, listener.bodies
    assert headers["webhook-timestamp"] == str(int(SEND.timestamp()))
    assert headers["webhook-signature"] == signature([key_of(SECRET)], headers["webhook-id"], SEND, body)
    assert headers["content-type"] == "application/json"
    assert listener.news()[0]["timestamp"] == (SEND - HOUR).isoformat()


def test_addresses_are_told_only_where_the_operator_says_so(
    world: World, teller: WebTeller, listener: Listener
) -> None:
    world.join(SEND - HOUR, "reader@example.com")
    tell(world, teller, listener.url, with_address=True)
    assert listener.news()[0]["data"]["email"] == "reader@example.com"


def test_a_morning_is_told_when_nothing_of_it_is_left_to_hand_over(
    world: World, teller: WebTeller, listener: Listener
) -> None:
    for name in ("a", "busy"):
        world.reader(f"{name}@example.com", since=SEND - 2 * HOUR)
    world.provider.refuses = {"a@example.com"}
    world.provider.busy = {"busy@example.com"}
    world.story(SEND - HOUR)
    world.turn(SEND)
    assert tell(world, teller, listener.url, at=SEND) == []
    world.provider.busy = set()
    world.turn(SEND + timedelta(minutes=5))
    for minutes in (5, 6):
        tell(world, teller, listener.url, at=SEND + timedelta(minutes=minutes))
    (told,) = listener.news()
    assert told["type"] == "morning.done"
    counts = {"sent": 1, "failed": 1, "unknown": 0, "skipped": {}}
    assert told["data"] == {"send_at": SEND.isoformat(), "date": "2027-06-10"} | counts


def test_who_does_not_answer_is_told_again_later_under_the_same_id_and_not_for_ever(
    world: World, teller: WebTeller, listener: Listener
) -> None:
    world.join(SEND - HOUR)
    listener.status = 500
    now = SEND
    for wait in (*WAITS, timedelta(0)):
        assert tell(world, teller, listener.url, at=now) == [Told(listener.url, "answered 500")]
        assert tell(world, teller, listener.url, at=now + wait / 2) == []
        now += wait
    assert tell(world, teller, listener.url, at=now + timedelta(days=3)) == []
    assert len({headers["webhook-id"] for headers in listener.headers}) == 1
    with world.sessions() as session:
        call = session.scalars(select(Call)).one()
    assert (call.attempts, call.detail) == (len(WAITS) + 1, "answered 500")
    assert call.closed_at is not None


def test_one_that_is_gone_keeps_nothing_from_the_other(world: World, teller: WebTeller, listener: Listener) -> None:
    for number in range(3):
        world.join(SEND - HOUR, f"reader{number}@example.com")
    gone = f"http://127.0.0.1:{free_port()}/"
    told = tell(world, teller, gone, listener.url)
    assert len(listener.bodies) == 3
    assert [one.fault for one in told if one.url == gone] == ["ConnectError"]  # asked once in this round, not thrice


def test_redirects_are_not_followed(world: World, teller: WebTeller, listener: Listener) -> None:
    world.join(SEND - HOUR)
    listener.status = 302
    assert tell(world, teller, listener.url)[0].fault == "answered 302"


def test_without_any_address_news_is_forgotten_and_not_told_to_a_later_one(
    world: World, teller: WebTeller, listener: Listener
) -> None:
    world.join(SEND - HOUR)
    assert tell(world, teller) == []
    with world.sessions() as session:
        assert session.scalar(select(func.count()).select_from(Announcement)) == 0
    assert tell(world, teller, listener.url) == []


def test_an_address_that_is_set_no_longer_is_not_called(world: World, teller: WebTeller, listener: Listener) -> None:
    world.join(SEND - HOUR)
    prepare_calls(world.sessions, ["https://old.example.com/"], SEND)
    assert tell(world, teller, listener.url, at=SEND + HOUR) == []
