"""What SendGrid tells afterwards: signed posts about every message it took."""

import base64
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from digest.providers.sendgrid_request import MESSAGE_ARGUMENT, RECIPIENT_ARGUMENT
from tests.doubles.sendgrid_events import Signer
from tests.faults.provider import Acceptance

Post = Callable[..., Any]
"""Sends a POST to a path of the site; ``content`` and ``headers`` by name."""
PAGE = 40
"""Events in one post. SendGrid's own hold more; small ones make more of an order that is none."""
TWICE = 10
"""One post of so many comes again."""


class Reporter:
    """SendGrid's event webhook with a key pair of its own."""

    def __init__(self, seed: int) -> None:
        self._signer = Signer()
        self._chance = random.Random(seed)  # noqa: S311 - only the order is drawn

    @property
    def public_key(self) -> str:
        """What the program is given to verify posts."""
        return self._signer.public

    def report(self, post: Post, taken: Iterable[Acceptance], event: str = "processed") -> None:
        """Post an event for each acceptance, in pages that come in any order, some of them twice."""
        pages = list(_pages(taken))
        pages += self._chance.sample(pages, k=len(pages) // TWICE)
        self._chance.shuffle(pages)
        for page in pages:
            body = json.dumps([_event(one, event) for one in page]).encode()
            answer = post("/webhooks/sendgrid", content=body, headers=self._signer.headers(body, datetime.now(UTC)))
            answer.raise_for_status()


def _pages(taken: Iterable[Acceptance]) -> Iterator[Sequence[Acceptance]]:
    rest = iter(taken)
    while page := list(islice(rest, PAGE)):
        yield page


def _event(one: Acceptance, event: str) -> dict[str, object]:
    return {
        "email": one.address,
        "event": event,
        "timestamp": int(one.at.timestamp()),
        "sg_event_id": base64.urlsafe_b64encode(f"{event}{one.key}{one.at.timestamp()}".encode()).decode(),
        "sg_message_id": f"{one.message}.{int(one.at.timestamp() * 1000)}",
        RECIPIENT_ARGUMENT: one.key,
        MESSAGE_ARGUMENT: one.message,
    }
