import email.policy
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from digest.domain.delivery import DeliveryReason
from digest.domain.errors import BadInputError
from digest.ports import HandOver, Message, Recipient, Sender
from digest.providers.smtp import SmtpProvider
from tests.certificates import certificate_for
from tests.doubles.smtp import SmtpDouble, mute_server

Readers = Callable[..., list[Recipient]]
Given = Callable[[list[Recipient]], HandOver]


@pytest.fixture
def provider(smtp_server: SmtpDouble, sender: Sender) -> Iterator[SmtpProvider]:
    with closing(SmtpProvider(smtp_server.url, sender, timeout=5)) as found:
        yield found


@pytest.fixture
def give(provider: SmtpProvider, message: Message, now: datetime) -> Given:
    def hand_over(recipients: list[Recipient]) -> HandOver:
        given = provider.hand_over(message, recipients, now)
        groups = [given.accepted, given.refused.keys(), given.unknown, given.again]
        assert sorted(key for group in groups for key in group) == sorted(reader.key for reader in recipients)
        return given

    return hand_over


def test_every_reader_gets_one_message_of_their_own(smtp_server: SmtpDouble, give: Given, readers: Readers) -> None:
    given = give(readers(3))
    assert len(given.accepted) == 3
    assert smtp_server.connections == 1
    for number, taken in enumerate(smtp_server.taken):
        assert taken.envelope_from == "brief@example.com"
        assert taken.parsed["To"] == f"reader{number}@example.org"
        assert taken.parsed["List-Unsubscribe"] == f"<https://brief.example.com/unsubscribe/{number}.x>"
        assert taken.source.isascii()
        body = taken.parsed.get_body(("plain",))
        assert body is not None
        assert body.get_content() == f"早上好\r\n.\r\n退订：https://brief.example.com/unsubscribe/{number}.x\r\n"


def test_the_connection_is_kept_between_hand_overs(smtp_server: SmtpDouble, give: Given, readers: Readers) -> None:
    give(readers(2))
    give(readers(2))
    assert smtp_server.connections == 1


def test_a_connection_that_died_while_idle_costs_nothing(
    smtp_server: SmtpDouble, give: Given, readers: Readers
) -> None:
    smtp_server.behaviour.close_after = 2
    give(readers(2))
    assert len(give(readers(4)).accepted) == 4
    assert smtp_server.connections == 3


def test_a_connection_carries_no_more_messages_than_allowed(
    smtp_server: SmtpDouble, sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    with closing(SmtpProvider(smtp_server.url, sender, timeout=5, messages_per_connection=3)) as provider:
        given = provider.hand_over(message, readers(8), now)
    assert len(given.accepted) == 8
    assert (smtp_server.connections, smtp_server.largest_connection) == (3, 3)


def test_dup_09_a_relay_that_closes_after_every_hundred_gets_each_reader_exactly_once(
    smtp_server: SmtpDouble, sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    smtp_server.behaviour.close_after = 100
    with closing(SmtpProvider(smtp_server.url, sender, timeout=5, messages_per_connection=1000)) as provider:
        given = provider.hand_over(message, readers(250), now)
    assert len(given.accepted) == 250
    assert set(smtp_server.counts.values()) == {1}
    assert len(smtp_server.counts) == 250


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("550 5.1.1 no such user", DeliveryReason.INVALID_ADDRESS),
        ("550 Mailbox not found", DeliveryReason.INVALID_ADDRESS),
        ("552 5.2.2 mailbox full", DeliveryReason.REFUSED),
        ("550 5.7.1 message refused by policy", DeliveryReason.REFUSED),
    ],
)
def test_a_refused_reader_does_not_stop_the_batch(
    smtp_server: SmtpDouble, give: Given, readers: Readers, reply: str, reason: DeliveryReason
) -> None:
    smtp_server.behaviour.recipients["reader1@example.org"] = reply
    given = give(readers(4))
    assert len(given.accepted) == 3
    assert given.refused["1-20261202"].reason is reason
    assert given.refused["1-20261202"].detail == reply
    assert not given.alarm


@pytest.mark.parametrize(
    "reply", ["451 4.7.1 greylisted", "450 4.2.1 try later", "550 Domain frequency limited", "554 DT:SPM 163 smtp"]
)
def test_a_reader_put_off_is_tried_again_later_and_the_others_go_on(
    smtp_server: SmtpDouble, give: Given, readers: Readers, reply: str
) -> None:
    smtp_server.behaviour.recipients["reader0@example.org"] = reply
    smtp_server.behaviour.messages["reader2@example.org"] = reply
    given = give(readers(4))
    assert given.again == {"0-20261202", "2-20261202"}
    assert len(given.accepted) == 2


def test_a_message_refused_after_its_body_is_refused_for_that_reader_only(
    smtp_server: SmtpDouble, give: Given, readers: Readers
) -> None:
    smtp_server.behaviour.messages["reader0@example.org"] = "554 5.6.0 content refused"
    given = give(readers(2))
    assert given.refused["0-20261202"].reason is DeliveryReason.REFUSED
    assert given.accepted == {"1-20261202"}


