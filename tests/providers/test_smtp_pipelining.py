"""PIPELINING (RFC 2920): fewer waits, the same outcomes."""

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime

import pytest

from digest.ports import Message, Recipient, Sender
from digest.providers.smtp import SmtpProvider
from tests.doubles.smtp import SmtpDouble

Readers = Callable[..., list[Recipient]]


@pytest.fixture(params=[True, False], ids=["pipelining", "step by step"])
def server(request: pytest.FixtureRequest) -> Iterator[SmtpDouble]:
    with SmtpDouble(pipelining=request.param) as double:
        yield double


def test_commands_go_in_groups_only_where_that_is_offered(
    server: SmtpDouble, sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    with closing(SmtpProvider(server.url, sender, timeout=5)) as provider:
        assert len(provider.hand_over(message, readers(3), now).accepted) == 3
    assert server.largest_group == (3 if server.pipelining else 1)


def test_refusals_at_every_step_settle_their_own_reader_only(
    server: SmtpDouble, sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    server.behaviour.recipients["reader1@example.org"] = "550 5.1.1 no such user"
    server.behaviour.recipients["reader2@example.org"] = "451 4.2.1 later"
    server.behaviour.messages["reader4@example.org"] = "554 5.6.0 no"
    server.behaviour.drop_after.add("reader6@example.org")
    server.behaviour.drop_before.add("reader8@example.org")
    with closing(SmtpProvider(server.url, sender, timeout=5)) as provider:
        given = provider.hand_over(message, readers(10), now)
    assert given.refused.keys() == {"1-20261202", "4-20261202"}
    assert given.unknown == {"6-20261202"}
    assert given.again == {"2-20261202", "8-20261202"}
    assert server.counts == {f"reader{number}@example.org": 1 for number in (0, 3, 5, 6, 7, 9)}


def test_a_connection_is_kept_for_the_next_hand_over_after_a_refusal(
    server: SmtpDouble, sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    server.behaviour.recipients["reader1@example.org"] = "550 5.1.1 no such user"
    with closing(SmtpProvider(server.url, sender, timeout=5)) as provider:
        provider.hand_over(message, readers(2), now)
        assert len(provider.hand_over(message, readers(1), now).accepted) == 1
    assert server.connections == 1


class _TakesAnyText(socketserver.StreamRequestHandler):
    """Says 354 though it refused the recipient, as RFC 2920 §3.1 warns of."""

    def handle(self) -> None:
        self.wfile.write(b"220 relay\r\n")
        refused = False
        while line := self.rfile.readline():
            command = line[:4].upper()
            if command == b"EHLO":
                self.wfile.write(b"250-relay\r\n250 PIPELINING\r\n")
            elif command == b"RCPT":
                refused = b"reader0" in line
                self.wfile.write(b"550 5.1.1 no such user\r\n" if refused else b"250 ok\r\n")
            elif command == b"DATA":
                self.wfile.write(b"354 go\r\n")
                text = b"".join(iter(self.rfile.readline, b".\r\n"))
                self.texts.append(text)
                self.wfile.write(b"554 5.5.1 no recipients\r\n" if refused else b"250 ok\r\n")
            else:
                self.wfile.write(b"250 ok\r\n")

    @property
    def texts(self) -> list[bytes]:
        assert isinstance(self.server, _Relay)
        return self.server.texts


class _Relay(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self) -> None:
        self.texts: list[bytes] = []
        super().__init__(("127.0.0.1", 0), _TakesAnyText)


def test_a_server_that_waits_for_the_text_of_a_refused_message_gets_an_empty_one(
    sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    with _Relay() as relay:
        thread = threading.Thread(target=relay.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        with closing(SmtpProvider(f"smtp://127.0.0.1:{relay.server_address[1]}", sender, timeout=5)) as provider:
            given = provider.hand_over(message, readers(3), now)
        relay.shutdown()
        thread.join(timeout=5)
    assert (given.refused.keys(), len(given.accepted)) == ({"0-20261202"}, 2)
    assert relay.texts[0] == b""
    assert all(text.startswith(b"To: ") for text in relay.texts[1:])
