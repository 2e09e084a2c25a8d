"""What becomes of each recipient during one hand-over."""

from collections import Counter
from collections.abc import Iterable, Sequence

from digest.domain.delivery import DeliveryReason
from digest.ports import HandOver, Recipient, Refusal
from digest.providers.mailbox_syntax import mailbox_fault

LONGEST_HAND_OVER = 300.0
"""Seconds after which a hand-over starts nothing new; well under the lease of a batch."""
_LONGEST_RECEIPT = 200


class Tally:
    """Settles recipients one by one; whoever is left at the end was certainly not given and may be given again.

    Attributes:
        waiting: key -> recipient, of those not settled yet, in the order they are to be tried.
        after_seconds: how long the provider asks to wait.
        alarm: why the operator has to act; set it and stop.
        delayed: why whoever still waits was not even tried.
        answers: the provider's own codes -> how often each came.
    """

    def __init__(self, recipients: Sequence[Recipient]) -> None:
        self.waiting = {recipient.key: recipient for recipient in recipients}
        self.after_seconds: float | None = None
        self.alarm = ""
        self.delayed = ""
        self.answers: Counter[str] = Counter()
        self._accepted: set[str] = set()
        self._refused: dict[str, Refusal] = {}
        self._unknown: set[str] = set()
        self._again: set[str] = set()
        self._receipts: list[str] = []

    def refuse_unsendable(self) -> None:
        """Settle those whose address no mail server can be given: one such would spoil the answer for the others."""
        for recipient in list(self.waiting.values()):
            if fault := mailbox_fault(recipient.address):
                self.refuse(recipient, Refusal(DeliveryReason.INVALID_ADDRESS, fault))

    def accept(self, recipients: Iterable[Recipient], receipt: str = "") -> None:
        """The provider took these."""
        self._accepted.update(self._settled(recipients))
        if receipt:
            self._receipts.append(receipt)

    def refuse(self, recipient: Recipient, refusal: Refusal) -> None:
        """The provider will never take this one."""
        self._refused.update(dict.fromkeys(self._settled([recipient]), refusal))

    def lose(self, recipients: Iterable[Recipient]) -> None:
        """These were given and the answer did not come."""
        self._unknown.update(self._settled(recipients))

    def postpone(self, recipients: Iterable[Recipient]) -> None:
        """These were not taken and are not tried again in this hand-over."""
        self._again.update(self._settled(recipients))

    def move_to_end(self, recipient: Recipient) -> None:
        """Not taken; tried again after the others."""
        self.waiting[recipient.key] = self.waiting.pop(recipient.key)

    def delay(self, why: str, seconds: float) -> None:
        """Nobody is tried now, because of a wait that was asked for or a ceiling."""
        self.delayed, self.after_seconds = why, seconds

    def result(self) -> HandOver:
        """The outcome; every key given is in exactly one of the four."""
        return HandOver(
            accepted=frozenset(self._accepted),
            refused=dict(self._refused),
            unknown=frozenset(self._unknown),
            again=frozenset(self._again | self.waiting.keys()),
            receipt=",".join(self._receipts)[:_LONGEST_RECEIPT],
            after_seconds=self.after_seconds,
            alarm=self.alarm,
            delayed=self.delayed,
            answers=dict(self.answers),
        )

    def _settled(self, recipients: Iterable[Recipient]) -> list[str]:
        return [self.waiting.pop(recipient.key).key for recipient in recipients]