def test_a_server_s_words_are_kept_without_the_address_in_them(
    smtp_server: SmtpDouble, give: Given, readers: Readers
) -> None:
    smtp_server.behaviour.recipients["reader0@example.org"] = "550 5.1.1 <reader0@example.org> no such user"
    assert give(readers(1)).refused["0-20261202"].detail == "550 5.1.1 <***> no such user"


def test_an_answer_lost_after_the_final_dot_is_unknown_and_never_given_again(
    smtp_server: SmtpDouble, give: Given, readers: Readers
) -> None:
    smtp_server.behaviour.drop_after.add("reader2@example.org")
    given = give(readers(5))
    assert given.unknown == {"2-20261202"}
    assert len(given.accepted) == 4
    assert set(smtp_server.counts.values()) == {1}


def test_silence_after_the_final_dot_is_unknown_and_leaves_the_rest_for_later(
    smtp_server: SmtpDouble, sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    smtp_server.behaviour.silent_at = "end"
    with closing(SmtpProvider(smtp_server.url, sender, timeout=0.3)) as provider:
        given = provider.hand_over(message, readers(3), now)
    assert given.unknown == {"0-20261202"}
    assert given.again == {"1-20261202", "2-20261202"}


def test_silence_before_the_final_dot_gives_nothing(
    smtp_server: SmtpDouble, sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    smtp_server.behaviour.silent_at = "rcpt"
    with closing(SmtpProvider(smtp_server.url, sender, timeout=0.3)) as provider:
        given = provider.hand_over(message, readers(3), now)
    assert len(given.again) == 3
    assert not smtp_server.taken


def test_one_reader_at_whom_the_server_hangs_up_does_not_starve_the_others(
    smtp_server: SmtpDouble, give: Given, readers: Readers
) -> None:
    smtp_server.behaviour.drop_before.add("reader0@example.org")
    given = give(readers(4))
    assert given.again == {"0-20261202"}
    assert len(given.accepted) == 3


def test_a_server_that_always_says_421_is_asked_a_bounded_number_of_times(
    smtp_server: SmtpDouble, give: Given, readers: Readers
) -> None:
    smtp_server.behaviour.close_after = 0
    assert len(give(readers(20)).again) == 20
    assert smtp_server.connections <= 3


def test_a_refused_connection_leaves_everyone_for_later(
    closed_port: int, sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    given = SmtpProvider(f"smtp://127.0.0.1:{closed_port}", sender, timeout=5).hand_over(message, readers(3), now)
    assert len(given.again) == 3
    assert not given.alarm


def test_prv_13_a_mute_server_is_given_up_within_the_time_limit(
    sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    with mute_server() as port:
        given = SmtpProvider(f"smtp://127.0.0.1:{port}", sender, timeout=0.3).hand_over(message, readers(20), now)
    assert len(given.again) == 20


def test_sgn_13_an_address_beyond_ascii_is_refused_and_the_fifty_others_go(
    smtp_server: SmtpDouble, give: Given, readers: Readers
) -> None:
    given = give(readers(50, "用户@xn--fsqu00a.xn--55qw42g"))
    assert given.refused["50-20261202"].reason is DeliveryReason.INVALID_ADDRESS
    assert len(given.accepted) == len(smtp_server.taken) == 50


def test_a_relay_that_offers_smtputf8_gets_the_address_as_it_is(
    sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    with SmtpDouble(smtputf8=True) as server, closing(SmtpProvider(server.url, sender, timeout=5)) as provider:
        given = provider.hand_over(message, readers(1, "用户@example.org"), now)
    assert len(given.accepted) == 2
    assert server.counts["用户@example.org"] == 1
    assert "To: 用户@example.org\r\n".encode() in server.taken[1].source


@pytest.mark.parametrize(
    "address", ["broken@", "a@example.com,b@example.com", "a@example.com\r\nRCPT TO:<b@example.com>"]
)
def test_an_address_no_server_takes_is_refused_without_asking(
    smtp_server: SmtpDouble, give: Given, readers: Readers, address: str
) -> None:
    given = give(readers(1, address))
    assert given.refused["1-20261202"].reason is DeliveryReason.INVALID_ADDRESS
    assert "example.com" not in given.refused["1-20261202"].detail
    assert smtp_server.counts == {"reader0@example.org": 1}


@pytest.mark.parametrize("reply", ["530 5.7.0 log in first", "554 5.7.1 relay access denied"])
def test_a_server_that_does_not_let_us_send_is_an_alarm_and_fails_no_reader(
    smtp_server: SmtpDouble, give: Given, readers: Readers, reply: str
) -> None:
    smtp_server.behaviour.recipients["reader0@example.org"] = reply
    given = give(readers(3))
    assert reply in given.alarm
    assert len(given.again) == 3


def test_a_refused_sender_is_an_alarm(smtp_server: SmtpDouble, give: Given, readers: Readers) -> None:
    smtp_server.behaviour.senders = ["553 5.7.1 sender not owned by user"]
    given = give(readers(3))
    assert "553" in given.alarm
    assert len(given.again) == 3


def test_a_sender_put_off_once_goes_over_another_connection(
    smtp_server: SmtpDouble, give: Given, readers: Readers
) -> None:
    smtp_server.behaviour.senders = ["450 MI:DMC too many messages in this connection"]
    assert len(give(readers(3)).accepted) == 3
    assert smtp_server.connections == 2


def test_the_password_in_the_url_logs_in(sender: Sender, message: Message, readers: Readers, now: datetime) -> None:
    with SmtpDouble(password="horse") as server, closing(SmtpProvider(server.url, sender, timeout=5)) as provider:
        assert len(provider.hand_over(message, readers(1), now).accepted) == 1


def test_a_wrong_password_is_an_alarm_that_does_not_tell_it(
    sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    with SmtpDouble(password="horse") as server:
        provider = SmtpProvider(f"smtp://relay:battery@localhost:{server.port}", sender, timeout=5)
        given = provider.hand_over(message, readers(2), now)
    assert "535" in given.alarm
    assert "battery" not in given.alarm + repr(provider) + repr(vars(provider))
    assert len(given.again) == 2


@pytest.mark.parametrize("url", ["http://localhost", "smtp://", "smtp://localhost:x", "smtp://u:密码@localhost"])
def test_a_url_that_cannot_work_is_refused_without_being_repeated(url: str, sender: Sender) -> None:
    with pytest.raises(BadInputError) as caught:
        SmtpProvider(url, sender)
    assert "localhost" not in str(caught.value)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate for ``localhost`` in one file."""
    place = tmp_path_factory.mktemp("tls") / "server.pem"
    return certificate_for("localhost", place, datetime.now(UTC) + timedelta(days=1))


def tls_server(certificate: Path, *, tls_first: bool = False) -> SmtpDouble:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return SmtpDouble(tls=context, tls_first=tls_first)


@pytest.mark.parametrize("tls_first", [False, True], ids=["STARTTLS", "smtps"])
def test_tls_is_spoken_where_it_is_offered_or_from_the_first_byte(
    certificate: Path,
    sender: Sender,
    message: Message,
    readers: Readers,
    now: datetime,
    monkeypatch: pytest.MonkeyPatch,
    *,
    tls_first: bool,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server = tls_server(certificate, tls_first=tls_first)
    with server, closing(SmtpProvider(server.url, sender, timeout=5)) as provider:
        assert len(provider.hand_over(message, readers(1), now).accepted) == 1
    assert server.secured == [not tls_first]  # aiosmtpd only counts what STARTTLS secured
    assert len(server.taken) == 1


@pytest.mark.parametrize("tls_first", [False, True], ids=["STARTTLS", "smtps"])
def test_a_certificate_nobody_vouches_for_is_an_alarm_and_nothing_is_sent(
    certificate: Path, sender: Sender, message: Message, readers: Readers, now: datetime, *, tls_first: bool
) -> None:
    with tls_server(certificate, tls_first=tls_first) as server:
        given = SmtpProvider(server.url, sender, timeout=5).hand_over(message, readers(2), now)
    assert "certificate" in given.alarm.lower()
    assert len(given.again) == 2
    assert not server.taken


def test_threads_share_a_provider_and_never_a_connection(
    smtp_server: SmtpDouble, provider: SmtpProvider, message: Message, readers: Readers, now: datetime
) -> None:
    everyone, start = readers(120), threading.Barrier(4)

    def work(part: int) -> HandOver:
        start.wait(timeout=10)
        return provider.hand_over(message, everyone[part::4], now)

    with ThreadPoolExecutor(4) as pool:
        given = list(pool.map(work, range(4)))
    assert sum(len(one.accepted) for one in given) == 120
    assert set(smtp_server.counts.values()) == {1}


def test_rnd_11_and_rnd_19_hold_for_the_bytes_that_reach_the_server(
    smtp_server: SmtpDouble, message: Message, readers: Readers, now: datetime
) -> None:
    sender = Sender("晨报, Inc. (Daily)", "brief@example.com", "brief.example.com", "晨报")
    with closing(SmtpProvider(smtp_server.url, sender, timeout=5)) as provider:
        provider.hand_over(message, readers(1), now)
    (taken,) = smtp_server.taken
    (mailbox,) = email.message_from_bytes(taken.source, policy=email.policy.SMTP)["From"].addresses
    assert (mailbox.display_name, mailbox.addr_spec) == ("晨报, Inc. (Daily)", taken.envelope_from)
    html = taken.parsed.get_body(("html",))
    assert html is not None
    assert html.get_payload(decode=True) == (
        "<p>早上好</p>\n.<a href='https://brief.example.com/unsubscribe/0.x'>退订</a>".encode()
    )
