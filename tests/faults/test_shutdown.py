"""Workers that are told to end in the middle of a hand-over lose nothing."""

import signal
from datetime import UTC, datetime, timedelta
from threading import Event

import pytest
from sqlalchemy import select

from digest.steps.compile_briefs import compile_brief
from digest.steps.plan_editions import plan_editions
from digest.store.tables import Brief
from tests.faults.conftest import Install
from tests.faults.installation import Installation
from tests.faults.verdict import look
from tests.workers.waiting import eventually
from workers.celery_app import create_celery
from workers.tasks import dispatch_batches

SECONDS = 90.0
"""Far above what anything here takes, for machines that are busy."""


@pytest.mark.parametrize(("remapped", "word"), [("", "Warm shutdown"), ("SIGQUIT", "Soft Shutdown")])
def test_a_worker_told_to_end_records_the_hand_over_it_is_in_and_leaves_the_rest(
    install: Install, monkeypatch: pytest.MonkeyPatch, remapped: str, word: str
) -> None:
    """Two batches and one pair of hands: the first is with the provider when SIGTERM comes, the second waits.

    A soft shutdown may end before Celery has heard that the first task is done, and then puts its message back: the
    next worker finds that batch recorded and hands over only the other.
    """
    monkeypatch.setenv("REMAP_SIGTERM", remapped)
    place = install(subscribers=2, workers=1, concurrency=1)
    answer = Event()
    place.provider.on_taken = lambda _: answer.wait(SECONDS)
    place.prepare(timedelta(0))
    ask_for_hand_overs(place)
    place.start(beats=0, web=False)
    eventually(lambda: place.provider.taken, seconds=SECONDS)
    worker = place.crew.tell("worker0", signal.SIGTERM)
    eventually(lambda: word in place.crew.logs(), seconds=SECONDS)
    answer.set()
    assert worker.wait(SECONDS) == 0
    assert look(place).states == {"sent": 1, "ready": 1}
    assert len(place.provider.taken) == 1
    assert place.broker.waiting() in ([{"send": 1}, {"send": 2}] if remapped else [{"send": 1}])
    place.start_worker(1)
    eventually(lambda: look(place).states == {"sent": 2} and not place.broker.waiting(), seconds=SECONDS)
    assert len(place.provider.taken) == 2


def ask_for_hand_overs(place: Installation) -> None:
    """Plan, compile, and ask the workers for the batches."""
    app, now = place.application, datetime.now(UTC)
    plan_editions(app.sessions, now, app.settings.policy, app.provider.batch_size)
    with app.sessions() as session:
        briefs = session.scalars(select(Brief.id)).all()
    for brief in briefs:
        compile_brief(app.sessions, app.press, brief, now)
    celery = create_celery(app.settings)
    dispatch_batches(celery, app, now)
    celery.close()
    assert place.broker.waiting() == {"send": 2}
