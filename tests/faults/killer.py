"""What goes wrong and when: drawn from the seed, spread over the morning."""

import random
from collections import Counter, deque
from collections.abc import Callable
from time import monotonic

from tests.faults.installation import Installation
from tests.faults.servers import OwnBroker

LONGEST_PAUSE = 0.5
"""Seconds after a kill in which the next one waits, so that it falls anywhere within what the processes do."""
KINDS = {
    "worker child": 6,
    "worker": 3,
    "worker parent": 1,
    "beat": 2,
    "tick": 2,
    "broker": 2,
    "database backend": 2,
    "database connection": 3,
}
"""Each kind with how often it is drawn; each comes once before any is drawn freely."""


class Killer:
    """Kills one thing at a time, each when the morning has come as far as was drawn for it, or when nothing moves.

    Attributes:
        done: how many of each kind.
    """

    def __init__(self, place: Installation, broker: OwnBroker) -> None:
        options = place.options
        self.done: Counter[str] = Counter()
        self._place, self._broker = place, broker
        self._chance = random.Random(options.seed)  # noqa: S311 - nothing secret is drawn
        self._kinds = _kinds(self._chance, options.kills)
        drawn = (self._chance.uniform(0, 0.97) * options.subscribers for _ in range(options.kills))
        self._marks = deque(sorted(drawn))
        self._flush_at = options.subscribers / 2 if options.flush else None
        self._last, self._not_before = 0.0, 0.0
        self._broker_back_at = 0.0
        self._ways: dict[str, Callable[[], bool]] = {
            "worker child": self._child,
            "worker": lambda: place.crew.kill(self._one_of("worker")),
            "worker parent": lambda: place.crew.kill_parent(self._one_of("worker")),
            "beat": lambda: place.crew.kill(self._one_of("beat")),
            "tick": lambda: place.crew.kill(self._one_of("tick")),
            "broker": self._kill_broker,
            "database backend": lambda: place.database.kill_backend(self._chance),
            "database connection": lambda: place.database.end_backend(self._chance),
        }

    @property
    def is_done(self) -> bool:
        """Whether all has gone wrong that was to."""
        return not self._marks and self._flush_at is None and self._broker.is_up

    def step(self, served: int) -> str:
        """Do what is due with so many readers served; returns what was done, empty when nothing."""
        if not self._broker.is_up and monotonic() >= self._broker_back_at:
            self._broker.start()
        if self._flush_at is not None and served >= self._flush_at and self._broker.empty():
            self._flush_at = None
            self.done["broker emptied"] += 1
            return "broker emptied"
        return self._kill() if self._is_time(served) else ""

    def _is_time(self, served: int) -> bool:
        if not self._marks or monotonic() < self._not_before:
            return False
        if not self._last and served:
            self._last = monotonic()
        rested = self._last and monotonic() - self._last > self._place.options.rest
        return served >= self._marks[0] or bool(rested)

    def _kill(self) -> str:
        """The kind drawn; where there is none of it to kill now, the others come first."""
        kind = self._kinds[0]
        if not self._ways[kind]():
            self._kinds.rotate(-1)
            return ""
        self._kinds.popleft()
        self._marks.popleft()
        self._last = monotonic()
        self._not_before = self._last + self._chance.uniform(0, LONGEST_PAUSE)
        self.done[kind] += 1
        return kind

    def _one_of(self, prefix: str) -> str:
        found = self._place.crew.running(prefix)
        return self._chance.choice(found) if found else ""

    def _child(self) -> bool:
        name = self._one_of("worker")
        return bool(name) and self._place.crew.kill_child(name, self._chance)

    def _kill_broker(self) -> bool:
        self._broker_back_at = monotonic() + self._chance.uniform(0, self._place.options.down)
        return self._broker.kill()


def _kinds(chance: random.Random, kills: int) -> deque[str]:
    first = list(KINDS)
    chance.shuffle(first)
    more = chance.choices(list(KINDS), weights=list(KINDS.values()), k=kills)
    return deque([*first, *more][: max(kills, 1)])
