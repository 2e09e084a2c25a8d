"""SendGrid's Event Webhook: what became of what was taken, signed, in batches, out of order and now and then twice."""

import base64
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

import httpx2
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.doubles.sendgrid import Delivered

SIGNATURE, TIMESTAMP = (f"X-Twilio-Email-Event-Webhook-{name}" for name in ("Signature", "Timestamp"))
LONGEST_POST = 768_000
"""Bytes; SendGrid starts a new post there."""

FATES = {
    "bounce-": {"event": "bounce", "type": "bounce", "status": "5.1.1", "reason": "550 5.1.1 no such user"},
    "blocked-": {"event": "bounce", "type": "blocked", "status": "5.7.1", "reason": "550 5.7.1 our list"},
    "dropped-": {"event": "dropped", "reason": "Bounced Address"},
    "complains-": {"event": "spamreport"},
}
"""What becomes of an address that begins so; all others are delivered."""


class Signer:
    """SendGrid with a key pair of its own."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())

    @property
    def public(self) -> str:
        spki = serialization.PublicFormat.SubjectPublicKeyInfo
        der = self.key.public_key().public_bytes(serialization.Encoding.DER, spki)
        return base64.b64encode(der).decode()

    def headers(self, body: bytes, at: datetime | float) -> dict[str, str]:
        stamp = str(int(at if isinstance(at, float) else at.timestamp()))
        signature = self.key.sign(stamp.encode() + body, ec.ECDSA(hashes.SHA256()))
        return {SIGNATURE: base64.b64encode(signature).decode(), TIMESTAMP: stamp}


@dataclass
class Reporter:
    """Posts the events.

    Attributes:
        url: the webhook.
        twice: share of events that come again, some under another id.
        per_post: most events in one post.
    """

    signer: Signer
    url: str
    twice: float = 0.1
    per_post: int = 1000
    chance: random.Random = field(default_factory=lambda: random.Random(2))  # noqa: S311 # no secret is drawn

    def report(self, taken: Sequence[Delivered], at: float) -> list[int]:
        """Post everything about these; returns the statuses of the answers, without whose 200 SendGrid would repeat."""
        with httpx2.Client() as client:
            return [
                client.post(self.url, content=body, headers=self.signer.headers(body, at)).status_code
                for body in self.posts(taken, at)
            ]

    def posts(self, taken: Sequence[Delivered], at: float) -> Iterator[bytes]:
        """The bodies: shuffled events, some twice, each post within SendGrid's size."""
        events = [event for one in taken for event in events_of(one, int(at))]
        again = [event for event in events if self.chance.random() < self.twice]
        events += [event | {"sg_event_id": f"again{self.chance.getrandbits(60)}"} for event in again[::2]] + again[1::2]
        self.chance.shuffle(events)
        for start in range(0, len(events), self.per_post):
            lines = ",\r\n".join(json.dumps(event) for event in events[start : start + self.per_post])
            body = f"[{lines}]\r\n".encode()
            assert len(body) <= LONGEST_POST
            yield body


def events_of(one: Delivered, at: int) -> list[dict[str, Any]]:
    """The life of one message, in order."""
    fate = next((fate for start, fate in FATES.items() if one.address.startswith(start)), None)
    delivered: dict[str, Any] = {"event": "delivered", "response": "250 OK"}
    steps: list[dict[str, Any]] = [{"event": "processed"}, fate or delivered]
    if fate and fate["event"] == "spamreport":
        steps.insert(1, delivered)
    if fate and fate["event"] == "dropped":
        steps = [fate]
    return [event_about(one, step, at + number) for number, step in enumerate(steps)]


def event_about(one: Delivered, step: Mapping[str, Any], at: int) -> dict[str, Any]:
    """One event: what ``step`` says, and what SendGrid says of every message."""
    name = sha256(f"{one.request}{one.address}{step['event']}".encode()).hexdigest()[:22]
    common = {"email": one.address, "timestamp": at, "sg_event_id": name, "sg_message_id": f"{one.request}.filter0"}
    return {**common, **one.custom_args, **step, "category": one.mail.get("categories", [])}
