"""Nudges that must not keep anybody waiting."""

from queue import SimpleQueue
from threading import Event

from workers.nudges import MOST_WAITING, Nudges
from workers.queues import LETTERS


class Broker:
    """Takes nothing until it is let."""

    def __init__(self) -> None:
        self.asked: SimpleQueue[tuple[str, list[int]]] = SimpleQueue()
        self.opens = Event()

    def send_task(self, name: str, args: list[int]) -> None:
        self.opens.wait(10)
        self.asked.put((name, args))


def test_nudges_are_taken_at_once_however_slow_the_broker_and_a_crowd_s_are_left_to_the_tick() -> None:
    broker = Broker()
    nudges = Nudges(broker, LETTERS).start()
    nudges(range(10_000))
    assert broker.asked.empty()
    assert 0 < nudges.waiting <= MOST_WAITING
    broker.opens.set()
    passed_on = [broker.asked.get(timeout=10) for _ in range(3)]
    assert passed_on == [(f"digest.{LETTERS}", [number]) for number in range(3)]
