"""A database that came back from a backup sends nobody a second brief."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
import redis
from sqlalchemy import delete, update

from digest.domain.delivery import BatchState
from digest.ports import TurnMark, Witness
from digest.steps.begin_turn import begin_turn
from digest.steps.take_turn import take_turn
from digest.store.tables import Batch, Delivery, Morning, Switch
from digest.store.turns import TICKED, last_turn, only_planner
from digest.witness import FileWitness, RedisWitness
from tests.steps.world import World, utc

SEND = utc("2027-06-10T00:00")
TENTH = date(2027, 6, 10)
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


@dataclass
class Memory:
    """A witness in this process."""

    kept: dict[str, TurnMark] = field(default_factory=dict)

    def recall(self, ledger: str) -> TurnMark | None:
        return self.kept.get(ledger)

    def remember(self, mark: TurnMark) -> None:
        self.kept[mark.ledger] = mark


@pytest.fixture
def memory() -> Memory:
    return Memory()


def turn(world: World, witness: Witness, now: datetime) -> list[str]:
    return take_turn(world.sessions, world.provider, world.press, world.policy, now, witness).alarms


def restore(world: World, now: datetime, *, planned: bool) -> None:
    """What a backup from before this morning's instant looks like: its turns and, unless planned, its rows are gone."""
    with world.sessions.begin() as session:
        session.execute(update(Switch).where(Switch.name == TICKED).values(value="1", changed_at=now))
        if planned:
            session.execute(
                update(Batch).where(Batch.state == BatchState.SENT).values(state=BatchState.READY, sent_at=None)
            )
            return
        for table in (Delivery, Batch, Morning):
            session.execute(delete(table))


@pytest.mark.parametrize("planned", [False, True], ids=["taken-before-the-lead", "taken-within-the-lead"])
def test_a_restored_ledger_says_unknown_of_what_it_forgot_and_sends_it_to_nobody(
    world: World, memory: Memory, *, planned: bool
) -> None:
    world.reader()
    world.story(SEND - timedelta(hours=2))
    turn(world, memory, SEND - timedelta(hours=1))
    turn(world, memory, SEND)
    assert len(world.provider.briefs()) == 1
    restore(world, SEND - 5 * MINUTE if planned else SEND - timedelta(hours=1), planned=planned)
    (alarm,) = turn(world, memory, SEND + 30 * MINUTE)
    assert "1 deliveries" in alarm
    assert turn(world, memory, SEND + 31 * MINUTE) == []
    assert world.states()[-1] == (TENTH, "unknown", "ledger_lost")
    assert len(world.provider.briefs()) == 1


def test_the_next_morning_goes_on_as_ever(world: World, memory: Memory) -> None:
    world.reader()
    world.story(SEND - timedelta(hours=2))
    turn(world, memory, SEND - timedelta(hours=1))
    turn(world, memory, SEND)
    restore(world, SEND - timedelta(hours=1), planned=False)
    turn(world, memory, SEND + 30 * MINUTE)
    world.story(SEND + timedelta(hours=2))
    turn(world, memory, SEND + DAY)
    assert [on for _, on in world.sent()] == [TENTH, TENTH + DAY]


def test_what_was_not_due_before_the_ledger_went_back_is_sent_as_ever(world: World, memory: Memory) -> None:
    world.reader()
    world.reader("berlin@example.com", "Europe/Berlin")
    world.story(SEND - timedelta(hours=2))
    turn(world, memory, SEND - timedelta(hours=1))
    turn(world, memory, SEND)
    restore(world, SEND - timedelta(hours=1), planned=False)
    turn(world, memory, SEND + timedelta(hours=6))
    assert world.states("berlin@example.com")[-1] == (TENTH, "sent", None)


def test_an_outage_is_no_restored_backup(world: World, memory: Memory) -> None:
    world.reader()
    world.story(SEND - timedelta(hours=2))
    turn(world, memory, SEND - timedelta(hours=1))
    assert turn(world, memory, SEND + timedelta(hours=3)) == []
    assert world.states()[-1] == (TENTH, "sent", None)


def test_a_clock_set_back_is_no_restored_backup(world: World, memory: Memory) -> None:
    world.reader()
    turn(world, memory, SEND - timedelta(hours=1))
    turn(world, memory, utc("2029-01-01T00:00"))
    world.story(SEND - timedelta(hours=2))
    assert turn(world, memory, SEND) == []
    assert world.states()[-1][:2] != (TENTH, "unknown")
    assert [on for _, on in world.sent()] == [TENTH]


def test_a_new_database_is_no_restored_backup(world: World, memory: Memory) -> None:
    memory.remember(TurnMark("another ledger", 900, SEND))
    world.reader()
    world.story(SEND - timedelta(hours=2))
    assert turn(world, memory, SEND) == []
    assert world.states()[-1] == (TENTH, "sent", None)


def test_turns_are_counted_up_whatever_the_clock_says(world: World, memory: Memory) -> None:
    for now in (SEND, SEND - DAY, SEND):
        begin_turn(world.sessions, world.policy, 10, memory, now)
    with world.sessions() as session:
        mark = last_turn(session)
    assert mark is not None
    assert (mark.turn, mark.at) == (3, SEND)
    assert memory.recall(mark.ledger) == mark


MARK = TurnMark("ledger", 7, SEND)


def test_a_file_remembers_one_ledgers_turn(tmp_path: Path) -> None:
    witness = FileWitness(tmp_path / "var" / "last_turn.json")
    assert witness.recall("ledger") is None
    witness.remember(MARK)
    assert witness.recall("ledger") == MARK
    assert witness.recall("another") is None
    assert [kept.name for kept in witness.place.parent.iterdir()] == ["last_turn.json"]


@pytest.mark.parametrize("broken", ["", "{", '{"turn": 3}', "[]"])
def test_a_broken_file_is_no_memory_and_is_mended_by_the_next_turn(tmp_path: Path, broken: str) -> None:
    witness = FileWitness(tmp_path / "last_turn.json")
    witness.place.write_text(broken, encoding="utf-8")
    assert witness.recall("ledger") is None
    witness.remember(MARK)
    assert witness.recall("ledger") == MARK


def test_a_place_that_cannot_be_written_stops_no_turn(tmp_path: Path) -> None:
    (tmp_path / "in-the-way").touch()
    witness = FileWitness(tmp_path / "in-the-way" / "last_turn.json")
    witness.remember(MARK)
    assert witness.recall("ledger") is None


def test_the_broker_remembers_each_ledgers_turn(redis_url: str) -> None:
    witness = RedisWitness(redis_url)
    witness.remember(MARK)
    assert witness.recall("ledger") == MARK
    assert witness.recall("another") is None
    with redis.Redis.from_url(redis_url) as client:
        client.flushdb()
    assert witness.recall("ledger") is None


def test_a_broker_that_is_away_stops_no_turn() -> None:
    witness = RedisWitness("redis://127.0.0.1:9/0")
    witness.remember(MARK)
    assert witness.recall("ledger") is None


def test_a_tick_that_comes_while_another_plans_passes_by_and_the_next_goes_over_it(shared_world: World) -> None:
    world = shared_world
    world.reader()
    world.story(SEND - timedelta(hours=2))
    with only_planner(world.sessions, wait=True) as first:
        assert first
        passed = begin_turn(world.sessions, world.policy, 10, None, SEND, wait=False)
    assert (passed.planned.deliveries, world.ledger()) == (0, [])
    assert begin_turn(world.sessions, world.policy, 10, None, SEND, wait=False).planned.deliveries == 1
