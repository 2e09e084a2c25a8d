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
        nudge: gets the ids of letters that are owed, after commit and after the answer has left, so that nothing shows
            that a letter was owed; returns at once, however slow the broker is.
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
        return BackgroundTask(_at_once, self.nudge, list(letters)) if letters else None

    def after_posts(self, posts: Sequence[int]) -> BackgroundTask:
        """Work for after the answer: ask the workers to read ``posts`` of provider events."""
        return BackgroundTask(_at_once, self.nudge_events, list(posts))


async def _at_once(nudge: Nudge, ids: Sequence[int]) -> None:
    # A plain function would wait for a thread.
    nudge(ids)


def edge_of(request: Request) -> Edge:
    """The edge of the app that a request came to."""
    return cast("Edge", request.app.state.edge)


async def _edge(request: Request) -> Edge:
    # A plain function would be run in a thread of its own for every request, and so for the others like it.
    return edge_of(request)


EdgeOf = Annotated[Edge, Depends(_edge)]
