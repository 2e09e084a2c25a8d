"""What every provider keeps to, whoever carries the mail. A new one joins with a rig of its own."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest

from digest.ports import HandOver, Message, Provider, Recipient, Sender
from digest.providers.fallback import Fallback
from digest.providers.outbox import FolderMailbox, OutboxProvider, Posted
from digest.providers.sendgrid import SendGridProvider
from digest.providers.smtp import SmtpProvider
from tests.doubles.sendgrid import KEY, Answer, SendGridDouble
from tests.doubles.smtp import SmtpDouble

Readers = Callable[..., list[Recipient]]
NEVER = -1


@dataclass
class Rig:
    """A provider with what it gives to, and the ways in which that can go wrong on purpose."""

    provider: Callable[[], Provider]
    counts: Callable[[], Counter[str]]
    throttle: Callable[[], None]
    silent_before: Callable[[], None]
    silent_after: Callable[[], None]
    die_half_way: Callable[[], None]
    heal: Callable[[], None]


@dataclass
class FlakyMailbox(FolderMailbox):
    """A folder that fails at the message of one number, before or after it kept it."""

    folder: Path
    at: int = NEVER
    keeps_first: bool = False
    puts: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def put(self, posted: Posted) -> None:
        self.puts += 1
        if self.puts != self.at + 1 or self.keeps_first:
            known = len(list(self.folder.glob("*.eml"))) if self.folder.exists() else 0
            super().put(posted)
            self.counts[posted.recipient.address] += len(list(self.folder.glob("*.eml"))) - known
        if self.puts == self.at + 1:
            raise TimeoutError("the folder does not answer")

    def fail(self, at: int, *, keeps_first: bool = False) -> None:
        self.at, self.keeps_first, self.puts = at, keeps_first, 0


@contextmanager
def outbox(sender: Sender, folder: Path) -> Iterator[Rig]:
    mailbox = FlakyMailbox(folder)
    provider = OutboxProvider(sender, mailbox)
    yield Rig(
        provider=lambda: provider,
        counts=lambda: mailbox.counts,
        throttle=lambda: mailbox.fail(0),
        silent_before=lambda: mailbox.fail(0),
        silent_after=lambda: mailbox.fail(0, keeps_first=True),
        die_half_way=lambda: mailbox.fail(2),
        heal=lambda: mailbox.fail(NEVER),
    )


def smtp_rig(provider: Provider, double: SmtpDouble) -> Rig:
    does = double.behaviour

    def heal() -> None:
        does.silent_at = ""
        does.recipients.clear()
        does.drop_after.clear()

    return Rig(
        provider=lambda: provider,
        counts=lambda: double.counts,
        throttle=lambda: does.recipients.update({f"reader{n}@example.org": "451 4.7.0 slow down" for n in range(5)}),
        silent_before=lambda: setattr(does, "silent_at", "rcpt"),
        silent_after=lambda: setattr(does, "silent_at", "end"),
        die_half_way=lambda: does.drop_after.add("reader2@example.org"),
        heal=heal,
    )


@contextmanager
def smtp(sender: Sender, _: Path) -> Iterator[Rig]:
    with ExitStack() as stack:
        double = stack.enter_context(SmtpDouble())
        provider = SmtpProvider(double.url, sender, timeout=0.3)
        stack.callback(provider.close)
        yield smtp_rig(provider, double)


@contextmanager
def sendgrid(sender: Sender, _: Path) -> Iterator[Rig]:
    with ExitStack() as stack:
        double = stack.enter_context(SendGridDouble())
        provider = SendGridProvider(KEY, double.host, sender, timeout=0.3)
        stack.callback(provider.close)
        yield Rig(
            provider=lambda: provider,
            counts=lambda: double.counts,
            throttle=lambda: double.script.append(Answer(429, headers={"Retry-After": "1"})),
            silent_before=lambda: double.script.append(Answer(drop="reading")),
            silent_after=lambda: double.script.append(Answer(hang=True)),
            die_half_way=lambda: double.script.append(Answer(drop="after")),
            heal=double.script.clear,
        )


@contextmanager
def fallback(sender: Sender, _: Path) -> Iterator[Rig]:
    """The first is SMTP and goes wrong; after that the second is in charge."""
    with ExitStack() as stack:
        first, second = stack.enter_context(SmtpDouble()), stack.enter_context(SendGridDouble())
        carrier = SmtpProvider(first.url, sender, timeout=0.3)
        both = Fallback(carrier, SendGridProvider(KEY, second.host, sender, timeout=5))
        stack.callback(both.close)
        rig = smtp_rig(carrier, first)
        rig.provider = both.in_charge
        rig.counts = lambda: first.counts + second.counts
        rig.heal = lambda: None
        yield rig


@pytest.fixture(params=[outbox, smtp, sendgrid, fallback], ids=lambda make: make.__name__)
def rig(request: pytest.FixtureRequest, sender: Sender, tmp_path: Path) -> Iterator[Rig]:
    with request.param(sender, tmp_path / "outbox") as found:
        yield found


@pytest.fixture
def give(rig: Rig, message: Message, now: datetime) -> Callable[[list[Recipient]], HandOver]:
    """A hand-over whose outcome is whole: every key in one of four, and nobody taken who is said not to be."""

    def hand_over(recipients: list[Recipient]) -> HandOver:
        before = set(rig.counts())
        given = rig.provider().hand_over(message, recipients, now)
        groups = [given.accepted, given.refused.keys(), given.unknown, given.again]
        assert sorted(key for group in groups for key in group) == sorted(one.key for one in recipients)
        taken = {one.key for one in recipients if one.address in set(rig.counts()) - before}
        assert given.accepted <= {one.key for one in recipients if one.address in rig.counts()}
        assert not taken & given.refused.keys()
        return given

    return hand_over


def again(recipients: list[Recipient], given: HandOver) -> list[Recipient]:
    return [one for one in recipients if one.key in given.again]


Give = Callable[[list[Recipient]], HandOver]


def test_everybody_is_accepted_and_taken_once(rig: Rig, give: Give, readers: Readers) -> None:
    assert len(give(readers(5)).accepted) == 5
    assert rig.counts() == {f"reader{number}@example.org": 1 for number in range(5)}


def test_one_refused_stops_no_other(rig: Rig, give: Give, readers: Readers) -> None:
    given = give(readers(4, "broken@"))
    assert (len(given.accepted), given.refused.keys()) == (4, {"4-20261202"})
    assert rig.counts().total() == 4


def test_all_refused_is_no_fault_of_the_provider(rig: Rig, give: Give, readers: Readers) -> None:
    given = give(readers(0, "broken@", "a..b@example.com", "@example.com"))
    assert (len(given.refused), given.alarm, rig.counts().total()) == (3, "", 0)


def test_who_is_throttled_may_be_given_again_and_is_taken_once(rig: Rig, give: Give, readers: Readers) -> None:
    everyone = readers(5)
    rig.throttle()
    given = give(everyone)
    assert (len(given.again), rig.counts().total()) == (5, 0)


@pytest.mark.parametrize("trouble", ["silent_before", "silent_after", "die_half_way"])
def test_whatever_happens_nobody_is_taken_twice_by_giving_again_whom_it_says(
    rig: Rig, give: Give, readers: Readers, trouble: str
) -> None:
    everyone = readers(5)
    getattr(rig, trouble)()
    given = give(everyone)
    assert len(given.accepted) < 5
    rig.heal()
    for _ in range(4):
        rest = again(everyone, given)
        given = give(rest) if rest else given
    assert set(rig.counts().values()) <= {1}


def test_closing_twice_does_no_harm(rig: Rig, give: Give, readers: Readers) -> None:
    give(readers(1))
    for _ in range(2):
        rig.provider().close()
