"""One turn does whatever is due, in one process or in several at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from threading import Barrier

import pytest
from sqlalchemy import select

from digest.domain.delivery import BatchState
from digest.domain.language import Language
from digest.ports import Message
from digest.steps import compile_briefs
from digest.steps import take_turn as module
from digest.steps.send_batches import MOST_ATTEMPTS
from digest.steps.take_turn import Turn
from digest.store.audit import audit
from digest.store.tables import Switch
from digest.store.turns import TICKED
from tests.steps.recording import RecordingProvider
from tests.steps.world import ZH, World, utc

SEND = utc("2027-06-10T00:00")
TENTH = date(2027, 6, 10)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def test_a_turn_at_the_instant_does_everything_that_is_still_to_do(world: World) -> None:
    world.reader("a@example.com")
    world.reader("b@example.com", language=ZH)
    world.turn(SEND - DAY)
    world.story(SEND - HOUR)
    turn = world.turn(SEND)
    assert (turn.planned, turn.sent, len(turn.editions), turn.failed, turn.unknown) == (2, 2, 1, 0, 0)


def test_a_turn_counts_what_became_of_each(world: World) -> None:
    for name in ("sent", "refused", "lost", "busy"):
        world.reader(f"{name}@example.com")
    world.reader("nothing@example.com", topics="chips")
    world.turn(SEND - DAY)
    world.story(SEND - HOUR)
    world.provider.refuses, world.provider.loses = {"refused@example.com"}, {"lost@example.com"}
    world.provider.busy = {"busy@example.com"}
    turn = world.turn(SEND)
    assert (turn.sent, turn.failed, turn.unknown, turn.skipped) == (1, 1, 1, {"nothing_new": 1})
    assert world.turn(SEND + timedelta(minutes=1)).planned == 0


def test_missed_mornings_are_counted_as_skipped(world: World) -> None:
    world.reader()
    world.turn(utc("2027-06-08T01:00"))
    assert world.turn(SEND + HOUR).skipped["missed"] == 1


def test_a_zone_that_is_unknown_is_named(world: World) -> None:
    world.reader(zone="Mars/Olympus_Mons")
    assert world.turn(SEND).unknown_zones == ["Mars/Olympus_Mons"]


def test_an_alarm_is_passed_on_and_ends_the_sending(world: World) -> None:
    world.provider.batch_size = 1
    for number in range(3):
        world.reader(f"r{number}@example.com")
    world.turn(SEND - DAY)
    world.story(SEND - HOUR)
    world.provider.alarm = "401"
    turn = world.turn(SEND)
    assert ([alarm.split(";")[0] for alarm in turn.alarms], world.provider.calls) == (["sending stopped: 401"], 1)


def test_more_than_a_page_is_dealt_with_in_one_turn(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE", 2)
    world.provider.batch_size = 1
    for number in range(7):
        world.reader(f"r{number}@example.com", topics=f"topic{number % 5}")
    world.turn(SEND - DAY)
    for number in range(5):
        world.story(SEND - HOUR, topics=(f"topic{number}",))
    assert world.turn(SEND).sent == 7


def test_a_turn_leaves_its_mark(world: World) -> None:
    world.turn(SEND)
    world.turn(SEND + HOUR)
    with world.sessions() as session:
        assert session.scalars(select(Switch.changed_at).where(Switch.name == TICKED)).one() == SEND + HOUR


def test_the_stories_of_a_brief_that_never_got_through_are_in_the_next_one(world: World) -> None:
    reader = world.reader()
    world.turn(SEND - DAY)
    title = world.story(SEND - HOUR)
    world.provider.busy = {"reader@example.com"}
    now = SEND
    for _ in range(MOST_ATTEMPTS):
        world.turn(now)
        now += timedelta(minutes=20)
    assert world.states()[-1] == (TENTH, "failed", "tried_out")
    world.provider.busy = set()
    world.turn(SEND + DAY)
    assert title in world.provider.briefs()[-1].message.text
    assert world.subscriber(reader).window_start_at is None


def test_a_reader_gets_each_story_once_over_a_week_of_troubles(world: World) -> None:
    """Late, missed and quiet mornings in a row: what was published between two briefs is in the later one."""
    world.reader()
    world.turn(SEND - DAY)
    titles = []
    for day in range(6):
        titles.append(world.story(SEND + day * DAY - HOUR, f"Item number {day}."))
        if day in {1, 2}:
            continue
        world.provider.busy = {"reader@example.com"} if day == 3 else set()
        world.turns(SEND + day * DAY, SEND + day * DAY + 5 * HOUR, HOUR)
    texts = [t.message.text for t in world.provider.briefs()]
    assert [sum(title in text for text in texts) for title in titles] == [1] * 6


@pytest.mark.parametrize("processes", [10])
def test_turns_at_the_same_moment_give_each_reader_one(shared_world: World, processes: int) -> None:
    world = shared_world
    world.provider.batch_size = 7
    for number in range(30):
        world.reader(f"r{number}@example.com", ("Asia/Shanghai", "Asia/Singapore")[number % 2])
    world.turn(SEND - DAY)
    world.story(SEND - HOUR)
    start = Barrier(processes)

    def turn() -> tuple[Turn, RecordingProvider]:
        own = World(world.sessions, world.press, RecordingProvider(batch_size=7))
        start.wait(20)
        return own.turn(SEND), own.provider

    with ThreadPoolExecutor(processes) as pool:
        done = [future.result(60) for future in [pool.submit(turn) for _ in range(processes)]]
    late = world.turn(SEND + timedelta(minutes=1))
    addresses = [t.address for _, provider in done for t in provider.briefs()] + [
        t.address for t in world.provider.briefs()
    ]
    assert sorted(addresses) == sorted({f"r{number}@example.com" for number in range(30)})
    assert sum(turn.sent for turn, _ in done) + late.sent == 30
    assert {batch.state for batch in world.batches() if batch.not_before_at == SEND} == {BatchState.SENT}
    with world.sessions() as session:
        assert [check.name for check in audit(session, SEND + DAY) if not check.ok] == []


def test_a_brief_that_cannot_be_rendered_is_reported_and_stops_no_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.reader("en@example.com", language=Language.ENGLISH)
    world.reader("zh@example.com", language=Language.CHINESE)
    world.news(SEND - timedelta(days=1), SEND)
    render = compile_briefs.render_brief

    def fails_in_english(*arguments: object, language: Language, **named: object) -> Message:
        if language is Language.ENGLISH:
            raise ValueError("a template that fails")
        return render(*arguments, language=language, **named)

    monkeypatch.setattr(compile_briefs, "render_brief", fails_in_english)
    turn = world.turn(SEND)
    assert turn.sent == 1
    assert len(turn.faults) == 1
    assert "a template that fails" in turn.faults[0]
