import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import given
from hypothesis import strategies as st

from digest.domain.errors import BadInputError
from digest.domain.event import EventKind, ProviderEvent
from digest.providers.sendgrid_events import kind_of, parse_events, verify_signature

CASES = Path(__file__).parent / "cases"
BODY = (CASES / "PRV-01-body.json").read_bytes()
HEADERS = json.loads((CASES / "PRV-01-headers.json").read_text())
SIGNATURE = HEADERS["X-Twilio-Email-Event-Webhook-Signature"]
TIMESTAMP = HEADERS["X-Twilio-Email-Event-Webhook-Timestamp"]
KEY = (CASES / "PRV-01-public-key.txt").read_text()
THEN = datetime.fromtimestamp(int(TIMESTAMP), UTC)
HOUR = timedelta(hours=1)
RECEIVED = datetime(2027, 6, 9, tzinfo=UTC)


def events(*entries: object) -> list[ProviderEvent]:
    return parse_events(json.dumps(entries).encode(), RECEIVED)


def entry(**fields: object) -> dict[str, Any]:
    return {
        "email": "reader@example.com",
        "timestamp": 1812586320,
        "event": "delivered",
        "sg_event_id": "e1",
        "sg_message_id": "m1.filter",
        "dg_recipient": "7-20261202",
        **fields,
    }


def case(name: str) -> list[ProviderEvent]:
    body = (CASES / name).read_text(encoding="utf-8")
    return parse_events(body.replace('"delivery_id"', '"dg_recipient"').encode(), RECEIVED)


