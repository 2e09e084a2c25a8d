"""Signatures are checked by another library, against a DNS that only this test knows."""

import email.policy
from base64 import b64encode
from collections.abc import Callable
from contextlib import closing
from datetime import datetime

import dkim
import mailparser
import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from digest.domain.errors import BadInputError
from digest.ports import Message, Recipient, Sender
from digest.providers.dkim import Signer
from digest.providers.smtp import SmtpProvider
from tests.doubles.smtp import SmtpDouble

Readers = Callable[..., list[Recipient]]
Key = rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey


def pem(key: Key) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@pytest.fixture
def verified(key: rsa.RSAPrivateKey) -> Callable[[bytes], bool]:
    public = b64encode(key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))

    def resolve(name: bytes, timeout: int = 5) -> bytes:  # noqa: ARG001 # dkimpy's signature
        assert name == b"s1._domainkey.example.com."
        return b"v=DKIM1; k=rsa; p=" + public

    return lambda source: bool(dkim.verify(source, dnsfunc=resolve))


@pytest.fixture
def taken(
    key: rsa.RSAPrivateKey, smtp_server: SmtpDouble, message: Message, readers: Readers, now: datetime
) -> list[bytes]:
    """Two messages as they reached the server, signed."""
    sender = Sender("晨报, Inc. (Daily)", "brief@example.com", "brief.example.com", "晨报")
    sign = Signer("example.com", "s1", pem(key))
    with closing(SmtpProvider(smtp_server.url, sender, timeout=5, sign=sign)) as provider:
        provider.hand_over(message, readers(2), now)
    return [one.source for one in smtp_server.taken]


def test_what_reaches_the_server_verifies(taken: list[bytes], verified: Callable[[bytes], bool]) -> None:
    assert [verified(source) for source in taken] == [True, True]


def test_uns_07_both_unsubscribe_headers_are_covered_and_none_can_be_added(
    taken: list[bytes], verified: Callable[[bytes], bool]
) -> None:
    tags = email.message_from_bytes(taken[0])["DKIM-Signature"].replace("\r\n ", "")
    covered = tags.partition("h=")[2].partition(";")[0].split(":")
    assert {"list-unsubscribe", "list-unsubscribe-post", "list-id", "message-id", "date", "content-type"} <= set(
        covered
    )
    for name in ("from", "to", "subject", "list-unsubscribe", "list-unsubscribe-post"):
        assert covered.count(name) == 2
    assert not verified(b"List-Unsubscribe: <https://evil.example/>\r\n" + taken[0])
    assert not verified(b"Subject: other\r\n" + taken[0])


def test_a_changed_body_or_header_does_not_verify(taken: list[bytes], verified: Callable[[bytes], bool]) -> None:
    assert not verified(taken[0].replace(b"0.x", b"1.x", 1))
    assert not verified(taken[0][:-10] + b"AAAA" + taken[0][-6:])


def test_every_line_of_a_signed_message_is_short_and_7_bit(taken: list[bytes]) -> None:
    for source in taken:
        assert source.isascii()
        assert source.endswith(b"\r\n")
        assert b"\n" not in source.replace(b"\r\n", b"")
        assert max(len(line) for line in source.split(b"\r\n")) <= 100


def test_rnd_19_another_library_reads_the_same_message(taken: list[bytes]) -> None:
    found = mailparser.parse_from_bytes(taken[1])
    assert found.from_ == [("晨报, Inc. (Daily)", "brief@example.com")]
    assert found.subject == "每日简报：利率与芯片"
    assert found.headers["List-Unsubscribe"] == "<https://brief.example.com/unsubscribe/1.x>"
    assert found.headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert "早上好" in found.text_plain[0]
    assert "退订" in found.text_html[0]
    assert not found.has_defects


def test_the_bytes_alone_hold_one_plain_unsubscribe_header(taken: list[bytes]) -> None:
    """Read without any parser of mail, as a careless client does."""
    for number, source in enumerate(taken):
        head = source.split(b"\r\n\r\n")[0].split(b"\r\n")
        lines = [line for line in head if line.lower().startswith(b"list-unsubscribe:")]
        assert lines == [b"List-Unsubscribe: <https://brief.example.com/unsubscribe/%d.x>" % number]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no key",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        pem(ed25519.Ed25519PrivateKey.generate()),
    ],
)
def test_a_key_that_cannot_sign_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(BadInputError) as caught:
        Signer("example.com", "s1", text)
    assert "DIGEST_DKIM_KEY" in str(caught.value)
    assert "BEGIN" not in str(caught.value)


def test_a_key_with_written_line_breaks_is_read(key: rsa.RSAPrivateKey) -> None:
    assert Signer("example.com", "s1", pem(key).replace("\n", "\\n"))(b"From: a@example.com\r\n\r\nx\r\n")
