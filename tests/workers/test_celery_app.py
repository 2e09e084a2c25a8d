"""How the app is set up: at least once, one at a time, ids only."""

import inspect
from datetime import timedelta

import pytest
from celery import Celery

from digest.health.now import QUEUES as MEASURED
from digest.settings import Settings
from workers.celery_app import create_celery
from workers.queues import MEANING, QUEUES, TICK, TIDY, WATCH
from workers.runtime import Runtime

ALONE = {f"digest.{name}" for name in (TICK, TIDY, WATCH)}
"""What beat asks for."""


def app(broker_url: str) -> Celery:
    return create_celery(Settings(_env_file=None, broker_url=broker_url, secret_keys=["a-test-key-of-enough-length"]))


@pytest.fixture
def production() -> Celery:
    return app("redis://127.0.0.1:9/0")


@pytest.fixture
def in_process() -> Celery:
    return app("memory://")


def own_tasks(celery: Celery) -> dict[str, object]:
    return {name: task for name, task in celery.tasks.items() if name.startswith("digest.")}


def test_a_task_is_acknowledged_when_done_and_a_worker_takes_one_at_a_time(production: Celery) -> None:
    assert production.conf.task_acks_late is True
    assert production.conf.worker_prefetch_multiplier == 1


def test_nothing_but_json_goes_in_or_out(production: Celery) -> None:
    assert production.conf.accept_content == ["json"]
    assert production.conf.task_serializer == "json"
    assert production.conf.task_ignore_result is True
    assert production.conf.result_backend is None


def test_a_task_that_still_runs_is_never_given_to_a_second_worker(production: Celery) -> None:
    conf = production.conf
    visibility = conf.broker_transport_options["visibility_timeout"]
    assert 0 < conf.task_soft_time_limit < conf.task_time_limit < visibility


def test_a_broker_that_hangs_is_not_waited_for_without_end(production: Celery) -> None:
    options = production.conf.broker_transport_options
    assert 0 < options["socket_timeout"] <= 30
    assert 0 < options["socket_connect_timeout"] <= 30


def test_threads_cannot_be_stopped_so_in_process_there_are_no_limits(in_process: Celery) -> None:
    assert (in_process.conf.task_time_limit, in_process.conf.task_soft_time_limit) == (None, None)
    assert in_process.conf.broker_transport_options["polling_interval"] < 0.2


def test_every_task_has_a_queue_that_exists_and_every_queue_a_task(production: Celery) -> None:
    names = [queue.name for queue in QUEUES]
    assert names == list(MEANING)
    assert set(names) == set(MEASURED)
    assert production.conf.task_create_missing_queues is False
    assert set(own_tasks(production)) == {f"digest.{name}" for name in names}
    for task in own_tasks(production):
        assert production.amqp.router.route({}, task)["queue"].name == task.removeprefix("digest.")


def test_a_worker_without_options_consumes_every_queue(production: Celery) -> None:
    production.amqp.queues.select(list(MEANING))
    assert set(production.amqp.queues.consume_from) == set(MEANING)


def test_a_task_carries_at_most_one_id_and_nothing_else(production: Celery) -> None:
    for name, task in own_tasks(production).items():
        parameters = inspect.signature(task.run).parameters  # type: ignore[attr-defined] # a Celery task
        assert len(parameters) == (0 if name in ALONE else 1)
        assert all(one.endswith("_id") and of.annotation is int for one, of in parameters.items())


def test_tasks_belong_to_their_own_app(production: Celery, in_process: Celery) -> None:
    assert set(own_tasks(production)) == set(own_tasks(in_process))
    assert all(task.app is in_process for task in own_tasks(in_process).values())  # type: ignore[attr-defined] # likewise
    assert own_tasks(Celery("another", set_as_current=False)) == {}


def test_the_scheduler_only_nudges_and_a_nudge_that_got_old_is_thrown_away(production: Celery) -> None:
    entries = production.conf.beat_schedule
    assert {entry["task"] for entry in entries.values()} == ALONE
    assert (entries["tick"]["schedule"].run_every, entries["tick"]["options"]["expires"]) == (timedelta(seconds=5), 60)
    assert entries["tidy"]["options"]["expires"] <= entries["tidy"]["schedule"].run_every.total_seconds()


def test_an_application_is_built_when_needed_and_again_after_a_fork(sqlite_url: str) -> None:
    runtime = Runtime(Settings(_env_file=None, database_url=sqlite_url, secret_keys=["a-test-key-of-enough-length"]))
    runtime.start_afresh()
    before = runtime.application
    assert runtime.application is before
    runtime.start_afresh(sender=None)
    after = runtime.application
    assert after is not before
    before.close()
    after.close()
