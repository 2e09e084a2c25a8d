"""A morning through the SendGrid double that throttles, fails and forgets to answer, on a clock of the run's own.

The application is the product's: its import, scheduler, hand-over, webhook and readers of events. Only what lives on
the internet is a double. By hand: ``python -m tests.providers.morning --readers 50000``.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic

from fastapi.testclient import TestClient
from sqlalchemy import func, select

from digest.bootstrap import EVENT_READERS, Application, build, sender_of
from digest.domain.delivery import BatchState
from digest.domain.language import Language
from digest.domain.story import Story, StoryText
from digest.providers.sendgrid import SendGridProvider
from digest.settings import Settings
from digest.steps.collect_stories import import_stories
from digest.steps.import_subscribers import Defaults, import_subscribers
from digest.steps.record_posts import record_waiting
from digest.steps.take_turn import take_turn
from digest.store.database import migrate
from digest.store.tables import Batch
from digest.web.app import create_app
from digest.web.webhooks import PATH
from tests.doubles.sendgrid import KEY, Delivered, Rates, SendGridDouble
from tests.doubles.sendgrid_events import Reporter, Signer, event_about
from tests.providers.morning_verdict import Verdict, judge
from tests.servers import own_postgres_server

ZONE = "Asia/Shanghai"
SEND_AT = datetime(2027, 6, 10, 0, 0, tzinfo=UTC)
"""08:00 there."""
BAD = ("bounce-", "dropped-", "refused-")
"""How the addresses begin that are no good: two are found out by events, one in SendGrid's answer."""
OPEN = (BatchState.PLANNED, BatchState.READY, BatchState.SENDING)
SOON, LATER = timedelta(seconds=5), timedelta(minutes=15)


@dataclass(frozen=True)
class Options:
    """One run; shares lie between 0 and 1.

    Attributes:
        bad: of the readers, in turn of each kind in :data:`BAD`.
        busy: of the requests answered with 429.
        broken: of the requests answered with 500, and likewise with 502 without being taken.
        silent: of the requests that are taken and never answered.
        timeout: seconds that the provider waits for an answer.
    """

    readers: int = 50_000
    batch_size: int = 50
    bad: float = 0.02
    busy: float = 0.01
    broken: float = 0.005
    silent: float = 0.005
    timeout: float = 5.0
    seed: int = 1

    def address(self, number: int) -> str:
        """Of the reader of this number; the bad ones are spread evenly."""
        before, after = int(number * self.bad), int((number + 1) * self.bad)
        return f"{BAD[before % len(BAD)] if after > before else ''}reader{number}@example.com"


