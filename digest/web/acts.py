"""Writing down what the staff do, by page or by API."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.exceptions import HTTPException

from digest.domain.errors import PermanentError
from digest.domain.staff import ActKind
from digest.store.acts import DONE, Actor, begin_act, end_act
from digest.web.edge import Edge


@contextmanager
def written_down(edge: Edge, actor: Actor, kind: ActKind, target: str = "", **facts: Any) -> Iterator[None]:  # noqa: ANN401 - JSON values
    """Write an act down before it is done, and after it how it went: ``done``, ``refused``, or ``failed`` by our fault.

    Args:
        target: what it is done to, in ids.
        facts: what else to keep of it; no addresses.
    """
    now, sessions = edge.clock(), edge.application.sessions
    with sessions.begin() as session:
        act = begin_act(session, actor, kind, target, facts, now)
    outcome = "failed"
    try:
        yield
        outcome = DONE
    except (PermanentError, HTTPException):
        outcome = "refused"
        raise
    finally:
        with sessions.begin() as session:
            end_act(session, act, outcome)
