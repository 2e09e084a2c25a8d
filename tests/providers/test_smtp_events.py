"""Reports that come back by mail: what they say, and whom we believe."""

from datetime import UTC, datetime, timedelta

import pytest

from digest.domain.event import EventKind, ProviderEvent
from digest.links import BadTokenError, Links
from digest.providers.return_path import LONGEST_MAILBOX, LONGEST_TOKEN, ReturnPath
from digest.providers.smtp_events import parse_report

NOW = datetime(2026, 12, 3, 1, 0, tzinfo=UTC)
LINKS = Links("https://brief.example.com", ["a-new-key-of-enough-length", "an-old-key-of-enough-length"])
PATH = ReturnPath("bounces@example.com", LINKS)
KEY = "7-20261202"
OURS = PATH.for_key(KEY)


def report(*blocks: str, to: str = OURS, enclosed: str = "", date: str = "Wed, 02 Dec 2026 08:00:00 +0000") -> bytes:
    """A delivery report as Postfix and Exim write them (RFC 3464)."""
    status = "\n\n".join(("Reporting-MTA: dns; relay.example.com", *blocks))
    return (
        f"Return-Path: <>\nDelivered-To: {to}\nFrom: MAILER-DAEMON@relay.example.com\nTo: {to}\nDate: {date}\n"
        "Subject: Undelivered Mail\nMIME-Version: 1.0\n"
        'Content-Type: multipart/report; report-type=delivery-status; boundary="x"\n\n'
        "--x\nContent-Type: text/plain\n\nSorry.\n\n"
        f"--x\nContent-Type: message/delivery-status\n\n{status}\n\n"
        f"--x\nContent-Type: text/rfc822-headers\n\n{enclosed}\n--x--\n"
    ).encode("utf-8", "surrogateescape")


def block(
    action: str = "failed", status: str = "5.1.1", words: str = "smtp; 550 5.1.1 <reader@example.org> gone"
) -> str:
    return f"Final-Recipient: rfc822; reader@example.org\nAction: {action}\nStatus: {status}\nDiagnostic-Code: {words}"


def complaint(enclosed: str, *, named: str = "abuse", to: str = "fbl@example.com") -> bytes:
    """A complaint as mail services send it (RFC 5965)."""
    return (
        f"From: fbl@mail.example.net\nTo: {to}\nDate: Wed, 02 Dec 2026 08:00:00 +0000\nMIME-Version: 1.0\n"
        'Content-Type: multipart/report; report-type=feedback-report; boundary="x"\n\n'
        "--x\nContent-Type: text/plain\n\nA complaint.\n\n"
        f"--x\nContent-Type: message/feedback-report\n\nFeedback-Type: {named}\nUser-Agent: x/1\nVersion: 1\n\n"
        f"--x\nContent-Type: message/rfc822\n\n{enclosed}\n\nHello\n--x--\n"
    ).encode()


def read(source: bytes) -> list[ProviderEvent]:
    return parse_report(source, PATH, LINKS, NOW)


@pytest.mark.parametrize(
    ("action", "status", "words", "kind"),
    [
        ("failed", "5.1.1", "smtp; 550 5.1.1 no such user", EventKind.BOUNCED),
        ("failed", "5.0.0", "smtp; 550 Mailbox not found", EventKind.BOUNCED),
        ("failed", "5.2.2", "smtp; 552 5.2.2 full", EventKind.SOFT_BOUNCED),
        ("failed", "4.4.7", "delivery time expired", EventKind.SOFT_BOUNCED),
        ("failed", "5.7.1", "smtp; 550 5.7.1 policy", EventKind.BLOCKED),
        ("failed", "5.1.1", "smtp; 550 Domain frequency limited", EventKind.BLOCKED),
        ("failed", "5.0.0", "smtp; 550 5.7.26 not authenticated", EventKind.BLOCKED),
        ("failed", "", "", EventKind.BLOCKED),
        ("delayed", "4.2.1", "smtp; 450 busy", EventKind.DEFERRED),
        ("delivered", "2.0.0", "", EventKind.DELIVERED),
        ("relayed", "2.0.0", "", EventKind.DELIVERED),
        ("eaten", "5.1.1", "", EventKind.OTHER),
    ],
)
def test_a_delivery_report_is_read_by_action_status_and_words(
    action: str, status: str, words: str, kind: EventKind
) -> None:
    (event,) = read(report(block(action, status, words)))
    assert (event.kind, event.recipient_key, event.provider) == (kind, KEY, "smtp")
    assert event.occurred_at == datetime(2026, 12, 2, 8, tzinfo=UTC)


def test_no_address_is_kept_of_a_report() -> None:
    (event,) = read(report(block()))
    assert "reader@" not in event.detail + event.raw
    assert event.address is None


