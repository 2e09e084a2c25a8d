"""The SendGrid double on the command line, for a demonstration or a benchmark."""

import argparse
import json
import random
import time

from tests.doubles.sendgrid import KEY, Rates, SendGridDouble, Throttle
from tests.doubles.sendgrid_events import Reporter, Signer


def main() -> None:
    """Run until interrupted; with ``--events`` report what was taken every few seconds, signed."""
    given = _parser().parse_args()
    statuses = {int(status): float(rate) for status, _, rate in (one.partition(":") for one in given.fail)}
    chance = random.Random(given.seed)  # noqa: S311 # no secret
    rates = Rates(statuses, given.drop_before, given.drop_after, given.hang, given.delay, chance)
    throttle = Throttle(given.per_second) if given.per_second else None
    signer = Signer()
    with SendGridDouble(given.port, given.key, rates, throttle, keep=False) as double:
        _say(f"{double.host}/v3/mail/send takes mail; {double.host}/stats counts it. Ctrl-C ends.")
        if given.events:
            _say(f"DIGEST_SENDGRID_WEBHOOK_PUBLIC_KEY={signer.public}")
        reporter = Reporter(signer, given.events, twice=given.twice) if given.events else None
        try:
            while True:
                time.sleep(given.every)
                taken = double.pop_delivered()
                if reporter and taken:
                    _say(f"events answered {reporter.report(taken, time.time())}")
        except KeyboardInterrupt:
            _say(json.dumps(double.stats()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="A SendGrid of one's own on loopback.")
    parser.add_argument("--port", type=int, default=8026)
    parser.add_argument("--key", default=KEY)
    parser.add_argument("--fail", action="append", default=[], metavar="STATUS:RATE", help="e.g. 429:0.01")
    parser.add_argument("--drop-before", type=float, default=0.0, metavar="RATE")
    parser.add_argument("--drop-after", type=float, default=0.0, metavar="RATE")
    parser.add_argument("--hang", type=float, default=0.0, metavar="RATE", help="takes the mail and never answers")
    parser.add_argument("--delay", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--per-second", type=int, default=0, metavar="REQUESTS")
    parser.add_argument("--events", default="", metavar="URL", help="where signed events are posted to")
    parser.add_argument("--every", type=float, default=2.0, metavar="SECONDS", help="between two posts of events")
    parser.add_argument("--twice", type=float, default=0.1, metavar="RATE", help="events that come a second time")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def _say(words: str) -> None:
    print(words, flush=True)  # noqa: T201 # a command by hand


if __name__ == "__main__":
    main()
