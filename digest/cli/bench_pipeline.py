"""The least that anybody must do to give messages to a mail server: finished bytes on a plain socket, pipelined.

The baseline of a benchmark, as a process of its own with one connection. One JSON line on standard input says what to
send; ``ready`` comes back; any further line starts it; ``done`` and the CPU seconds end it.
"""

import json
import socket
import sys
import time as stopwatch
from itertools import cycle, islice
from pathlib import Path
from typing import Any

ANSWERS_TO_COMMANDS = 3


def main() -> None:
    """Send what standard input says, when it says so."""
    task = json.loads(sys.stdin.buffer.readline())
    mails = [_mail(**mail) for mail in json.loads(Path(task["file"]).read_bytes())]
    connection = socket.create_connection(("127.0.0.1", task["port"]))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    answers = connection.makefile("rb")
    answers.readline()
    connection.sendall(b"EHLO bench.example.com\r\n")
    while answers.readline()[3:4] == b"-":
        pass
    _say("ready")
    sys.stdin.buffer.readline()
    began = stopwatch.process_time()
    _send(connection, answers, list(islice(cycle(mails), task["messages"])))
    _say(f"done {stopwatch.process_time() - began}")


def _mail(sender: str, recipient: str, text: str) -> tuple[bytes, bytes]:
    commands = f"MAIL FROM:<{sender}>\r\nRCPT TO:<{recipient}>\r\nDATA\r\n".encode()
    return commands, text.replace("\r\n.", "\r\n..").encode("ascii") + b".\r\n"


def _send(connection: socket.socket, answers: Any, mails: list[tuple[bytes, bytes]]) -> None:  # noqa: ANN401 - a file
    """The commands of the next message go with the text of this one, as the engine does it (RFC 2920 §3.1)."""
    connection.sendall(mails[0][0])
    for (_, text), following in zip(mails, [*(commands for commands, _ in mails[1:]), b""], strict=True):
        _expect(answers, ANSWERS_TO_COMMANDS)
        connection.sendall(text + following)
        _expect(answers, 1)


def _expect(answers: Any, number: int) -> None:  # noqa: ANN401 - a file
    for _ in range(number):
        if (answer := answers.readline())[:1] not in {b"2", b"3"}:
            sys.exit(f"the server answered {answer!r}")


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
