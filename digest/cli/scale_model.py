"""A morning of many machines as a network of queues; seconds throughout.

Hands (worker processes, one core each) claim a batch, build its request, post it and record the outcome. They share the
cores of their database, one core of the broker, and the rate that the provider takes. Times come from measurements;
only the provider's answer time varies, since that of the rest hardly did.
"""

import random
from collections.abc import Generator
from dataclasses import dataclass, field
from statistics import quantiles

import simpy

BUSY = 0.5
"""Share of its capacity from which a part is what holds up the rest."""

Steps = Generator[simpy.Event, object, None]


@dataclass(frozen=True, slots=True)
class Measured:
    """What one brief costs on the machine that was measured, in CPU microseconds.

    Attributes:
        machine: which one, when and with which versions.
        plan: of the database, ahead of the instant.
        database: of the database, for claiming and recording.
        worker: of the worker process, for building and posting.
        broker: of the broker.
    """

    machine: str
    plan: float
    database: float
    worker: float
    broker: float


@dataclass(frozen=True, slots=True)
class Fleet:
    """The machines, and what is assumed of those that were not measured.

    Attributes:
        hands: worker processes in all.
        databases: PostgreSQL servers, each with an equal share of the readers.
        cores: of each database.
        requests: that the provider takes in a second, from everybody together.
        answer: mean seconds until the provider answers a request.
        batch: readers in a request.
    """

    hands: int
    databases: int = 1
    cores: int = 16
    requests: float = 10_000.0
    answer: float = 0.2
    batch: int = 1000


@dataclass(frozen=True, slots=True)
class Morning:
    """What became of it.

    Attributes:
        planning: seconds that each database plans ahead, one session at a time.
        half, most, last: seconds after the instant at which 50 %, 99 % and all were accepted.
        busy: share of its capacity that each part used until the last was recorded.
    """

    planning: float
    half: float
    most: float
    last: float
    busy: dict[str, float]

    @property
    def limit(self) -> str:
        """The part to add to first: the busiest, or hands where all parts mostly wait for the provider's answers."""
        busiest = max(self.busy, key=lambda part: self.busy[part])
        return busiest if self.busy[busiest] >= BUSY else "hands"


@dataclass(slots=True)
class _Shard:
    cores: simpy.Resource
    batches: int


@dataclass(slots=True)
class _Run:
    measured: Measured
    fleet: Fleet
    environment: simpy.Environment
    broker: simpy.Resource
    chance: random.Random
    door: float = 0.0
    accepted: list[float] = field(default_factory=list)
    used: dict[str, float] = field(default_factory=lambda: {"database": 0.0, "workers": 0.0, "broker": 0.0})

    def hand(self, shard: _Shard) -> Steps:
        """One worker process until its database has no batch left."""
        cost, batch = self.measured, self.fleet.batch / 1e6
        while shard.batches:
            shard.batches -= 1
            yield from self._hold("broker", self.broker, cost.broker * batch)
            yield from self._hold("database", shard.cores, cost.database * batch / 2)
            self.used["workers"] += cost.worker * batch
            yield self.environment.timeout(cost.worker * batch)
            yield self.environment.timeout(self._waiting() + self.chance.expovariate(1 / self.fleet.answer))
            self.accepted.append(self.environment.now)
            yield from self._hold("database", shard.cores, cost.database * batch / 2)

    def _hold(self, part: str, cores: simpy.Resource, seconds: float) -> Steps:
        with cores.request() as core:
            yield core
            yield self.environment.timeout(seconds)
        self.used[part] += seconds

    def _waiting(self) -> float:
        # The provider lets requests in one by one; who comes while others wait stands behind them.
        now = self.environment.now
        opens = max(self.door, now)
        self.door = opens + 1 / self.fleet.requests
        return opens - now


def morning(due: int, fleet: Fleet, measured: Measured, seed: int = 1) -> Morning:
    """What becomes of ``due`` briefs of one instant; the same seed gives the same answer."""
    environment = simpy.Environment()
    chance = random.Random(seed)  # noqa: S311 - nothing secret is drawn
    run = _Run(measured, fleet, environment, simpy.Resource(environment), chance)
    shards = [
        _Shard(simpy.Resource(environment, fleet.cores), -(-due // (fleet.batch * fleet.databases)))
        for _ in range(fleet.databases)
    ]
    for number in range(fleet.hands):
        environment.process(run.hand(shards[number % len(shards)]))
    environment.run()
    return _told(due, run)


def _told(due: int, run: _Run) -> Morning:
    fleet, last = run.fleet, max(run.accepted)
    size = {"database": fleet.cores * fleet.databases, "workers": fleet.hands, "broker": 1}
    end = run.environment.now
    busy = {part: seconds / (size[part] * end) for part, seconds in run.used.items()}
    percents = quantiles(run.accepted, n=100, method="inclusive") if len(run.accepted) > 1 else [last] * 99
    return Morning(
        planning=due / fleet.databases * run.measured.plan / 1e6,
        half=percents[49],
        most=percents[98],
        last=last,
        busy={**busy, "provider": len(run.accepted) / fleet.requests / end},
    )