def public_text(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> str:
    spki = serialization.PublicFormat.SubjectPublicKeyInfo
    return base64.b64encode(key.public_key().public_bytes(serialization.Encoding.DER, spki)).decode()


def test_prv_01_the_signed_bytes_as_they_came_are_believed() -> None:
    assert verify_signature(BODY, SIGNATURE, TIMESTAMP, KEY, THEN, HOUR)
    assert [event.kind for event in parse_events(BODY, RECEIVED)] == [
        EventKind.PROCESSED,
        EventKind.DELIVERED,
        EventKind.BOUNCED,
    ]


def test_prv_01_the_same_json_written_again_is_not() -> None:
    assert not verify_signature(json.dumps(json.loads(BODY)).encode(), SIGNATURE, TIMESTAMP, KEY, THEN, HOUR)


def test_prv_01_one_changed_byte_is_not() -> None:
    assert not verify_signature(BODY.replace(b"5.1.1", b"5.1.2"), SIGNATURE, TIMESTAMP, KEY, THEN, HOUR)


def test_prv_01_a_body_without_its_last_line_break_is_not() -> None:
    assert BODY.endswith(b"\r\n")
    assert not verify_signature(BODY.rstrip(), SIGNATURE, TIMESTAMP, KEY, THEN, HOUR)


def test_prv_01_another_time_stamp_is_not() -> None:
    assert not verify_signature(BODY, SIGNATURE, str(int(TIMESTAMP) + 1), KEY, THEN, HOUR)


def test_prv_01_a_day_later_it_is_not() -> None:
    assert not verify_signature(BODY, SIGNATURE, TIMESTAMP, KEY, THEN + timedelta(days=1), HOUR)


def test_a_time_stamp_from_the_future_is_not_believed_beyond_clock_skew() -> None:
    assert verify_signature(BODY, SIGNATURE, TIMESTAMP, KEY, THEN - timedelta(minutes=4), HOUR)
    assert not verify_signature(BODY, SIGNATURE, TIMESTAMP, KEY, THEN - timedelta(minutes=6), HOUR)


@pytest.mark.parametrize(
    ("signature", "timestamp", "key"),
    [
        (None, TIMESTAMP, KEY),
        ("", TIMESTAMP, KEY),
        ("签名", TIMESTAMP, KEY),
        ("not base64", TIMESTAMP, KEY),
        ("AAAA", TIMESTAMP, KEY),
        (SIGNATURE, None, KEY),
        (SIGNATURE, "", KEY),
        (SIGNATURE, "now", KEY),
        (SIGNATURE, TIMESTAMP + "0" * 20, KEY),
        (SIGNATURE, "１８１２５８６３２６", KEY),
        (SIGNATURE, TIMESTAMP, ""),
        (SIGNATURE, TIMESTAMP, "no key"),
        (SIGNATURE, TIMESTAMP, KEY[:40]),
    ],
)
def test_odd_input_is_refused_and_never_raises(signature: str | None, timestamp: str | None, key: str) -> None:
    assert not verify_signature(BODY, signature, timestamp, key, THEN, HOUR)


def test_a_key_of_another_kind_is_refused_and_never_raises() -> None:
    key = public_text(rsa.generate_private_key(65537, 2048))
    assert not verify_signature(BODY, SIGNATURE, TIMESTAMP, key, THEN, HOUR)


def test_a_key_of_somebody_else_is_refused() -> None:
    key = public_text(ec.generate_private_key(ec.SECP256R1()))
    assert not verify_signature(BODY, SIGNATURE, TIMESTAMP, key, THEN, HOUR)


def test_bytes_that_are_no_text_are_refused_and_never_raise() -> None:
    secret = ec.generate_private_key(ec.SECP256R1())
    body = b"\xff\xfe\x00"
    signature = base64.b64encode(secret.sign(TIMESTAMP.encode() + body, ec.ECDSA(hashes.SHA256()))).decode()
    assert not verify_signature(body, signature, TIMESTAMP, public_text(secret), THEN, HOUR)


@given(
    body=st.binary(max_size=50),
    signature=st.text(max_size=50),
    timestamp=st.text(max_size=12),
    key=st.text(max_size=50),
)
def test_nothing_random_is_believed_or_raises(body: bytes, signature: str, timestamp: str, key: str) -> None:
    assert not verify_signature(body, signature, timestamp, key, THEN, HOUR)
    assert not verify_signature(body, signature, TIMESTAMP, KEY, THEN, HOUR)


def test_prv_03_the_same_event_under_other_ids_is_one_event() -> None:
    found = case("PRV-03-duplicates.json")
    assert len(found) == 5
    assert len({event.identifier for event in found}) == 1
    assert {event.kind for event in found} == {EventKind.BLOCKED}
    assert found[0].recipient_key == "__DELIVERY_ID_1__"


def test_prv_05_only_the_dead_address_is_dead() -> None:
    found = case("PRV-05-events.json")
    blocked = [event for event in found if "sending IP is on our block list" in event.detail]
    assert len(blocked) == 200
    assert {event.kind for event in blocked} == {EventKind.BLOCKED}
    assert [event.detail[:12] for event in found if event.kind is EventKind.BOUNCED] == ["bounce 5.1.1"]
    others = [event.kind for event in found if event not in blocked and event.kind is not EventKind.BOUNCED]
    assert sorted(others) == [EventKind.DEFERRED, EventKind.SOFT_BOUNCED, EventKind.SOFT_BOUNCED]


def test_prv_07_events_about_nobody_we_know_disturb_nothing() -> None:
    found = case("PRV-07-unknown.json")
    assert [event.kind for event in found] == [
        EventKind.BOUNCED,
        EventKind.BOUNCED,
        EventKind.DELIVERED,
        EventKind.OTHER,
        EventKind.COMPLAINED,
    ]
    assert found[1].address == "known@example.com"
    assert found[1].recipient_key is None
    assert found[3].address is None
    assert len({event.identifier for event in found}) == 5


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("processed", EventKind.PROCESSED),
        ("deferred", EventKind.DEFERRED),
        ("delivered", EventKind.DELIVERED),
        ("dropped", EventKind.DROPPED),
        ("spamreport", EventKind.COMPLAINED),
        ("unsubscribe", EventKind.UNSUBSCRIBED),
        ("group_unsubscribe", EventKind.UNSUBSCRIBED),
        ("group_resubscribe", EventKind.OTHER),
        ("open", EventKind.OPENED),
        ("click", EventKind.CLICKED),
        ("something new", EventKind.OTHER),
        (None, EventKind.OTHER),
        (["bounce"], EventKind.OTHER),
    ],
)
def test_every_kind_has_its_word_and_what_is_new_is_other(name: object, kind: EventKind) -> None:
    assert kind_of({"event": name}) is kind


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"type": "bounce", "status": "5.1.1", "reason": "550 5.1.1 unknown"}, EventKind.BOUNCED),
        ({"type": "bounce", "status": "5.0.0", "reason": "550 no"}, EventKind.BOUNCED),
        ({"type": "bounce"}, EventKind.BOUNCED),
        ({"type": "bounce", "status": "5.2.2", "reason": "552 full"}, EventKind.SOFT_BOUNCED),
        ({"type": "bounce", "status": "4.2.1", "reason": "450 off for now"}, EventKind.SOFT_BOUNCED),
        ({"type": "bounce", "status": "5.7.1", "reason": "550 policy"}, EventKind.BLOCKED),
        ({"type": "bounce", "status": "5.1.1", "reason": "550 Domain frequency limited"}, EventKind.BLOCKED),
        ({"type": "bounce", "reason": "550 Mailbox unavailable or access denied"}, EventKind.BLOCKED),
        ({"type": "bounce", "status": "5.0.0", "bounce_classification": "Reputation"}, EventKind.BLOCKED),
        ({"type": "blocked", "status": "5.1.1"}, EventKind.BLOCKED),
        ({"type": "expired", "status": "5.1.1"}, EventKind.SOFT_BOUNCED),
        ({"type": "expired", "status": "4.7.32"}, EventKind.BLOCKED),
        ({"type": "blocked", "status": "5.2.2"}, EventKind.SOFT_BOUNCED),
        ({"type": "blocked", "status": "4.7.1"}, EventKind.BLOCKED),
        ({"status": "5.1.1"}, EventKind.BOUNCED),
        ({"reason": "550 5.1.1 unknown"}, EventKind.BOUNCED),
        ({"status": "4.2.2"}, EventKind.SOFT_BOUNCED),
        ({"status": "5.0.0"}, EventKind.BLOCKED),
        ({}, EventKind.BLOCKED),
        ({"type": ["bounce"], "status": 5}, EventKind.BLOCKED),
    ],
)
def test_a_bounce_ends_a_subscription_only_when_the_address_is_dead(fields: dict[str, Any], kind: EventKind) -> None:
    assert kind_of({"event": "bounce", **fields}) is kind