def test_the_token_is_found_in_the_enclosed_headers_where_the_mail_server_rewrote_the_recipient() -> None:
    (event,) = read(report(block(), to="bounces@example.com", enclosed=f"Return-Path: <{OURS.upper()}>\nSubject: x\n"))
    assert event.recipient_key == KEY


@pytest.mark.parametrize(
    "to",
    [
        "bounces@example.com",
        "bounces+7-20261202@example.com",
        "bounces+8-20261202-" + OURS.partition("@")[0].rpartition("-")[2] + "@example.com",
        OURS.replace("example.com", "example.net"),
        OURS.replace("bounces+", "other+"),
        "bounces+" + "x" * 5000 + "@example.com",
        "bounces+用户-абв@example.com",
    ],
)
def test_what_carries_no_token_of_ours_is_not_believed(to: str) -> None:
    assert read(report(block(), to=to)) == []


def test_a_token_of_an_older_key_still_counts() -> None:
    old = ReturnPath("bounces@example.com", Links(LINKS.base_url, [LINKS.secret_keys[1]])).for_key(KEY)
    assert read(report(block(), to=old))[0].recipient_key == KEY


def test_a_report_read_twice_is_one_event_and_two_blocks_are_two() -> None:
    first, second = (read(report(block(), block("delayed", "4.2.1"), date="")) for _ in range(2))
    assert [event.identifier for event in first] == [event.identifier for event in second]
    assert len({event.identifier for event in first}) == 2


@pytest.mark.parametrize("date", ["", "nonsense", "Wed, 02 Dec 2099 08:00:00 +0000", "Wed, 02 Dec 1999 08:00:00 +0000"])
def test_an_instant_that_cannot_be_is_the_one_it_came_at(date: str) -> None:
    assert read(report(block(), date=date))[0].occurred_at == NOW


@pytest.mark.parametrize(
    ("named", "kind"),
    [("abuse", EventKind.COMPLAINED), ("opt-out", EventKind.UNSUBSCRIBED), ("not-spam", EventKind.OTHER)],
)
def test_a_complaint_is_known_by_the_signed_link_in_what_it_encloses(named: str, kind: EventKind) -> None:
    (event,) = read(complaint(f"List-Unsubscribe: <{LINKS.unsubscribe(7)}>\nSubject: x", named=named))
    assert (event.kind, event.recipient_key) == (kind, "reader-7")


def test_a_complaint_with_our_return_path_names_the_very_delivery() -> None:
    (event,) = read(complaint(f"Return-Path: <{OURS}>\nSubject: x"))
    assert (event.kind, event.recipient_key) == (EventKind.COMPLAINED, KEY)


@pytest.mark.parametrize(
    "enclosed", ["Subject: x", "List-Unsubscribe: <https://brief.example.com/unsubscribe/7.forged>"]
)
def test_a_complaint_without_a_signature_of_ours_is_not_believed(enclosed: str) -> None:
    assert read(complaint(enclosed)) == []


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"\x00\xff" * 500,
        b"Content-Type: message/delivery-status\n\n" + b"\n\n".join([b"Action: failed"] * 500),
        b'Content-Type: multipart/report; boundary="x"\n\n--x\nContent-Type: message/delivery-status\n\n',
        b"Content-Type: multipart/mixed; boundary=a\n\n" + b"--a\nContent-Type: multipart/mixed; boundary=a\n\n" * 300,
        b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(5000)),
        report(block(action=" ")),
        report("Action: \udcff\udcfe failed\nStatus: \u0000"),
    ],
)
def test_hostile_messages_are_nothing(source: bytes) -> None:
    assert [event for event in read(source) if event.kind is not EventKind.OTHER] == []


def test_the_longest_key_fits_into_a_local_part() -> None:
    longest = ReturnPath("b" * LONGEST_MAILBOX + "@example.com", LINKS).for_key("12345678901234567-20261202")
    assert len(longest.partition("@")[0]) == 64
    assert len(LINKS.bounce_token("12345678901234567-20261202")) == LONGEST_TOKEN


def test_a_token_is_for_its_purpose_only() -> None:
    with pytest.raises(BadTokenError):
        LINKS.read_bounce_token(LINKS.unsubscribe(7).rpartition("/")[2])
    with pytest.raises(BadTokenError):
        LINKS.read_unsubscribe(LINKS.bounce_token("7"))


def test_old_events_keep_their_date_within_a_month() -> None:
    date = (NOW - timedelta(days=29)).strftime("%a, %d %b %Y %H:%M:%S +0000")
    assert read(report(block(), date=date))[0].occurred_at == NOW - timedelta(days=29)
