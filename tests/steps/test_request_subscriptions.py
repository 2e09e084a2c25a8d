"""Asking for a subscription: what it leaves and whom it writes to, however often and by whichever way."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import event, func, select

from digest.domain.subscriber import SubscriberState
from digest.domain.suppression import SuppressionReason
from digest.steps.read_subscribers import find_by_address, find_reader
from digest.steps.request_subscriptions import request_subscription
from digest.store.subscribers import suppress, suppress_hash
from digest.store.tables import Consent, Letter, Subscriber
from tests.steps.world import EN, ZH, World, utc

NOW = utc("2027-06-09T10:00")
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def count(world: World, table: type[Subscriber] | type[Consent]) -> int:
    with world.sessions() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def test_asking_stores_a_pending_reader_and_owes_a_confirmation(world: World) -> None:
    world.ask(NOW)
    reader = find_by_address(world.sessions, "READER@example.com ", NOW)
    assert reader is not None
    assert (reader.state, reader.next_send) == (SubscriberState.PENDING, None)
    assert world.letters() == ["confirm"]


def test_a_few_confirmations_an_hour_and_a_few_more_a_day(world: World) -> None:
    for number in range(10):
        world.ask(NOW + number * MINUTE)
    assert world.letters() == ["confirm"] * 3
    for hour in range(1, 23):
        world.ask(NOW + hour * HOUR)
    assert world.letters() == ["confirm"] * 6
    world.ask(NOW + 2 * DAY)
    assert world.letters() == ["confirm"] * 7
    assert count(world, Subscriber) == 1


def test_an_active_reader_is_told_so_once_a_day(world: World) -> None:
    world.join(NOW)
    for number in range(4):
        request_subscription(world.sessions, world.request(), [], NOW + number * HOUR)
    assert world.letters() == ["confirm", "welcome", "already_subscribed"]
    request_subscription(world.sessions, world.request(), [], NOW + DAY + HOUR)
    assert world.letters()[-2:] == ["already_subscribed"] * 2


def test_asking_again_changes_nothing_for_an_active_reader(world: World) -> None:
    reader = world.join(NOW)
    request_subscription(world.sessions, world.request(zone="Europe/Berlin", language=ZH), [], NOW + HOUR)
    found = find_reader(world.sessions, reader, NOW)
    assert found is not None
    assert (found.language, found.cadence.timezone) == (EN, "Asia/Shanghai")


@pytest.mark.parametrize("barred", ["clear", "hash"])
def test_a_barred_address_gets_nothing_and_leaves_nothing(world: World, barred: str) -> None:
    world.ask(NOW, "another@example.com")
    with world.sessions.begin() as session:
        if barred == "clear":
            suppress(session, "Reader@example.com", SuppressionReason.COMPLAINED, NOW)
        else:
            suppress_hash(session, "f" * 64, NOW)
    assert request_subscription(world.sessions, world.request(), ["e" * 64, "f" * 64], NOW) == []
    assert (count(world, Subscriber), world.letters()) == (1, ["confirm"])


def test_a_stranger_whose_cadence_is_known_leaves_the_rows_of_the_first_one_in_one_statement(
    shared_world: World,
) -> None:
    sessions, statements = shared_world.sessions, list[str]()
    wanted = replace(shared_world.request(language=ZH), topics="chips", source="embed", wording="v", remote="192.0.2.1")
    request_subscription(sessions, replace(wanted, address="first@example.com"), [], NOW)
    with sessions() as session:
        event.listen(session.get_bind(), "before_cursor_execute", lambda *given: statements.append(given[2]))
    assert len(request_subscription(sessions, replace(wanted, address="second@example.com"), [], NOW)) == 1
    assert len(statements) == 1
    with sessions() as session:
        for table in (Subscriber, Consent, Letter):
            first, second = session.execute(select(table.__table__).order_by(table.id)).mappings()
            different = {name for name in first if first[name] != second[name]}
            assert different == {"id", "email", "email_key", "subscriber_id", "consent_id"} & set(first)