@pytest.mark.parametrize(
    "change",
    [
        {"event": "deferred"},
        {"timestamp": 1812586321},
        {"sg_message_id": "m2.filter"},
        {"dg_recipient": "8-20261202"},
        {"reason": "450 later"},
        {"attempt": "2"},
        {"url": "https://example.com/"},
    ],
)
def test_different_facts_have_different_identifiers(change: dict[str, Any]) -> None:
    first, second = events(entry(), entry(**change))
    assert first.identifier != second.identifier


def test_the_address_identifies_in_any_case_where_there_is_no_key_of_ours() -> None:
    without = {name: value for name, value in entry().items() if name != "dg_recipient"}
    first, second, other = events(
        without, without | {"email": "Reader@Example.com"}, without | {"email": "other@example.com"}
    )
    assert first.identifier == second.identifier != other.identifier
    assert "@" not in first.identifier


def test_an_event_without_an_id_gets_the_same_one_every_time() -> None:
    bare = {"event": "dropped", "email": "reader@example.com", "reason": "Invalid"}
    first, second = events(bare, bare)
    assert first.identifier == second.identifier
    assert first.occurred_at == RECEIVED


@pytest.mark.parametrize("timestamp", [None, "soon", -1, 10**40, True, 1.5, [], {}])
def test_a_time_stamp_that_is_none_becomes_the_time_of_receipt(timestamp: object) -> None:
    assert events(entry(timestamp=timestamp))[0].occurred_at == RECEIVED


def test_a_time_stamp_may_be_a_number_or_its_digits() -> None:
    first, second = events(entry(timestamp=1812586320), entry(timestamp="1812586320"))
    assert first.occurred_at == second.occurred_at == datetime.fromtimestamp(1812586320, UTC)


def test_what_an_event_says_is_kept_whole_and_shown_without_addresses() -> None:
    (event,) = events(entry(event="bounce", reason="550 <reader@example.com> 用户不存在\x00", type="bounce"))
    assert json.loads(event.raw)["reason"] == "550 <reader@example.com> 用户不存在\x00"
    assert event.detail == "bounce 550 <***> 用户不存在"
    assert "example.com" not in repr(event)


@pytest.mark.parametrize("value", ["", 7, None, ["7"], "7\x00", "7\ud800", "x" * 101])
def test_a_key_that_cannot_be_ours_is_none(value: object) -> None:
    assert events(entry(dg_recipient=value))[0].recipient_key is None


@pytest.mark.parametrize("body", [b"", b"not json", b"7", b'"text"', b"null", b"\xff\xfe", b"[" * 100_000])
def test_a_body_that_is_no_list_of_events_is_bad_input(body: bytes) -> None:
    with pytest.raises(BadInputError):
        parse_events(body, RECEIVED)


def test_one_event_outside_a_list_is_read_too() -> None:
    assert len(parse_events(json.dumps(entry()).encode(), RECEIVED)) == 1


def test_an_empty_post_holds_nothing() -> None:
    assert parse_events(b"[]", RECEIVED) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["event", "email", "timestamp", "type", "status", "reason", "dg_recipient"]), JSON
        )
        | JSON
    )
)
def test_no_json_whatever_stops_the_events_beside_it(found: list[Any]) -> None:
    parsed = events(*found, entry(event="spamreport"))
    assert parsed[-1].kind is EventKind.COMPLAINED
    assert len(parsed) == sum(isinstance(one, dict) for one in found) + 1
    assert all(event.raw.isascii() for event in parsed)
