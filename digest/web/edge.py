"""What every endpoint gets: the wired application, the clock, the nudge and the pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Annotated, cast

from fastapi import Depends, Request
from starlette.background import BackgroundTask

from digest.bootstrap import Application
from digest.web.admission import Admission
from digest.web.pages import Pages

Clock = Callable[[], datetime]
Nudge = Callable[[Sequence[int]], None]


def utc_now() -> datetime:
    """The instant at which a request is answered."""
    return datetime.now(UTC)


def stopwatch() -> float:
    """Seconds on a clock that nobody sets; only differences mean something."""
    return monotonic()


@dataclass(frozen=True, slots=True)
class Edge:
    """The application as the web sees it.

    Attributes:
        nudge: gets the ids of letters that are owed, after commit and after the answer has left: a slow broker
            neither delays the visitor nor shows by its delay that a letter was owed.
        nudge_events: gets the ids of posts of provider events that are to be read, likewise.
        clock: read once per request.
        admission: counts sign-ups and guesses.
    """

    application: Application
    nudge: Nudge
    nudge_events: Nudge
    clock: Clock
    pages: Pages
    admission: Admission

    def after(self, letters: Sequence[int]) -> BackgroundTask | None:
        """Work for after the answer: ask the workers to send ``letters``."""
        return BackgroundTask(self.nudge, list(letters)) if letters else None


def edge_of(request: Request) -> Edge:
    """The edge of the app that a request came to."""
    return cast("Edge", request.app.state.edge)


EdgeOf = Annotated[Edge, Depends(edge_of)]
