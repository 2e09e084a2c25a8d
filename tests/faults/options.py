"""What a run is made of; every number comes from here."""

import argparse
from dataclasses import asdict, dataclass, fields


@dataclass(frozen=True)
class Options:
    """One run. Seconds are of the real clock; odds lie between 0 and 1.

    Attributes:
        seed: of every draw: what is killed and when, what the provider does to an answer.
        flush: whether the broker is emptied (FLUSHALL) when half the list has been served.
        batch_size: readers in one hand-over.
        lease: seconds after which a batch whose holder is gone is *unknown*.
        nudge: seconds after which a tick asks again for what nobody took up.
        settle: seconds after which a batch of which the provider says nothing was never taken.
        answer: longest time the provider takes to answer what it has accepted.
        drop_after, drop_before: odds that the connection ends without an answer, after or before acceptance.
        busy, broken: odds of a 429 with Retry-After, and of a 500, both without acceptance.
        rest: longest time between two kills when nothing moves on.
        down: longest time that a killed broker is away.
        tick_pause: between two rounds of two ``digest tick`` at once.
        wait: longest wait for the send instant to come; where the next whole minute is further away, the last is taken.
        keep: folder to which the logs of the parts are copied in the end; empty: none.
        deadline: when a run that has not come to its end counts as hung.
    """

    subscribers: int = 240
    kills: int = 8
    seed: int = 1
    flush: bool = True
    workers: int = 2
    concurrency: int = 2
    batch_size: int = 6
    lease: int = 10
    nudge: int = 2
    settle: int = 1
    answer: float = 0.6
    drop_after: float = 0.06
    drop_before: float = 0.04
    busy: float = 0.04
    broken: float = 0.02
    rest: float = 4.0
    down: float = 0.5
    tick_pause: float = 8.0
    wait: float = 20.0
    keep: str = ""
    deadline: float = 180.0

    def command(self) -> str:
        """The command line that makes the same draws again."""
        words = [
            f"--{name.replace('_', '-')} {value}"
            for name, value in asdict(self).items()
            if name not in {"flush", "keep"}
        ]
        return " ".join(["python -m tests.faults", *words, "--flush" if self.flush else "--no-flush"])


LONG = Options(
    subscribers=20_000,
    kills=100,
    flush=False,
    batch_size=50,
    lease=20,
    nudge=5,
    settle=10,
    answer=2.0,
    drop_after=0.03,
    drop_before=0.02,
    busy=0.02,
    broken=0.01,
    rest=8.0,
    down=2.0,
    wait=60.0,
    deadline=1500.0,
)
"""What ``make faults`` runs, once as it is and once with ``flush``."""


def read_options(arguments: list[str] | None = None) -> Options:
    """The options of a command line; what it does not name is the long form's."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="Kill things while a morning runs.")
    for field in fields(Options):
        default = getattr(LONG, field.name)
        name = f"--{field.name.replace('_', '-')}"
        if isinstance(default, bool):
            parser.add_argument(name, default=default, action=argparse.BooleanOptionalAction)
        else:
            parser.add_argument(name, default=default, type=type(default))
    return Options(**vars(parser.parse_args(arguments)))
