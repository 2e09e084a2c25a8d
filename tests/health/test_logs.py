"""Log lines are objects, and none of them holds an address or a token, whoever wrote it."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from digest.logs import configure_logs

ADDRESS = "reader.name+tag@mail.example.com"
TOKEN = "eyJzIjoxfQ.signature-of-it"


@pytest.fixture(autouse=True)
def _configuration() -> Iterator[None]:
    before, root = structlog.get_config(), logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    structlog.configure(**before)
    root.handlers[:], root.level = handlers, level


def write_everything() -> None:
    log = structlog.get_logger()
    log.info("event", words=f"550 <{ADDRESS}> unknown", nested={"to": [ADDRESS, 7]}, at=None)
    log.debug("not_wanted")
    library = logging.getLogger("some.library")
    library.info("not wanted either")
    library.warning("GET /unsubscribe/%s from %s", TOKEN, ADDRESS)
    try:
        int(ADDRESS)
    except ValueError:
        log.exception("failed", statement="SELECT 1")
        library.exception("failed for %s", ADDRESS)


def test_every_line_is_a_json_object_without_addresses_and_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(json=True)
    write_everything()
    out, err = capsys.readouterr()
    lines = [json.loads(line) for line in err.splitlines()]
    assert out == ""
    assert [line["level"] for line in lines] == ["info", "warning", "error", "error"]
    assert lines[0]["words"] == "550 <r***@mail.example.com> unknown"
    assert lines[0]["nested"] == {"to": ["r***@mail.example.com", 7]}
    assert (lines[1]["logger"], lines[1]["event"]) == (
        "some.library",
        "GET /unsubscribe/… from r***@mail.example.com",
    )
    assert all("r***@mail.example.com" in line["exception"] for line in lines[2:])
    assert "reader.name" not in err
    assert TOKEN not in err


def test_lines_for_people_are_masked_too(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(json=False, level="WARNING")
    write_everything()
    err = capsys.readouterr().err
    assert "event" not in err.splitlines()[0]
    assert "r***@mail.example.com" in err
    assert "reader.name" not in err
