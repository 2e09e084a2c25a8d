"""Who is in charge when, and that a change of hands can't send twice."""

from collections.abc import Sequence
from datetime import datetime

import pytest

from digest.ports import HandOver, Message, Recipient
from digest.providers.fallback import FRUITLESS, PROBE_AFTER, Fallback

NOBODY_TAKEN = HandOver(again=frozenset({"1"}))
TAKEN = HandOver(accepted=frozenset({"1"}))


class Scripted:
    """A provider that answers what it is told to."""

    def __init__(self, name: str, batch_size: int) -> None:
        self.name, self.batch_size = name, batch_size
        self.answer = TAKEN
        self.asked = 0
        self.closed = False

    def hand_over(self, message: Message, recipients: Sequence[Recipient], now: datetime) -> HandOver:  # noqa: ARG002 # the protocol's
        self.asked += 1
        return self.answer

    def close(self) -> None:
        self.closed = True


class Desk:
    """A fallback over two such, and a stopwatch that tests move."""

    def __init__(self, message: Message, now: datetime) -> None:
        self.first, self.second, self.seconds = Scripted("smtp", 50), Scripted("sendgrid", 1000), 0.0
        self.fallback = Fallback(self.first, self.second, lambda: self.seconds)
        self._message, self._now = message, now

    @property
    def name(self) -> str:
        return self.fallback.in_charge().name

    def give(self, answer: HandOver) -> HandOver:
        self.first.answer = answer
        return self.fallback.in_charge().hand_over(self._message, [], self._now)


@pytest.fixture
def desk(message: Message, now: datetime) -> Desk:
    return Desk(message, now)


def test_the_first_is_in_charge_while_it_takes_somebody(desk: Desk) -> None:
    partly = HandOver(accepted=frozenset({"1"}), again=frozenset({"2"}))
    for _ in range(10):
        desk.give(partly)
    assert desk.name == "smtp"


def test_the_second_takes_over_after_hand_overs_that_took_nobody(desk: Desk) -> None:
    names = []
    for _ in range(FRUITLESS + 1):
        names.append(desk.name)
        desk.give(NOBODY_TAKEN)
    assert names == ["smtp"] * FRUITLESS + ["sendgrid"]


def test_a_success_between_sets_the_count_back(desk: Desk) -> None:
    for answer in (NOBODY_TAKEN, NOBODY_TAKEN, TAKEN, NOBODY_TAKEN, NOBODY_TAKEN):
        desk.give(answer)
    assert desk.name == "smtp"


@pytest.mark.parametrize(
    "answer",
    [
        HandOver(unknown=frozenset({"1"})),
        HandOver(unknown=frozenset({"1"}), again=frozenset({"2"})),
        HandOver(again=frozenset({"1"}), delayed="a ceiling"),
    ],
    ids=["unknown", "unknown and again", "delayed"],
)
def test_doubt_and_ceilings_change_no_hands(desk: Desk, answer: HandOver) -> None:
    for _ in range(10):
        desk.give(answer)
    assert desk.name == "smtp"


def test_an_alarm_of_the_first_hands_over_at_once_and_does_not_stop_the_sending(desk: Desk) -> None:
    given = desk.give(HandOver(again=frozenset({"1"}), alarm="535 refused"))
    assert (given.alarm, given.again, given.after_seconds) == ("", {"1"}, 1.0)
    assert given.delayed == "sendgrid takes over: 535 refused"
    assert desk.name == "sendgrid"


def test_an_alarm_of_the_second_stops_the_sending(desk: Desk) -> None:
    desk.give(HandOver(again=frozenset({"1"}), alarm="535 refused"))
    desk.second.answer = HandOver(again=frozenset({"1"}), alarm="401 refused")
    assert desk.give(TAKEN).alarm == "401 refused"


def test_one_hand_over_tries_the_first_again_and_its_success_gives_back(desk: Desk) -> None:
    desk.give(HandOver(again=frozenset({"1"}), alarm="535 refused"))
    desk.seconds = PROBE_AFTER
    probe = desk.fallback.in_charge()
    assert (probe.name, desk.name) == ("smtp", "sendgrid")
    desk.seconds = 2 * PROBE_AFTER
    desk.give(TAKEN)
    assert desk.name == "smtp"


def test_a_try_that_fails_leaves_the_second_in_charge(desk: Desk) -> None:
    desk.give(HandOver(again=frozenset({"1"}), alarm="535 refused"))
    desk.seconds = PROBE_AFTER
    desk.give(NOBODY_TAKEN)
    assert desk.name == "sendgrid"


def test_a_hand_over_goes_to_whom_its_batch_was_claimed_for_even_if_hands_change_meanwhile(desk: Desk) -> None:
    claimed = desk.fallback.in_charge()
    desk.give(HandOver(again=frozenset({"1"}), alarm="535 refused"))
    asked = desk.first.asked
    claimed.hand_over(desk._message, [], desk._now)  # noqa: SLF001 # the test's own
    assert (desk.first.asked, desk.second.asked) == (asked + 1, 0)


def test_each_is_given_batches_of_its_own_size(desk: Desk) -> None:
    assert desk.fallback.in_charge().batch_size == 50
    desk.give(HandOver(again=frozenset({"1"}), alarm="535 refused"))
    assert desk.fallback.in_charge().batch_size == 1000


def test_closing_closes_both(desk: Desk) -> None:
    desk.fallback.close()
    assert desk.first.closed
    assert desk.second.closed
