"""Tasks over a real broker, with real workers and PostgreSQL: the database is the truth, the broker a nudge."""

import base64
import json
from collections import Counter
from contextlib import closing
from datetime import timedelta

import pytest
import structlog
from fastapi.testclient import TestClient
from sqlalchemy import select

from digest.domain.language import Language
from digest.store.tables import Batch, Brief, Letter, Story
from digest.web.app import create_app
from tests.servers import free_port
from tests.steps.world import EN, ZH
from tests.workers.conftest import KEY, SEND_AT
from tests.workers.staff import Staff
from workers import tasks
from workers.celery_app import create_celery
from workers.nudges import nudge
from workers.queues import COMPILE, LETTERS, PAGES, SEND, TICK

FORM = {"email": "reader@example.com", "language": "zh", "timezone": "Asia/Shanghai"}


def readers(staff: Staff, count: int = 3) -> set[str]:
    """Readers in both languages who are due now, and a story for them."""
    addresses = [f"reader{number}@example.com" for number in range(count)]
    for number, address in enumerate(addresses):
        staff.world.reader(address, language=(EN, ZH)[number % 2])
    staff.world.story(SEND_AT - timedelta(hours=1))
    return set(addresses)


def taken(staff: Staff) -> Counter[str]:
    return Counter(one.address for one in staff.provider.briefs())


def statuses(staff: Staff) -> set[tuple[str, str]]:
    """The ledger of that morning; those before it were nobody's to send."""
    return {(entry.email, entry.status) for entry in staff.world.ledger() if entry.on == SEND_AT.date()}


def ids(staff: Staff, table: type[Batch] | type[Brief] | type[Letter]) -> list[int]:
    with staff.application.sessions() as session:
        return list(session.scalars(select(table.id).order_by(table.id)))


def test_a_tick_leads_to_one_message_for_each_reader_who_is_due(staff: Staff) -> None:
    due = readers(staff)
    staff.world.reader("berlin@example.com", "Europe/Berlin")
    with staff.at_work():
        staff.publish(TICK)
        staff.until(lambda: len(staff.provider.briefs()) >= len(due))
        staff.finish(SEND, 2)
        staff.publish(TICK)
        staff.finish(TICK, 2)
    assert taken(staff) == Counter(due)
    assert statuses(staff) == {(one, "sent") for one in due}
    assert staff.waiting() == {}
    languages = {one.address: one.message.language for one in staff.provider.briefs()}
    assert languages["reader0@example.com"] is Language.ENGLISH
    assert languages["reader1@example.com"] is Language.CHINESE


def test_nothing_leaves_before_its_instant_however_early_it_is_ready(staff: Staff) -> None:
    due = readers(staff)
    staff.now = SEND_AT - timedelta(seconds=1)
    with staff.at_work():
        staff.publish(TICK)
        staff.finish(COMPILE, 2)
        staff.publish(SEND, ids(staff, Batch))
        staff.finish(SEND, 2)
        assert taken(staff) == Counter()
        staff.now = SEND_AT
        staff.publish(TICK)
        staff.until(lambda: len(staff.provider.briefs()) >= len(due))
    assert taken(staff) == Counter(due)


def test_dup_01_messages_that_come_twice_to_busy_hands_are_one_mail_each(staff: Staff) -> None:
    staff.provider.batch_size = 5
    due = readers(staff, 100)
    batches = staff.world.ready(SEND_AT)
    assert len(batches) == 20
    staff.publish(SEND, [*batches, *batches])
    with staff.at_work():
        staff.finish(SEND, 40)
    assert taken(staff) == Counter(due)
    assert staff.provider.calls == 20
    assert statuses(staff) == {(one, "sent") for one in due}


def test_letters_and_briefs_asked_for_twice_are_made_once(staff: Staff) -> None:
    readers(staff)
    staff.world.plan(SEND_AT)
    staff.world.ask(SEND_AT, "new@example.com")
    briefs, letters = ids(staff, Brief), ids(staff, Letter)
    staff.publish(COMPILE, [*briefs, *briefs])
    staff.publish(LETTERS, [*letters, *letters])
    with staff.at_work():
        staff.finish(COMPILE, 2 * len(briefs))
        staff.finish(LETTERS, 2)
        staff.until(lambda: len(staff.provider.briefs()) >= 3)
    assert staff.provider.letters() == ["confirm"]
    assert set(taken(staff).values()) == {1}


def test_ids_of_nothing_are_passed_over(staff: Staff) -> None:
    with staff.at_work():
        for queue in (SEND, COMPILE, LETTERS):
            staff.publish(queue, [999])
            staff.finish(queue, 1)
    assert staff.provider.taken == []


