"""The SendGrid double as the harness needs it: slow to answer, forgetful of answers, and exact about what it took."""

import random
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message

from digest.providers.sendgrid_request import MESSAGE_ARGUMENT, RECIPIENT_ARGUMENT
from tests.doubles.sendgrid import Answer, Delivered, Rates, SendGridDouble
from tests.faults.options import Options


@dataclass(frozen=True)
class Acceptance:
    """One message taken: for whom, by the key of the delivery, and when."""

    key: str
    address: str
    message: str
    at: datetime


class FaultyProvider(SendGridDouble):
    """Counts what it takes, each reader by itself, and answers when and if it likes.

    Attributes:
        taken: every acceptance, in order.
        on_taken: called after an acceptance and before its answer, with how many have been taken so far.
    """

    def __init__(self, options: Options) -> None:
        chance = random.Random(options.seed)  # noqa: S311 - nothing secret is drawn
        statuses = {429: options.busy, 500: options.broken}
        super().__init__(rates=Rates(statuses, options.drop_before, options.drop_after, chance=chance), keep=False)
        self.taken: list[Acceptance] = []
        self.on_taken: Callable[[int], None] = lambda _: None
        self._delays = random.Random(options.seed + 1)  # noqa: S311 - likewise
        self._longest = options.answer
        self._noting = threading.Lock()

    def judge(self, headers: Message, body: bytes) -> Answer:
        """The API's answer, late; what it takes counts from the moment it is taken."""
        answer = super().judge(headers, body)
        with self._noting:
            delay = self._delays.uniform(0, self._longest)
            now, before = datetime.now(UTC), len(self.taken)
            self.taken += [_acceptance(one, now) for one in self.pop_delivered()]
            total = len(self.taken)
        if total > before:
            self.on_taken(total)
        self.ended.wait(delay)
        return answer

    def per_reader(self) -> Counter[str]:
        """How often each delivery was taken."""
        with self._noting:
            return Counter(one.key for one in self.taken)


def _acceptance(one: Delivered, now: datetime) -> Acceptance:
    return Acceptance(one.custom_args[RECIPIENT_ARGUMENT], one.address, one.custom_args[MESSAGE_ARGUMENT], now)
