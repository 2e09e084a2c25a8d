"""Work beside this process: the same results, the same errors."""

import os
import signal
from functools import partial

import pytest

from digest.domain.errors import BadInputError
from digest.ports import Fetched
from digest.sources.parse import parse_feed
from digest.sources.side_processes import SideProcesses
from tests.sources.conftest import CASES, SEEN_AT


def reading(name: str) -> partial[object]:
    document = Fetched("https://site.example/feed", (CASES / name).read_bytes(), "text/xml")
    return partial(parse_feed, document, source="Test", language=None, topics=["city"], seen_at=SEEN_AT)


def test_a_feed_read_beside_this_process_is_the_same_and_its_error_names_the_same_value() -> None:
    with SideProcesses(1) as beside:
        assert beside(os.getpid) != os.getpid()
        assert beside(reading("FED-01-gbk.xml")) == reading("FED-01-gbk.xml")()
        with pytest.raises(BadInputError, match="XML entity") as caught:
            beside(reading("FED-21-bomb.xml"))
        assert (caught.value.field, caught.value.value) == ("feed", "https://site.example/feed")


def test_when_the_others_have_died_the_work_is_done_here() -> None:
    with SideProcesses(1) as beside:
        other = beside(os.getpid)
        os.kill(other, signal.SIGKILL)
        assert beside(os.getpid) == os.getpid()
