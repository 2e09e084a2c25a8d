"""A provider that stands for the ones on the internet and holds every caller to the protocol's words."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from digest.domain.delivery import DeliveryReason
from digest.domain.event import EventKind
from digest.ports import HandOver, Message, Recipient, Refusal

KEY = re.compile(r"[A-Za-z0-9-]{1,64}")
NO = Refusal(DeliveryReason.REFUSED, "550", bounce=EventKind.SOFT_BOUNCED)
SPECIAL_IN_HTML = frozenset("<>&\"' \t\r\n")


@dataclass(frozen=True, slots=True)
class Taken:
    """One message that the provider took for one reader."""

    at: datetime
    address: str
    key: str
    message: Message
    recipient: Recipient


@dataclass
class RecordingProvider:
    """Accepts what it is given, unless told otherwise by address.

    Attributes:
        refuses: never takes these.
        loses: takes these, and its answer is lost.
        busy: does not take these this time.
        after_seconds: how long it asks to wait.
        delayed: why it did not even try the busy ones.
        alarm: what it says when the operator has to act; nothing is taken then.
        meanwhile: runs while a hand-over is under way.
    """

    name: str = "recording"
    batch_size: int = 100
    refuses: set[str] = field(default_factory=set)
    loses: set[str] = field(default_factory=set)
    busy: set[str] = field(default_factory=set)
    after_seconds: float | None = None
    delayed: str = ""
    alarm: str = ""
    meanwhile: Callable[[], object] = lambda: None
    taken: list[Taken] = field(default_factory=list)
    calls: int = 0
    closed: bool = False

    def hand_over(self, message: Message, recipients: Sequence[Recipient], now: datetime) -> HandOver:
        self._check(message, recipients, now)
        self.calls += 1
        self.meanwhile()
        if self.alarm:
            return HandOver(again=frozenset(r.key for r in recipients), alarm=self.alarm)
        going = [r for r in recipients if r.address not in self.refuses | self.busy]
        self.taken += [Taken(now, r.address, r.key, message, r) for r in going]
        again = frozenset(r.key for r in recipients if r.address in self.busy)
        return HandOver(
            accepted=frozenset(r.key for r in going if r.address not in self.loses),
            refused={r.key: NO for r in recipients if r.address in self.refuses},
            unknown=frozenset(r.key for r in going if r.address in self.loses),
            again=again,
            receipt=f"receipt-{self.calls}",
            after_seconds=self.after_seconds if again else None,
            delayed=self.delayed if again else "",
        )

    def close(self) -> None:
        self.closed = True

    def _check(self, message: Message, recipients: Sequence[Recipient], now: datetime) -> None:
        assert not self.closed
        assert now.tzinfo is not None
        assert KEY.fullmatch(message.key)
        assert message.subject.strip()
        assert message.subject.isprintable()
        assert message.html.strip()
        assert message.text.strip()
        assert 0 < len(recipients) <= self.batch_size
        assert max(Counter(r.key for r in recipients).values()) == 1
        for name, marker in message.slots.items():
            assert marker.isascii()
            assert not SPECIAL_IN_HTML & set(marker)
            assert marker in message.html or marker in message.text, name
        for recipient in recipients:
            self._check_recipient(message, recipient)

    def _check_recipient(self, message: Message, recipient: Recipient) -> None:
        assert KEY.fullmatch(recipient.key)
        assert recipient.address not in recipient.key
        assert recipient.address.isascii()
        assert recipient.address.count("@") == 1
        assert set(message.slots) <= set(recipient.values)
        if message.kind == "brief":
            assert recipient.unsubscribe_url
            assert recipient.unsubscribe_url.startswith("https://")

    def briefs(self, address: str = "") -> list[Taken]:
        """The briefs taken, in order; of one reader where an address is given."""
        return [t for t in self.taken if t.message.kind == "brief" and address in {"", t.address}]

    def letters(self, address: str = "") -> list[str]:
        """The kinds of the letters taken, in order."""
        return [t.message.kind for t in self.taken if t.message.kind != "brief" and address in {"", t.address}]
