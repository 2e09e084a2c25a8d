"""What SendGrid posts: believed only as signed, acted on once, whoever it is about."""

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from httpx2 import Response
from sqlalchemy import func, select, update

from digest.domain.delivery import BatchState, DeliveryReason
from digest.domain.subscriber import SubscriberState
from digest.steps.send_now import send_now
from digest.store.ledger import entries
from digest.store.tables import Batch, Event, Subscriber, Suppression
from tests.web.conftest import Make, Site, stock

CASES = Path(__file__).parents[1] / "providers" / "cases"
BODY = (CASES / "PRV-01-body.json").read_bytes()
HEADERS: dict[str, str] = json.loads((CASES / "PRV-01-headers.json").read_text())
SIGNATURE, TIMESTAMP = (f"X-Twilio-Email-Event-Webhook-{name}" for name in ("Signature", "Timestamp"))
THEN = datetime.fromtimestamp(int(HEADERS[TIMESTAMP]), UTC)
PATH = "/webhooks/sendgrid"


class Signer:
    """SendGrid with a key pair of its own."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())

    @property
    def public(self) -> str:
        spki = serialization.PublicFormat.SubjectPublicKeyInfo
        der = self.key.public_key().public_bytes(serialization.Encoding.DER, spki)
        return base64.b64encode(der).decode()

    def headers(self, body: bytes, at: datetime) -> dict[str, str]:
        stamp = str(int(at.timestamp()))
        signature = self.key.sign(stamp.encode() + body, ec.ECDSA(hashes.SHA256()))
        return {SIGNATURE: base64.b64encode(signature).decode(), TIMESTAMP: stamp}


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
    assert (answer.status_code, answer.json()) == (200, {"new": 3, "known": 0, "strangers": 0})
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
    assert stored(real) == 0
    assert set(states(real).values()) == {"active"}


def test_without_a_key_nobody_is_believed(make_site: Make) -> None:
    site = make_site()
    site.now = THEN
    assert site.client().post(PATH, content=BODY, headers=HEADERS).status_code == 401
    assert post(site, []).status_code == 401


def test_prv_03_one_fact_told_ten_times_counts_once(hooked: Site) -> None:
    reader = hooked.active()
    events = case("PRV-03-duplicates.json", f"{reader}-20270609")
    answers = [post(hooked, events).json() for _ in range(2)]
    assert answers == [{"new": 1, "known": 4, "strangers": 0}, {"new": 0, "known": 5, "strangers": 0}]
    assert stored(hooked) == 1
    assert hooked.state(reader) is SubscriberState.ACTIVE


def test_prv_05_a_fault_of_the_sender_takes_no_reader_away(hooked: Site) -> None:
    events = case("PRV-05-events.json")
    hooked.now = THEN - timedelta(days=1)
    for address in {event["email"] for event in events}:
        hooked.active(address)
    hooked.now = THEN
    dead = {event["email"].lower() for event in events if event.get("status") == "5.1.1"}
    assert post(hooked, events).json() == {"new": len(events), "known": 0, "strangers": 0}
    assert len(dead) == 1
    assert suppressed(hooked) == dead
    assert {email.lower() for email, state in states(hooked).items() if state == "ended"} == dead


def test_prv_07_events_about_strangers_disturb_nobody_and_stop_nothing(hooked: Site) -> None:
    hooked.now = THEN - timedelta(days=1)
    for name in ("known", "complainer", "reader"):
        hooked.active(f"{name}@example.com")
    hooked.now = THEN
    answer = post(hooked, case("PRV-07-unknown.json"))
    assert (answer.status_code, answer.json()) == (200, {"new": 5, "known": 0, "strangers": 2})
    assert states(hooked) == {
        "known@example.com": "ended",
        "complainer@example.com": "ended",
        "reader@example.com": "active",
    }
    assert suppressed(hooked) == {"known@example.com", "complainer@example.com"}


@pytest.mark.parametrize("body", [b"", b"not json", b"7", b"\xff", b"[" * 100_000, b"[]", b'["text", null]'])
def test_what_is_signed_but_no_events_is_taken_and_left_alone(hooked: Site, body: bytes) -> None:
    answer = post(hooked, body)
    assert answer.status_code == (401 if body == b"\xff" else 200)
    assert stored(hooked) == 0


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
    assert post(site, [event]).json()["new"] == 1
    with own.sessions() as session:
        (after,) = entries(session)
    assert (after.status, after.reason) == ("sent", None)


def test_a_post_as_long_as_sendgrids_is_read_and_one_beyond_all_measure_is_not(hooked: Site) -> None:
    long = json.dumps([{"event": "open", "filler": "x" * 768_000}]).encode()
    assert post(hooked, long).status_code == 200
    beyond = b"[" + b" " * 4 * 2**20 + b"]"
    assert post(hooked, beyond).status_code == 413

    def in_pieces() -> Iterator[bytes]:
        for start in range(0, len(beyond), 65_536):
            yield beyond[start : start + 65_536]

    answer = hooked.client().post(PATH, content=in_pieces(), headers=SENDGRID.headers(beyond, hooked.now))
    assert answer.status_code == 413
    assert stored(hooked) == 1


def test_only_a_post_is_a_webhook(hooked: Site) -> None:
    assert hooked.client().get(PATH).status_code == 405
