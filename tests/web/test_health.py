"""Alive, and ready."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from anyio.to_thread import current_default_thread_limiter

from digest.store.database import migrate, open_engine, open_sessions
from digest.web.app import MOST_AT_ONCE
from tests.web.conftest import Site


def test_a_process_that_answers_is_alive(site: Site) -> None:
    answer = site.client().get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_a_process_all_of_whose_threads_wait_for_a_database_is_alive(site: Site) -> None:
    requests = [object() for _ in range(MOST_AT_ONCE)]
    with ThreadPoolExecutor(1) as visitor, site.client() as client:
        assert client.portal is not None
        threads = client.portal.call(current_default_thread_limiter)
        for request in requests:
            client.portal.call(threads.acquire_on_behalf_of_nowait, request)
        try:
            assert threads.available_tokens == 0
            assert visitor.submit(client.get, "/healthz").result(10).status_code == 200
        finally:
            for request in requests:
                client.portal.call(threads.release_on_behalf_of, request)


def test_ready_means_a_tick_within_two_minutes(site: Site) -> None:
    client = site.client()
    assert (client.get("/readyz").status_code, client.get("/readyz").json()["scheduler"]) == (503, "silent")
    site.tick()
    site.later(minutes=2)
    assert client.get("/readyz").json() == {"status": "ok", "database": "ok", "broker": "ok", "scheduler": "ok"}
    site.later(seconds=1)
    assert client.get("/readyz").json()["scheduler"] == "silent"


def test_a_database_that_is_not_migrated_is_not_ready(site: Site, tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'empty.db'}")
    site.application = replace(site.application, engine=engine, sessions=open_sessions(engine))
    answer = site.client().get("/readyz")
    assert (answer.status_code, answer.json()["database"]) == (503, "not migrated")
    migrate(engine)
    assert site.client().get("/readyz").json()["database"] == "ok"
    engine.dispose()


def test_a_database_that_cannot_be_reached_is_not_ready_and_no_error(site: Site, tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'folder'}")
    (tmp_path / "folder").mkdir()
    site.application = replace(site.application, engine=engine, sessions=open_sessions(engine))
    answer = site.client().get("/readyz")
    assert (answer.status_code, answer.json()["database"]) == (503, "unreachable")
    engine.dispose()


def test_a_broker_that_does_not_answer_is_not_ready(site: Site, unused_port: int) -> None:
    site.tick()
    settings = site.application.settings.model_copy(update={"broker_url": f"redis://127.0.0.1:{unused_port}/0"})
    site.application = replace(site.application, settings=settings)
    answer = site.client().get("/readyz")
    assert (answer.status_code, answer.json()["broker"]) == (503, "ConnectionError")