def test_a_broker_that_lost_everything_is_made_good_by_the_next_tick(staff: Staff) -> None:
    due = readers(staff)
    staff.world.ask(SEND_AT, "new@example.com")
    staff.tick()
    assert staff.waiting() == {COMPILE: 2, LETTERS: 1}
    staff.broker.flushdb()
    staff.later(seconds=30)
    staff.tick()
    assert staff.waiting() == {}, "a nudge may still be on its way"
    staff.later(seconds=31)
    staff.tick()
    assert staff.waiting() == {COMPILE: 2, LETTERS: 1}
    with staff.at_work():
        staff.until(lambda: len(staff.provider.briefs()) >= len(due))
        staff.finish(SEND, 2)
        staff.finish(LETTERS, 1)
    assert taken(staff) == Counter(due)
    assert staff.provider.letters() == ["confirm"]


def test_a_page_that_is_due_is_asked_for_once_and_dealt_with(staff: Staff) -> None:
    staff.world.story(SEND_AT - timedelta(hours=1))
    with staff.application.sessions.begin() as session:
        story = session.scalars(select(Story)).one()
        story.url, story.page_due_at = "http://127.0.0.1:9/inside", staff.now
    staff.tick()
    assert staff.waiting() == {PAGES: 1}
    with staff.at_work():
        staff.finish(PAGES, 1)
    with staff.application.sessions() as session:
        assert session.scalars(select(Story.page_due_at)).one() is None, "an address inside is not visited"


def test_hand_overs_lost_with_the_broker_are_asked_for_again(staff: Staff) -> None:
    due = readers(staff)
    staff.world.ready(SEND_AT)
    staff.tick()
    assert staff.waiting() == {SEND: 2}
    staff.broker.flushdb()
    staff.later(seconds=61)
    staff.tick()
    with staff.at_work():
        staff.finish(SEND, 2)
    assert taken(staff) == Counter(due)


def test_one_tick_asks_for_every_batch_that_is_due_however_many(staff: Staff, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "MOST_AT_ONCE", 1)
    readers(staff)
    staff.world.ready(SEND_AT)
    staff.tick()
    assert staff.waiting() == {SEND: 2}


def test_a_broker_that_is_gone_is_tried_once_in_a_tick(staff: Staff, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "MOST_AT_ONCE", 1)
    readers(staff)
    staff.world.ready(SEND_AT)
    gone = staff.application.settings.model_copy(update={"broker_url": f"redis://127.0.0.1:{free_port()}/0"})
    with closing(create_celery(gone)) as nowhere, structlog.testing.capture_logs() as logs:
        tasks.dispatch_batches(nowhere, staff.application, SEND_AT)
    assert [(line["event"], line["waiting"]) for line in logs] == [("broker_unreachable", 1)]


def test_messages_in_the_broker_hold_ids_and_no_address(staff: Staff) -> None:
    readers(staff)
    staff.world.ready(SEND_AT)
    staff.world.ask(SEND_AT, "new@example.com")
    staff.world.story(SEND_AT)
    staff.tick()
    messages = [json.loads(raw) for queue in staff.waiting() for raw in staff.broker.lrange(queue, 0, -1)]
    assert len(messages) == 3
    for message in messages:
        body = base64.b64decode(message["body"]).decode()
        assert message["content-type"] == "application/json"
        (argument,) = json.loads(body)[0]
        assert isinstance(argument, int)
        assert "example.com" not in json.dumps(message) + body


@pytest.fixture
def client(staff: Staff) -> TestClient:
    """A visitor of the site, whose letters are asked for through the broker."""
    site = create_app(staff.application, lambda letters: nudge(staff.celery, LETTERS, letters), lambda: staff.now)
    return TestClient(site, base_url="https://brief.example.com", follow_redirects=False)


def test_a_letter_goes_out_at_once_without_any_scheduler(staff: Staff, client: TestClient) -> None:
    with staff.at_work():
        assert client.post("/subscribe", data=FORM).status_code == 200
        staff.until(lambda: staff.provider.letters("reader@example.com") == ["confirm"])
    assert staff.done[f"digest.{TICK}"] == 0


def test_without_a_broker_the_visitor_is_answered_and_the_letter_waits_for_the_next_tick(staff: Staff) -> None:
    settings = staff.application.settings
    gone = settings.model_copy(update={"broker_url": f"redis://127.0.0.1:{free_port()}/0"})
    nowhere = create_celery(gone)
    site = create_app(staff.application, lambda letters: nudge(nowhere, LETTERS, letters), lambda: staff.now)
    with structlog.testing.capture_logs() as logs:
        answer = TestClient(site, base_url="https://brief.example.com").post("/subscribe", data=FORM)
    nowhere.close()
    assert answer.status_code == 200
    assert logs == [{"event": "broker_unreachable", "queue": LETTERS, "waiting": 1, "log_level": "warning"}]
    assert staff.provider.taken == []
    with staff.at_work():
        staff.publish(TICK)
        staff.until(lambda: staff.provider.letters() == ["confirm"])
    assert KEY not in str(logs)
