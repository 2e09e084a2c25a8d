"""A message, its sender and its readers, as the steps would hand them over."""

import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from digest.domain.language import Language
from digest.ports import Message, Recipient, Sender
from tests.doubles.smtp import SmtpDouble

Readers = Callable[..., list[Recipient]]


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 12, 2, 0, 0, 5, tzinfo=UTC)


@pytest.fixture
def sender() -> Sender:
    return Sender("每日简报", "brief@example.com", "brief.example.com", "The Daily Brief")


@pytest.fixture
def message() -> Message:
    return Message(
        key="brief-12",
        kind="brief",
        language=Language.CHINESE,
        subject="每日简报：利率与芯片",
        html="<p>早上好</p>\n.<a href='@@u7k2@@'>退订</a>",
        text="早上好\n.\n退订：@@u7k2@@\n",
        slots={"unsubscribe_url": "@@u7k2@@"},
    )


@pytest.fixture
def readers() -> Readers:
    def make(count: int = 0, *addresses: str) -> list[Recipient]:
        everyone = [f"reader{number}@example.org" for number in range(count)] + list(addresses)
        urls = [f"https://brief.example.com/unsubscribe/{number}.x" for number in range(len(everyone))]
        return [
            Recipient(f"{number}-20261202", address, {"unsubscribe_url": url}, url)
            for number, (address, url) in enumerate(zip(everyone, urls, strict=True))
        ]

    return make


@pytest.fixture
def smtp_server() -> Iterator[SmtpDouble]:
    with SmtpDouble() as double:
        yield double


@pytest.fixture
def closed_port() -> int:
    """A port where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
