"""Installations over the servers that tests share, for tests that kill none of these."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import pytest

from tests.faults.installation import Installation, installation
from tests.faults.options import Options
from tests.faults.processes import DIGEST
from tests.faults.servers import Broker, Database

Install = Callable[..., Installation]


@pytest.fixture
def install(postgres_url: str, redis_url: str) -> Iterator[Install]:
    """Makes an installation whose provider answers at once and always, unless told otherwise."""
    with ExitStack() as stack:

        def make(program: Sequence[str] = DIGEST, **chosen: float) -> Installation:
            quiet = {"answer": 0.0, "drop_after": 0.0, "drop_before": 0.0, "busy": 0.0, "broken": 0.0}
            options = Options(**(quiet | {"wait": 0.0} | chosen))
            return stack.enter_context(installation(options, Database(postgres_url), Broker(redis_url), program))

        yield make
