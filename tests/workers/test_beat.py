"""Beat nudges at the full multiples of its interval, and a clock that was wrong puts it off only while it is."""

from datetime import UTC, datetime, timedelta

import pytest
from celery import Celery

from workers.beat import AFTER, Aligned, SteadyScheduler

EIGHT = datetime(2027, 6, 10, tzinfo=UTC)
SECOND = timedelta(seconds=1)


class Clock:
    """The time as beat sees it."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def every(seconds: int, clock: Clock) -> Aligned:
    return Aligned(timedelta(seconds=seconds), nowfun=clock)


@pytest.mark.parametrize(
    ("now", "last", "is_due", "rest"),
    [
        (EIGHT, EIGHT - 5 * SECOND, True, 5),
        (EIGHT - SECOND / 10, EIGHT - 5 * SECOND, False, 0.1),
        (EIGHT + 3 * SECOND, EIGHT, False, 2),
        (EIGHT + 3 * SECOND, EIGHT - SECOND, True, 2),
        (EIGHT, EIGHT + timedelta(days=600), True, 5),
    ],
    ids=["on-the-instant", "just-before", "done-in-this-slot", "late", "clock-set-back"],
)
def test_each_slot_has_one_run(now: datetime, last: datetime, is_due: bool, rest: float) -> None:  # noqa: FBT001 - a table's column
    found = every(5, Clock(now)).is_due(last)
    assert found[0] is is_due
    assert found[1] == pytest.approx(rest + AFTER)


def scheduler(clock: Clock) -> tuple[SteadyScheduler, list[datetime]]:
    """A scheduler with one entry, and when it nudged."""
    app, runs = Celery("beat-under-test", broker="memory://", set_as_current=False), []
    app.conf.beat_schedule = {"tick": {"task": "digest.tick", "schedule": every(5, clock)}}
    app.conf.beat_max_loop_interval = 1
    made = SteadyScheduler(app)
    made.apply_entry = lambda *_, **__: runs.append(clock.now)  # type: ignore[method-assign,assignment] # no broker
    return made, runs


def run(beat: SteadyScheduler, clock: Clock, seconds: float) -> None:
    end = clock.now + timedelta(seconds=seconds)
    while clock.now < end:
        clock.now += timedelta(seconds=max(0.05, min(beat.tick(), 1)))


def test_after_a_clock_went_years_ahead_and_back_the_nudges_go_on() -> None:
    clock = Clock(EIGHT)
    beat, runs = scheduler(clock)
    run(beat, clock, 12)
    before = len(runs)
    clock.now = EIGHT + timedelta(days=600)
    run(beat, clock, 12)
    clock.now = EIGHT + timedelta(minutes=1)
    run(beat, clock, 12)
    assert before >= 2
    assert len([at for at in runs if EIGHT + timedelta(minutes=1) <= at < EIGHT + timedelta(minutes=2)]) >= 2
