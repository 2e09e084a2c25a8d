import email
import re
from datetime import UTC, datetime
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import getaddresses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.domain.language import Language
from digest.links import Links
from digest.ports import Message, Recipient, Sender
from digest.rendering.mime import Encoded, clean, named, unstructured

NOW = datetime(2026, 12, 2, 0, 0, 5, tzinfo=UTC)
SENDER = Sender("每日简报", "brief@example.com", "brief.example.com", "The Daily Brief 每日简报")
URL = "https://brief.example.com/daily/unsubscribe/12345.wM0m2zH3Q0vBqk0o0W6nqv2h3Jm5nJ0v0m2zH3Q0vBqk"
TEXT = st.text(st.characters(codec="utf-8"), max_size=300)


def message(**changes: object) -> Message:
    fields: dict[str, object] = {
        "key": "brief-12",
        "kind": "brief",
        "language": Language.CHINESE,
        "subject": "每日简报：利率与芯片",
        "html": "<p>早上好</p><a href='@@url@@'>退订</a>",
        "text": "早上好\n退订：@@url@@\n",
        "slots": {"unsubscribe_url": "@@url@@"},
    }
    return Message(**(fields | changes))  # type: ignore[arg-type]  # fields are checked by the tests themselves


def recipient(**changes: object) -> Recipient:
    fields: dict[str, object] = {
        "key": "7-20261202",
        "address": "reader@example.org",
        "values": {"unsubscribe_url": URL},
        "unsubscribe_url": URL,
    }
    return Recipient(**(fields | changes))  # type: ignore[arg-type]  # likewise


def parsed(source: bytes) -> EmailMessage:
    return email.message_from_bytes(source, policy=SMTP)


def part(source: bytes, kind: str) -> bytes:
    found = [part for part in parsed(source).walk() if part.get_content_type() == kind]
    assert len(found) == 1
    content = found[0].get_payload(decode=True)
    assert isinstance(content, bytes)
    return content


def raw_header(source: bytes, name: str) -> str:
    found = re.search(
        rf"^{name}:(.*(?:\r\n[ \t].*)*)\r\n", source.split(b"\r\n\r\n")[0].decode() + "\r\n", re.MULTILINE
    )
    assert found
    return found[1].strip()


def unfolded(header: str) -> str:
    return header.replace("\r\n", "")


def decoded(header: str) -> str:
    return str(make_header(decode_header(unfolded(header))))


def mailboxes(header: str) -> list[tuple[str, str]]:
    """RFC 5322 first, RFC 2047 after: CPython 3.11's own header parser puts a space between two encoded words."""
    return [(decoded(name), address) for name, address in getaddresses([unfolded(header)])]


def mail(sender: Sender = SENDER, reader: Recipient | None = None, **changes: object) -> bytes:
    return Encoded(message(**changes), sender).for_recipient(reader or recipient(), NOW)


@given(
    pieces=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="@"), max_size=90), min_size=1, max_size=7),
    slots=st.lists(st.integers(0, 2), min_size=6, max_size=6),
    values=st.lists(TEXT, min_size=3, max_size=3),
)
def test_spliced_bytes_decode_to_exactly_the_substituted_html(
    pieces: list[str], slots: list[int], values: list[str]
) -> None:
    markers = {f"s{number}": f"@@{number}@@" for number in range(3)}
    html = pieces[0] + "".join(f"@@{slot}@@{piece}" for slot, piece in zip(slots, pieces[1:], strict=False))
    want = pieces[0] + "".join(values[slot] + piece for slot, piece in zip(slots, pieces[1:], strict=False))
    reader = recipient(values={f"s{number}": value for number, value in enumerate(values)})
    source = mail(reader=reader, html=html, text=html, slots=markers)
    assert part(source, "text/html") == want.encode()
    assert source.isascii()
    assert max(map(len, source.split(b"\r\n\r\n", 1)[1].split(b"\r\n"))) <= 78


@given(text=TEXT, value=st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=50))
def test_spliced_bytes_decode_to_exactly_the_substituted_text_with_line_breaks_as_crlf(text: str, value: str) -> None:
    source = mail(
        reader=recipient(values={"name": value}), text=f"{text}\u0001MARK\u0001!", slots={"name": "\u0001MARK\u0001"}
    )
    want = re.sub(r"\r\n|\r|\n", "\r\n", text) + value + "!"
    assert part(source, "text/plain") == want.encode()


def test_every_reader_gets_only_their_own_values() -> None:
    encoded = Encoded(message(), SENDER)
    other = recipient(
        key="8-20261202", address="other@example.org", values={"unsubscribe_url": "https://example.com/u/8"}
    )
    first, second = encoded.for_recipient(recipient(), NOW), encoded.for_recipient(other, NOW)
    assert f"退订：{URL}\r\n".encode() in part(first, "text/plain")
    assert "退订：https://example.com/u/8\r\n".encode() in part(second, "text/plain")
    assert b"8-20261202" not in first
    assert b"reader@example.org" not in second


@given(subject=TEXT)
def test_any_subject_decodes_to_exactly_itself(subject: str) -> None:
    header = unstructured("Subject", subject)
    name, _, value = header.partition(":")
    assert name == "Subject"
    assert decoded(value.strip()) == clean(subject)
    assert max(map(len, header.split("\r\n"))) <= 78
    assert not re.search(r"\r(?!\n)|(?<!\r)\n|\r\n(?! )", header)


@given(words=st.lists(st.text("abc é每-–", min_size=1, max_size=14), min_size=1, max_size=30))
def test_any_mix_of_latin_and_han_survives_folding(words: list[str]) -> None:
    subject = clean(" ".join(words))
    raw = unstructured("Subject", subject).removeprefix("Subject: ")
    assert decoded(raw) == subject
    assert not re.search(r"\?q\?\?=|\?b\?\?=|\?==\?", raw, re.IGNORECASE)


