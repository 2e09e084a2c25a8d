import pytest

from digest.domain.delivery import DeliveryReason
from digest.providers.answers import Fault, fault_of, is_about_us, refusal_of, status_in, without_addresses
from digest.providers.mailbox_syntax import mailbox_fault, needs_smtputf8


@pytest.mark.parametrize("status", ["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1", "5.4.4"])
def test_a_dead_mailbox_is_an_invalid_address(status: str) -> None:
    refusal = refusal_of(550, f"{status} sorry")
    assert refusal is not None
    assert refusal.reason is DeliveryReason.INVALID_ADDRESS


@pytest.mark.parametrize(
    "status", ["5.2.2", "5.2.3", "5.3.4", "5.4.7", "5.3.0", "5.7.1", "5.7.26", "5.7.515", "5.6.0", "5.0.0"]
)
def test_what_says_nothing_about_the_reader_is_refused_without_blaming_the_address(status: str) -> None:
    refusal = refusal_of(550, f"{status} sorry")
    assert refusal is not None
    assert refusal.reason is DeliveryReason.REFUSED


@pytest.mark.parametrize("code", [421, 450, 451, 452])
@pytest.mark.parametrize("words", ["4.2.1 busy", "5.1.1 a status that contradicts its code", "try later"])
def test_every_4xx_may_be_tried_again(code: int, words: str) -> None:
    assert refusal_of(code, words) is None


@pytest.mark.parametrize(
    "words",
    [
        "Sender frequency limited",
        "Domain frequency limited. http://service.example/help",
        "Ip frequency limited",
        "Connection frequency limited",
        "Mailbox unavailable or access denied",
        "DT:SPM 163 smtp8,content looks like spam",
    ],
)
def test_a_550_that_means_too_fast_may_be_tried_again(words: str) -> None:
    assert refusal_of(550, words) is None
    assert fault_of("5.1.1", words) is Fault.THROTTLED


@pytest.mark.parametrize(
    "words", ["Mailbox not found. http://service.example/help", "No such user here", "user unknown"]
)
def test_a_550_without_a_status_is_read_by_its_words(words: str) -> None:
    refusal = refusal_of(550, words)
    assert refusal is not None
    assert refusal.reason is DeliveryReason.INVALID_ADDRESS


def test_a_550_that_says_nothing_blames_nobody() -> None:
    refusal = refusal_of(550, "Requested action not taken")
    assert refusal is not None
    assert refusal.reason is DeliveryReason.REFUSED


@pytest.mark.parametrize("code", [501, 551, 553, 555])
def test_a_reply_about_the_address_itself_is_an_invalid_address(code: int) -> None:
    refusal = refusal_of(code, "no")
    assert refusal is not None
    assert refusal.reason is DeliveryReason.INVALID_ADDRESS


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("550 5.1.1 no such user", "5.1.1"),
        ("5.7.1.", "5.7.1"),
        ("host 5.6.7.8 said no", ""),
        ("4.7.515 later", "4.7.515"),
        ("none", ""),
    ],
)
def test_a_status_is_found_and_an_ip_address_is_none(text: str, status: str) -> None:
    assert status_in(text) == status


@pytest.mark.parametrize(
    ("code", "words", "expected"),
    [
        (530, "5.7.0 must log in", True),
        (554, "5.7.1 <x>: Relay access denied", True),
        (550, "relaying denied", True),
        (550, "5.1.1 unknown", False),
        (451, "relay denied for now", False),
    ],
)
def test_being_let_in_at_all_is_told_apart_from_one_reader(code: int, words: str, *, expected: bool) -> None:
    assert is_about_us(code, words) is expected


def test_no_address_or_control_survives_in_kept_words() -> None:
    kept = without_addresses(
        "550 <reader@example.org>:\r\n 用户@example.org (mailto:a.b+c@example.com) is\x00 gone" + "x" * 500
    )
    assert "@" not in kept
    assert kept.isprintable()
    assert len(kept) == 200


@pytest.mark.parametrize(
    "address",
    ["reader@example.com", "a.b+c@example.co.uk", "o'hara@xn--fsqu00a.example", "x@localhost", "用户@example.org"],
)
def test_addresses_people_have_can_be_sent_to(address: str) -> None:
    assert mailbox_fault(address) == ""
    assert needs_smtputf8(address) is not address.isascii()


@pytest.mark.parametrize(
    "address",
    [
        "",
        "broken@",
        "@example.com",
        "reader",
        "a b@example.com",
        '"a b"@example.com',
        "a..b@example.com",
        ".a@example.com",
        "a@example..com",
        "a@-example.com",
        "a@[192.0.2.1]",
        "a@例子.example",
        "a@example.com\r\nRCPT TO:<b@example.com>",
        "a@example.com\n",
        "a,b@example.com",
        "<a@example.com>",
        "a\u200b@example.com",
        "a\u202e@example.com",
        "x" * 65 + "@example.com",
        "a@" + "x." * 127 + "example",
    ],
)
def test_addresses_nobody_can_have_are_told_without_being_named(address: str) -> None:
    fault = mailbox_fault(address)
    assert fault
    assert "example" not in fault
