"""The SendGrid double itself: what it reports, and that it runs by hand as its page says."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import httpx2

from digest.ports import Message, Recipient, Sender
from digest.providers.sendgrid import SendGridProvider
from digest.providers.sendgrid_events import parse_events, verify_signature
from tests.doubles.listener import listening
from tests.doubles.sendgrid import KEY, SendGridDouble
from tests.doubles.sendgrid_events import SIGNATURE, TIMESTAMP, Reporter, Signer

Readers = Callable[..., list[Recipient]]
ROOT = Path(__file__).parents[2]


def test_events_come_signed_in_posts_of_a_size_out_of_order_and_some_twice(
    sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    everyone = readers(40, "bounce-1@example.com", "dropped-1@example.com", "complains-1@example.com")
    signer = Signer()
    with SendGridDouble() as double, closing(SendGridProvider(KEY, double.host, sender)) as provider:
        provider.hand_over(message, everyone, now)
        taken = double.pop_delivered()
    posts = list(Reporter(signer, "", twice=0.5, per_post=30).posts(taken, now.timestamp()))
    for body in posts:
        headers = signer.headers(body, now)
        assert verify_signature(body, headers[SIGNATURE], headers[TIMESTAMP], signer.public, now, timedelta(hours=1))
    entries = [entry for body in posts for entry in json.loads(body)]
    facts = [event for body in posts for event in parse_events(body, now)]
    assert [len(json.loads(body)) for body in posts[:-1]] == [30] * (len(posts) - 1)
    assert len(entries) > len({event.identifier for event in facts}) == 40 * 2 + 2 + 1 + 3
    assert len({entry["sg_event_id"] for entry in entries}) > len({event.identifier for event in facts})
    assert [event.occurred_at for event in facts] != sorted(event.occurred_at for event in facts)
    assert {event.recipient_key for event in facts} == {one.key for one in everyone}


def test_by_hand_it_takes_mail_counts_it_and_posts_what_became_of_it(
    sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    with listening() as webhook:
        command = [sys.executable, "-m", "tests.doubles.sendgrid_by_hand", "--port", "0", "--every", "0.1"]
        with subprocess.Popen(  # noqa: S603 # this interpreter and a module of these tests
            [*command, "--events", webhook.url], cwd=ROOT, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
        ) as process:
            assert process.stdout is not None
            try:
                host, key = (process.stdout.readline().strip() for _ in range(2))
                host = host.partition("/v3/")[0]
                with closing(SendGridProvider(KEY, host, sender)) as provider:
                    assert len(provider.hand_over(message, readers(3), now).accepted) == 3
                assert httpx2.get(f"{host}/stats").json()["recipients"] == 3
                assert process.stdout.readline() == "events answered [200]\n"
            finally:
                process.send_signal(signal.SIGINT)
            stats = json.loads(process.stdout.readline())
    (body,), (headers,) = webhook.bodies, webhook.headers
    signed = (headers[SIGNATURE.lower()], headers[TIMESTAMP.lower()], re.sub("^[A-Z_]+=", "", key))
    at = datetime.fromtimestamp(int(headers[TIMESTAMP.lower()]), now.tzinfo)
    assert verify_signature(body, *signed, at, timedelta(hours=1))
    assert (stats["recipients"], stats["twice"], process.returncode) == (3, 0, 0)