@pytest.mark.parametrize(
    "subject",
    [
        "Markets and ports and every other story worth reading 每日晨报：六月十日",
        "Rain over the delta plus every other story worth your time 每日晨报",
        "Rates and Ports and Chips and Floods – 10 June – résumé of the day",
        "A plain subject that is so long that it has to be folded once, at a space, and stays readable",
        "=?utf-8?q?not_ours?= but somebody's joke",
        "Two  spaces that folding would lose " * 3,
        "每日简报🗞️：利率与芯片" * 12,
        "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2,
        "x" * 200,
    ],
)
def test_rnd_09_a_subject_decodes_to_exactly_the_input(subject: str) -> None:
    source = mail(subject=subject)
    raw = raw_header(source, "Subject")
    assert not re.search(r"\?q\?\?=|\?b\?\?=|\?==\?", raw, re.IGNORECASE)
    assert decoded(raw) == clean(subject)
    assert str(parsed(source)["Subject"]) == clean(subject)
    assert all(len(line) <= 78 for line in raw.split("\r\n"))


def test_an_english_subject_stays_readable_in_the_source() -> None:
    assert raw_header(mail(subject="Rates hold; chips fall"), "Subject") == "Rates hold; chips fall"


def test_rnd_11_no_line_is_over_76_octets_and_the_html_is_byte_identical() -> None:
    link = "https://example.com/" + "a" * 1480
    html = f"<p>{'摘要' * 3000}</p><a href='{link}'>{'x' * 6000}</a>@@url@@"
    source = mail(html=html)
    assert part(source, "text/html") == html.replace("@@url@@", URL).encode()
    body = source.split(b"\r\n\r\n", 1)[1]
    assert max(map(len, body.split(b"\r\n"))) <= 76


def test_rnd_17_plain_text_comes_before_html_and_both_are_utf_8() -> None:
    found = parsed(mail())
    assert found.get_content_type() == "multipart/alternative"
    assert [p.get_content_type() for p in found.iter_parts()] == ["text/plain", "text/html"]
    assert [p.get_content_charset() for p in found.iter_parts()] == ["utf-8", "utf-8"]
    assert not found.defects
    assert all(not p.defects and URL in p.get_content() for p in found.iter_parts())


@pytest.mark.parametrize(
    "name",
    [
        "晨报, Inc. (Daily)",
        "Brief, Daily",
        '"Quoted" <x>',
        "早报：每日",
        "A back\\slash and a @ sign; all: of [them]",
        "=?utf-8?q?disguised?=",
        "The Daily Brief of everything that happened overnight, for people who read at breakfast",
        "每日简报" * 20,
    ],
)
def test_rnd_19_from_is_exactly_one_mailbox_whatever_its_name(name: str) -> None:
    source = mail(sender=Sender(name, "brief@example.com", "brief.example.com", name))
    (mailbox,) = parsed(source)["From"].addresses
    assert mailbox.addr_spec == "brief@example.com"
    assert mailboxes(raw_header(source, "From")) == [(name, "brief@example.com")]
    assert all(len(line) <= 78 for line in raw_header(source, "From").split("\r\n"))


@pytest.mark.parametrize("name", ["晨报, Inc. (Daily)", "Brief, Daily", '"Quoted" <x>', "早报：每日"])
def test_rnd_19_a_second_parser_reads_the_same_name(name: str) -> None:
    source = mail(sender=Sender(name, "brief@example.com", "brief.example.com", name))
    assert [(a.display_name, a.addr_spec) for a in parsed(source)["From"].addresses] == [(name, "brief@example.com")]


@given(name=TEXT)
def test_any_display_name_leaves_one_address_and_decodes_to_itself(name: str) -> None:
    header = named("From", name, "brief@example.com")
    found = email.message_from_bytes((header + "\r\n\r\n").encode("ascii"), policy=SMTP)
    (mailbox,) = found["From"].addresses
    assert mailbox.addr_spec == "brief@example.com"
    assert mailboxes(header.removeprefix("From:")) == [(clean(name), "brief@example.com")]
    assert list(found.keys()) == ["From"]


def test_a_sender_without_a_name_is_a_bare_address() -> None:
    source = mail(sender=Sender("", "brief@example.com", "brief.example.com", ""))
    assert raw_header(source, "From") == "<brief@example.com>"
    assert raw_header(source, "List-Id") == "<brief.example.com>"


def test_list_unsubscribe_is_one_plain_bracketed_address_on_one_line() -> None:
    source = mail()
    assert f"\r\nList-Unsubscribe: <{URL}>\r\n".encode() in source
    assert b"\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n" in source
    assert source.count(b"List-Unsubscribe:") == 1


def test_uns_05_behind_a_path_prefix_the_header_holds_one_absolute_address() -> None:
    """The links are made in a worker, where no request tells the host."""
    url = Links("https://brief.example.com/daily", ["a-test-key-of-enough-length"]).unsubscribe(7)
    one = recipient(values={"unsubscribe_url": url}, unsubscribe_url=url)
    source = Encoded(message(), SENDER).for_recipient(one, NOW)
    (line,) = [line for line in source.split(b"\r\n") if line.lower().startswith(b"list-unsubscribe:")]
    assert line == f"List-Unsubscribe: <{url}>".encode()
    assert url.startswith("https://brief.example.com/daily/unsubscribe/7.")
    assert url.encode() in part(source, "text/plain")
    assert url.encode() in part(source, "text/html")
