"""Letters that people wait for."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from digest.domain.delivery import BatchState
from digest.steps.manage_subscriptions import unsubscribe
from digest.steps.request_subscriptions import request_subscription
from digest.steps.send_letters import MOST_ATTEMPTS, send_letter
from digest.store.letters import take_letters
from digest.store.tables import Letter
from tests.steps.world import ZH, World, utc

NOW = utc("2027-06-09T10:00")
HOUR = timedelta(hours=1)


def letters(world: World) -> list[Letter]:
    with world.sessions() as session:
        return list(session.scalars(select(Letter).order_by(Letter.id)))


def send(world: World, letter_id: int, now: datetime = NOW) -> BatchState | None:
    return send_letter(world.sessions, world.provider, world.press, letter_id, now)


def test_each_letter_of_a_life_goes_out_once(world: World) -> None:
    reader = world.join(NOW)
    world.turn(NOW)
    request_subscription(world.sessions, world.request(), [], NOW)
    world.turn(NOW)
    unsubscribe(world.sessions, reader, NOW)
    world.turns(NOW, NOW + HOUR)
    assert world.provider.letters() == ["confirm", "welcome", "already_subscribed", "goodbye"]


def test_the_confirmation_is_in_the_language_asked_for_and_leads_to_its_consent(world: World) -> None:
    consent = world.ask(NOW, language=ZH)
    assert send(world, 1) is BatchState.SENT
    (taken,) = world.provider.taken
    assert taken.message.language is ZH
    assert world.press.links.confirm(consent, NOW) in taken.message.html
    assert taken.recipient.unsubscribe_url is None


def test_a_welcome_carries_the_one_click_way_out(world: World) -> None:
    reader = world.join(NOW)
    send(world, 2)
    assert world.provider.taken[-1].recipient.unsubscribe_url == world.press.links.unsubscribe(reader)


def test_a_welcome_brings_stories_that_the_first_brief_does_not_bring_again(world: World) -> None:
    old = world.story(utc("2027-06-08T12:00"))
    world.join(NOW)
    new = world.story(NOW + HOUR)
    world.turn(NOW + HOUR)
    world.turn(utc("2027-06-10T00:00"))
    welcome = next(t.message.text for t in world.provider.taken if t.message.kind == "welcome")
    brief = world.provider.briefs()[-1].message.text
    assert [old in welcome, new in welcome, old in brief, new in brief] == [True, False, False, True]


def test_a_welcome_to_someone_who_left_meanwhile_is_not_written(world: World) -> None:
    reader = world.join(NOW)
    unsubscribe(world.sessions, reader, NOW)
    assert send(world, 2) is BatchState.SKIPPED


def test_a_letter_is_sent_by_one_worker(world: World) -> None:
    world.ask(NOW)
    results: list[BatchState | None] = []
    world.provider.meanwhile = lambda: results.append(send(world, 1))
    assert send(world, 1) is BatchState.SENT
    assert (results, send(world, 1)) == ([None], None)
    assert len(world.provider.taken) == 1


def test_a_letter_that_was_not_taken_waits_and_is_given_up_at_last(world: World) -> None:
    world.ask(NOW)
    world.provider.busy = {"reader@example.com"}
    now, waits = NOW, []
    for _ in range(MOST_ATTEMPTS):
        send(world, 1, now)
        waits.append((letters(world)[0].not_before_at - now).total_seconds())
        now = max(letters(world)[0].not_before_at, now + timedelta(seconds=1))
    assert waits[:4] == [10, 20, 40, 80]
    assert letters(world)[0].state is BatchState.FAILED


def test_the_provider_says_how_long_a_letter_waits(world: World) -> None:
    world.ask(NOW)
    world.provider.busy, world.provider.after_seconds = {"reader@example.com"}, 300
    send(world, 1)
    assert letters(world)[0].not_before_at == NOW + timedelta(seconds=300)


@pytest.mark.parametrize(("how", "state"), [("refuses", BatchState.FAILED), ("loses", BatchState.UNKNOWN)])
def test_a_refused_or_lost_letter_is_not_sent_again(world: World, how: str, state: BatchState) -> None:
    world.ask(NOW)
    setattr(world.provider, how, {"reader@example.com"})
    assert send(world, 1) is state
    assert send(world, 1, NOW + HOUR) is None


def test_letters_asked_for_rest_a_while(world: World) -> None:
    world.ask(NOW)
    rest = timedelta(minutes=1)
    for moment, found in ((NOW, [1]), (NOW + rest / 2, []), (NOW + rest, [1])):
        with world.sessions.begin() as session:
            assert take_letters(session, moment, rest, 10) == found
