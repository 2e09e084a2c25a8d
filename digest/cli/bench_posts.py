"""The least that anybody must do to give a list to SendGrid: personalizations from memory, posted.

No database, no ledger, no signing, and no look at the answers but for their status: the baseline of a benchmark, as a
process of its own. One JSON line on standard input says what to post; ``ready`` comes back; any further line starts it;
``done`` and the CPU seconds end it.
"""

import json
import sys
import time as stopwatch
from collections.abc import Iterator
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Any

import orjson

MOST = 1000


def main() -> None:
    """Post what standard input says, when it says so."""
    task = json.loads(sys.stdin.buffer.readline())
    readers = [(number, f"reader{number}@example.com") for number in range(*task["readers"])]
    bodies = list(_bodies(task, readers)) if task["beforehand"] else []
    connection = HTTPConnection("127.0.0.1", task["port"])
    connection.connect()
    _say("ready")
    sys.stdin.buffer.readline()
    began = stopwatch.process_time()
    for body in bodies or _bodies(task, readers):
        _post(connection, body, task["key"])
    _say(f"done {stopwatch.process_time() - began}")


def _bodies(task: dict[str, Any], readers: list[tuple[int, str]]) -> Iterator[bytes]:
    mail = task["mail"]
    for start in range(0, len(readers), MOST):
        mail["personalizations"] = [_own(task, *reader) for reader in readers[start : start + MOST]]
        yield orjson.dumps(mail)


def _own(task: dict[str, Any], number: int, address: str) -> dict[str, Any]:
    """The same as the engine's, but that the signature in its addresses is the same for all."""
    leave, settings = (f"{task['base_url']}/{page}/{number}.{task['signature']}" for page in task["pages"])
    tags = task["tags"]
    return {
        "to": [{"email": address}],
        "custom_args": {"dg_recipient": f"{number}-20261203"},
        "substitutions": {tags[0]: leave, tags[1]: settings, tags[2]: task["on"]},
        "headers": {"List-Unsubscribe": f"<{leave}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
    }


def _post(connection: HTTPConnection, body: bytes, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection.request("POST", "/v3/mail/send", body, headers)
    answer = connection.getresponse()
    answer.read()
    if answer.status != HTTPStatus.ACCEPTED:
        sys.exit(f"the double answered {answer.status}")


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
