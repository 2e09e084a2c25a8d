"""Waiting for what other threads and processes do: as short as possible, never longer than a bound."""

from collections.abc import Callable
from threading import Event
from time import monotonic
from typing import TypeVar

LONGEST_SECONDS = 30.0
"""Far above what anything here takes, for machines that are busy."""
LOOK_EVERY_SECONDS = 0.02

Found = TypeVar("Found")


def eventually(
    look: Callable[[], Found], *, alive: Callable[[], object] = lambda: None, seconds: float = LONGEST_SECONDS
) -> Found:
    """What ``look`` finds as soon as that is true; ``alive`` raises when waiting on makes no sense."""
    until = monotonic() + seconds
    while not (found := look()):
        alive()
        assert monotonic() < until, "waited in vain"
        Event().wait(LOOK_EVERY_SECONDS)
    return found
