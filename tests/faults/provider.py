"""The SendGrid double as the harness needs it: slow to answer, forgetful of answers, and exact about what it took."""

import json
import random
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from http import HTTPStatus
from time import monotonic

from tests.doubles.sendgrid import Answer, Rates, SendGridDouble
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
        super().__init__(rates=Rates(statuses, options.drop_before, options.drop_after, chance), keep=False)
        self.taken: list[Acceptance] = []
        self.on_taken: Callable[[int], None] = lambda _: None
        self._delays = random.Random(options.seed + 1)  # noqa: S311 - likewise
        self._longest = options.answer
        self._noting = threading.Lock()
        # Whoever was to hear the answer may have been killed; that is no fault of the server to be printed.
        self._server.handle_error = lambda *_: None

    def judge(self, headers: Message, body: bytes) -> Answer:
        """The API's answer, late; what it takes counts from the moment it is taken."""
        begun = monotonic()
        answer = super().judge(headers, body)
        with self._noting:
            delay = self._delays.uniform(0, self._longest)
            taken = self._note(body) if answer.status == HTTPStatus.ACCEPTED else 0
        if taken:
            self.on_taken(taken)
        self.ended.wait(max(0.0, delay - (monotonic() - begun)))
        return answer

    def _note(self, body: bytes) -> int:
        mail, now = json.loads(body), datetime.now(UTC)
        for one in mail["personalizations"]:
            named = mail.get("custom_args", {}) | one["custom_args"]
            (to,) = one["to"]
            self.taken.append(Acceptance(named["dg_recipient"], to["email"], named["dg_message"], now))
        return len(self.taken)

    def per_reader(self) -> Counter[str]:
        """How often each delivery was taken."""
        with self._noting:
            return Counter(one.key for one in self.taken)
