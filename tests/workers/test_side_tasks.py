"""The daily look into the provider's records, as the worker's own task takes it, against SendGrid's strict double."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from structlog.testing import capture_logs

from digest.domain.subscriber import EndReason, SubscriberState
from digest.steps.erase_subscribers import erase_subscriber
from digest.steps.mirror_suppressions import MIRRORED
from digest.store.tables import Erasure, Switch
from tests.doubles.sendgrid import KEY, Answer, SendGridDouble
from tests.workers.conftest import SEND_AT, hired
from tests.workers.staff import Staff
from workers.queues import TIDY

DAY = timedelta(days=1)


@pytest.fixture
def sendgrid() -> Iterator[SendGridDouble]:
    with SendGridDouble() as double:
        yield double


@pytest.fixture
def keeper(
    postgres_url: str, redis_url: str, sendgrid: SendGridDouble, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Staff]:
    """Staff whose mail SendGrid carries, and whose side tasks read the test's clock."""
    carrier = {"provider": "sendgrid", "sendgrid_api_key": KEY, "sendgrid_host": sendgrid.host}
    with hired(postgres_url, redis_url, monkeypatch, sender="Brief <brief@example.com>", **carrier) as staff:
        monkeypatch.setattr("workers.side_tasks.utc_now", lambda: staff.now)
        yield staff


def tidy(staff: Staff, at: datetime = SEND_AT) -> dict[str, dict[str, Any]]:
    """The task at that moment, as a worker runs it; what it logged, by event."""
    staff.now = at
    with capture_logs() as logs:
        staff.celery.tasks[f"digest.{TIDY}"].apply(throw=True)
    return {line["event"]: line for line in logs}


def mark(staff: Staff, name: str) -> datetime | None:
    with staff.application.sessions() as session:
        row = session.get(Switch, name)
    return row.changed_at if row else None


def waiting(staff: Staff) -> list[tuple[str, int]]:
    with staff.application.sessions() as session:
        return [(one.email, one.attempts) for one in session.scalars(select(Erasure))]


def erase(staff: Staff, address: str) -> None:
    own = staff.application
    assert erase_subscriber(own.sessions, address, own.address_hashes(address)[0], SEND_AT, own.keeps_records)


def test_an_erasure_is_tried_again_until_the_provider_took_it_and_its_silence_holds_up_nothing(
    keeper: Staff, sendgrid: SendGridDouble
) -> None:
    keeper.world.reader("reader@example.com")
    erase(keeper, "reader@example.com")
    sendgrid.records.hold("bounces", "reader@example.com", int(SEND_AT.timestamp()), reason="550", status="5.1.1")
    sendgrid.script.extend([Answer(drop="after"), Answer(500)])
    logs = tidy(keeper)
    assert waiting(keeper) == [("reader@example.com", 1)]
    assert logs["erasures_passed_on"]["waiting"] == 1
    assert {"suppressions_not_mirrored", "ledger_tidied"} <= set(logs)
    assert mark(keeper, MIRRORED) is None

    assert "erasures_passed_on" not in tidy(keeper, SEND_AT + timedelta(minutes=9))
    sendgrid.script.append(Answer(429, headers={"Retry-After": "3000"}))
    tidy(keeper, SEND_AT + timedelta(minutes=10))
    assert waiting(keeper) == [("reader@example.com", 2)]
    assert "erasures_passed_on" not in tidy(keeper, SEND_AT + timedelta(minutes=59))
    logs = tidy(keeper, SEND_AT + timedelta(minutes=60))
    assert (logs["erasures_passed_on"]["taken"], waiting(keeper)) == (1, [])
    # Given twice, since the answer to the first was lost; the second finds nothing to erase.
    assert sendgrid.records.erased == [["reader@example.com"], ["reader@example.com"]]
    assert sendgrid.records.books["bounces"] == {}
    assert "@" not in str(logs)


def test_the_providers_lists_are_mirrored_once_a_day_by_whichever_worker_is_asked(
    keeper: Staff, sendgrid: SendGridDouble
) -> None:
    gone, other = (keeper.world.reader(f"{name}@example.com") for name in ("gone", "other"))
    sendgrid.records.hold("bounces", "Gone@example.com", int(SEND_AT.timestamp()) - 60, reason="550", status="5.1.1")
    sendgrid.records.hold("bounces", "stranger@example.com", int(SEND_AT.timestamp()) - 60, reason="550")
    logs = tidy(keeper)
    counts = {name: logs["suppressions_mirrored"][name] for name in ("held", "new", "let_go")}
    assert counts == {"held": 2, "new": 1, "let_go": 0}
    row = keeper.world.subscriber(gone)
    assert (row.state, row.reason) == (SubscriberState.ENDED, EndReason.BOUNCED)
    assert keeper.world.subscriber(other).state is SubscriberState.ACTIVE

    asked = len(sendgrid.records.calls)
    sendgrid.records.hold("spam_reports", "other@example.com", int(SEND_AT.timestamp()), ip="192.0.2.1")
    tidy(keeper, SEND_AT + DAY - timedelta(seconds=1))
    assert len(sendgrid.records.calls) == asked
    logs = tidy(keeper, SEND_AT + DAY)
    assert logs["suppressions_mirrored"]["new"] == 1
    assert keeper.world.subscriber(other).reason is EndReason.COMPLAINED
    assert mark(keeper, MIRRORED) == SEND_AT + DAY
    assert "@" not in str(logs)
