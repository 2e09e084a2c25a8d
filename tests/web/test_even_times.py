"""How long an answer takes tells nothing about an address."""

from itertools import chain, repeat

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from digest.web import even_times
from digest.web.even_times import SLOT_SECONDS, EvenTimes
from tests.web.conftest import Site


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits that were asked for, in seconds; none of them is held."""
    asked: list[float] = []

    async def held(seconds: float) -> None:
        asked.append(seconds)

    monkeypatch.setattr(even_times, "sleep", held)
    return asked


@pytest.mark.parametrize(("took", "ends"), [(0.0007, 1), (0.004, 1), (0.019, 1), (0.021, 2), (0.05, 3)])
def test_an_answer_leaves_at_the_end_of_its_slot(waits: list[float], took: float, ends: int) -> None:
    app, clock = FastAPI(), chain([100.0], repeat(100.0 + took))
    app.add_api_route("/subscribe", lambda: "asked", methods=["POST"])
    app.add_middleware(EvenTimes, stopwatch=lambda: next(clock))
    assert TestClient(app).post("/subscribe").json() == "asked"
    (wait,) = waits
    assert took + wait == pytest.approx(ends * SLOT_SECONDS)


def test_posts_that_name_an_address_wait_right_or_wrong_and_nothing_else_does(site: Site, waits: list[float]) -> None:
    client = site.client()
    for address in ("reader@example.com", "no address"):
        client.post("/subscribe", data={"email": address})
        client.post("/api/v1/subscriptions", json={"email": address})
    assert len(waits) == 4
    reader = site.active("active@example.com")
    client.post(site.path(site.application.links.preferences(reader)) + "/address", data={"email": "new@example.com"})
    assert len(waits) == 5
    client.get("/?lang=en")
    client.post(site.path(site.application.links.unsubscribe(reader)))
    assert len(waits) == 5