@dataclass
class Morning:
    """The installation, its SendGrid, and the time there."""

    options: Options
    application: Application
    double: SendGridDouble
    reporter: Reporter
    now: datetime = SEND_AT - timedelta(hours=1)
    turns: int = 0
    faults: list[str] = field(default_factory=list)
    lost: dict[int, int] = field(default_factory=dict)
    """Batches whose answer was lost -> at which try."""
    _held: list[bytes] = field(default_factory=list)
    _readers: list[Delivered] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._client = TestClient(create_app(self.application, lambda _: None, lambda: self.now))

    def fill(self) -> None:
        """The list and a story."""
        own, at = self.application, SEND_AT - timedelta(hours=2)
        texts = {tongue: StoryText("News", quick_answer="It happened.") for tongue in Language}
        story = Story("https://news.example.com/1", "Example News", Language.ENGLISH, at, texts)
        import_stories(own.sessions, own.editor, [story], at, enters=at)
        rows = enumerate(self._rows())
        imported = import_subscribers(own.sessions, rows, Defaults(Language.ENGLISH, ZONE), lambda _: [], at)
        assert imported.new == self.options.readers, imported.refused[:3]

    def run(self) -> None:
        """From the planning until nothing is open, or a while after the grace."""
        policy = self.application.settings.policy
        self.turn(SEND_AT - policy.lead)
        self.turn(SEND_AT)
        while (found := self.states()) and self.now < SEND_AT + policy.grace + timedelta(hours=1):
            self.turn(self.now + (SOON if set(found) & set(OPEN) else LATER))
        for _ in range(2):
            self.turn(self.now + SOON)  # the last reports come, some of them a turn late

    def turn(self, now: datetime) -> None:
        """What the scheduler does at ``now``, then what SendGrid reports of it."""
        self.now, own = now, self.application
        self.faults += record_waiting(own.sessions, EVENT_READERS, now)
        turn = take_turn(own.sessions, own.provider, own.press, own.settings.policy, now)
        self.faults += turn.faults + turn.alarms
        self.turns += 1
        with own.sessions() as session:
            unknown = select(Batch.id, Batch.attempts).where(Batch.state == BatchState.UNKNOWN)
            self.lost |= {batch_id: tries for batch_id, tries in session.execute(unknown) if batch_id not in self.lost}
        self._report(self.double.pop_delivered())

    def states(self) -> dict[BatchState, int]:
        """How many batches are in which of the states in which something is still to come."""
        counting = select(Batch.state, func.count()).where(Batch.state.in_([*OPEN, BatchState.UNKNOWN]))
        with self.application.sessions() as session:
            return dict(session.execute(counting.group_by(Batch.state)).all())

    def _rows(self) -> Iterator[dict[str, str]]:
        for number in range(self.options.readers):
            row = {"email": self.options.address(number), "language": ("en", "zh")[number % 2]}
            yield row | {"status": "active", "consent_source": "test list"}

    def _report(self, taken: list[Delivered]) -> None:
        """Every fourth post comes a turn late; somebody opens their mail at any time."""
        posts = list(self.reporter.posts(taken, self.now.timestamp()))
        self._readers = self._readers or taken[-20:]
        if self._readers:
            one = self._readers[self.turns % len(self._readers)]
            posts.append(json.dumps([event_about(one, {"event": "open"}, int(self.now.timestamp()))]).encode())
        for body in self._held + posts[1::4] + posts[2::4] + posts[3::4]:
            self._client.post(
                PATH, content=body, headers=self.reporter.signer.headers(body, self.now)
            ).raise_for_status()
        self._held = posts[::4]


@contextmanager
def morning(options: Options, database_url: str) -> Iterator[Morning]:
    """A filled installation before its morning."""
    chance = random.Random(options.seed)  # noqa: S311 - nothing secret is drawn
    rates = Rates({429: options.busy, 500: options.broken, 502: options.broken}, hang=options.silent, chance=chance)
    with ExitStack() as stack:
        double = stack.enter_context(SendGridDouble(rates=rates, keep=False))
        settings = Settings(
            _env_file=None,
            database_url=database_url,
            provider="sendgrid",
            base_url="http://testserver",
            batch_size=options.batch_size,
            secret_keys=["a-test-key-of-enough-length"],
            sendgrid_webhook_public_key=(signer := Signer()).public,
        )
        provider = SendGridProvider(KEY, double.host, sender_of(settings), timeout=options.timeout)
        application = stack.enter_context(closing(build(settings, provider)))
        migrate(application.engine)
        found = Morning(options, application, double, Reporter(signer, ""))
        found.fill()
        yield found


def live_through(options: Options, database_url: str) -> Verdict:
    """The morning, and what came of it."""
    began = monotonic()
    with morning(options, database_url) as found:
        found.run()
        return judge(found.application, found.double, found.lost, found.faults, found.now, monotonic() - began)


def main() -> int:
    """Run with the options of the command line, over a PostgreSQL of its own; 0 when all held."""
    parser = argparse.ArgumentParser(description="A morning through the SendGrid double.")
    for name, value in asdict(Options()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    options = Options(**vars(parser.parse_args()))
    with own_postgres_server([]) as address:
        verdict = live_through(options, address)
    sys.stdout.write(f"{json.dumps(asdict(options) | asdict(verdict), indent=1)}\n")
    return 0 if verdict.ok else 1


if __name__ == "__main__":
    sys.exit(main())
