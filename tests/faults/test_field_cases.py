"""Cases from public bug reports that only whole processes show."""

import sys
from datetime import timedelta
from threading import Event

from fastapi.testclient import TestClient
from sqlalchemy import select

from digest.domain.brief import BriefState
from digest.domain.delivery import BatchState, DeliveryReason
from digest.store.tables import Batch, Brief
from digest.web.app import create_app
from tests.faults.conftest import Install
from tests.faults.deadly_program import DEADLY
from tests.faults.installation import Installation
from tests.faults.verdict import faults_at_rest, faults_at_the_end, look
from tests.workers.waiting import eventually

SECONDS = 90.0
"""Far above what anything here takes, for machines that are busy."""
AT_ONCE = timedelta(0)


def is_at_rest(place: Installation) -> bool:
    found = look(place)
    return found.planned == place.options.subscribers and not found.open


def test_dup_03_workers_killed_in_the_middle_lose_nobody_and_repeat_nobody(install: Install) -> None:
    place = install(subscribers=500, batch_size=10, nudge=2, settle=1)
    killed = Event()

    def kill_all(taken: int) -> None:
        if taken >= 137 and not killed.is_set():
            for name in place.crew.running("worker"):
                place.crew.kill(name)
            killed.set()

    place.provider.on_taken = kill_all
    place.prepare(AT_ONCE)
    place.start(beats=1, web=False)
    assert killed.wait(SECONDS)
    found = look(place)
    assert 137 <= found.accepted < 500
    assert found.open["sending"] >= 1
    place.crew.tend()
    eventually(lambda: is_at_rest(place), alive=place.crew.tend, seconds=SECONDS)
    found = look(place)
    assert faults_at_rest(found, 500, place.began_at) == []
    in_flight = place.options.workers * place.options.concurrency
    assert 1 <= len(found.unknown) <= in_flight
    site = TestClient(create_app(place.application, lambda _: None), base_url=place.application.settings.base_url)
    place.reporter.report(site.post, place.provider.taken)
    eventually(lambda: not look(place).unknown and is_at_rest(place), alive=place.crew.tend, seconds=SECONDS)
    assert faults_at_the_end(look(place), 500, place.began_at) == []


def test_dup_11_a_brief_that_kills_its_process_is_given_up_and_holds_up_nobody(install: Install) -> None:
    program = (sys.executable, "-m", "tests.faults.deadly_program")
    place = install(program, subscribers=51, workers=1, nudge=1)
    place.prepare(AT_ONCE, ["" for _ in range(50)] + [DEADLY])
    place.start(beats=1, web=False)
    eventually(lambda: len(place.provider.taken) == 50, alive=place.crew.tend, seconds=SECONDS)
    eventually(lambda: is_at_rest(place), alive=place.crew.tend, seconds=SECONDS)
    with place.application.sessions() as session:
        brief = session.scalars(select(Brief).where(Brief.topics == DEADLY)).one()
        batch = session.scalars(select(Batch).where(Batch.brief_id == brief.id)).one()
    assert brief.state is BriefState.FAILED
    assert brief.attempts <= 5
    assert (batch.state, batch.reason) == (BatchState.FAILED, DeliveryReason.NOT_COMPILED)
    assert look(place).states == {"sent": 50, "failed not_compiled": 1}
    assert set(place.provider.per_reader().values()) == {1}
    assert place.crew.restarts.total() == 0, "only the children died"
    place.crew.kill("beat0")
    eventually(lambda: not place.broker.waiting(), seconds=SECONDS)
