"""A list, its stories and its provider over one database, with the moments at which the steps run."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import select

from digest.domain.delivery import BatchState
from digest.domain.edition import Policy
from digest.domain.language import Language, language_choice
from digest.domain.schedule import EVERY_DAY, Cadence
from digest.domain.story import Story, StoryText
from digest.domain.subscriber import SubscriberState
from digest.steps.compile_briefs import Press, compile_brief
from digest.steps.manage_subscriptions import Confirmation, confirm
from digest.steps.plan_editions import Planned, plan_editions
from digest.steps.request_subscriptions import Request, request_subscription
from digest.steps.send_batches import Sent, send_batch
from digest.steps.take_turn import Turn, take_turn
from digest.store.cadences import cadence_id
from digest.store.collecting import save_story
from digest.store.database import Sessions
from digest.store.ledger import Entry, entries
from digest.store.sources import source_named
from digest.store.subscribers import Wishes, add
from digest.store.tables import Batch, Brief, Consent, Letter, Subscriber
from tests.steps.recording import RecordingProvider

EN, ZH = Language.ENGLISH, Language.CHINESE
LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)


def utc(text: str) -> datetime:
    """``2027-06-10T00:00`` as an instant."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class World:
    """What the steps work on."""

    sessions: Sessions
    press: Press
    provider: RecordingProvider = field(default_factory=RecordingProvider)
    policy: Policy = field(default_factory=Policy)
    stories: int = 0

    def reader(
        self,
        address: str = "reader@example.com",
        zone: str = "Asia/Shanghai",
        language: Language = EN,
        *,
        at: time = time(8),
        weekdays: int = EVERY_DAY,
        topics: str = "",
        both: bool = False,
        since: datetime = LONG_AGO,
    ) -> int:
        """An active reader as an import makes one; returns the id."""
        with self.sessions.begin() as session:
            languages = language_choice(language, is_both=both)
            wishes = Wishes(languages, cadence_id(session, Cadence(zone, at, weekdays), since), topics)
            reader = add(session, address, wishes, SubscriberState.ACTIVE, since)
            proof = {"source": "import", "requested_at": since, "confirmed_at": since}
            row = {"languages": languages, "cadence_id": wishes.cadence_id, "topics": topics}
            session.add(Consent(subscriber_id=reader.id, **proof, **row))
            return reader.id

    def own_window(self, subscriber_id: int, start: datetime) -> None:
        """Give a reader a window start of their own."""
        with self.sessions.begin() as session:
            session.get_one(Subscriber, subscriber_id).window_start_at = start

    def ask(
        self, now: datetime, address: str = "reader@example.com", zone: str = "Asia/Shanghai", language: Language = EN
    ) -> int:
        """Ask for a subscription; returns the id of the newest consent."""
        request_subscription(self.sessions, self.request(address, zone, language), [], now)
        with self.sessions() as session:
            return session.scalars(select(Consent.id).order_by(Consent.id.desc()).limit(1)).one()

    @staticmethod
    def request(address: str = "reader@example.com", zone: str = "Asia/Shanghai", language: Language = EN) -> Request:
        """A sign-up as the edge checked it."""
        return Request(address, language_choice(language), Cadence(zone, time(8)))

    def join(
        self, now: datetime, address: str = "reader@example.com", zone: str = "Asia/Shanghai", language: Language = EN
    ) -> int:
        """Sign up and confirm at one moment; returns the subscriber's id."""
        found = self.confirm(self.ask(now, address, zone, language), now)
        assert found.reader is not None
        return found.reader.id

    def letters(self) -> list[str]:
        """The kinds of all letters that were ever owed, in order."""
        with self.sessions() as session:
            return list(session.scalars(select(Letter.kind).order_by(Letter.id)))

    def confirm(self, consent_id: int, now: datetime) -> Confirmation:
        """The reader presses the button."""
        return confirm(self.sessions, consent_id, now)

    def story(
        self, at: datetime, title: str = "", *, language: Language = EN, topics: tuple[str, ...] = (), both: bool = True
    ) -> str:
        """A story published and seen at one moment, in both languages unless told otherwise; returns its title."""
        self.stories += 1
        words = title or f"Story {self.stories}"
        tongues = tuple(Language) if both else (language,)
        texts = {tongue: StoryText(words, quick_answer=f"{words}.") for tongue in tongues}
        url = f"https://news.example.com/{self.stories}"
        found = Story(url, f"Source {self.stories}", language, at, texts, topics)
        with self.sessions.begin() as session:
            save_story(session, source_named(session, found.source, at), found, at)
        return words

    def news(self, start: datetime, end: datetime, every: timedelta = timedelta(hours=6)) -> None:
        """A story every so often."""
        while start < end:
            self.story(start)
            start += every

    def plan(self, now: datetime) -> Planned:
        """One planning."""
        return plan_editions(self.sessions, now, self.policy, self.provider.batch_size)

    def compile(self, now: datetime) -> None:
        """Compile every planned brief."""
        with self.sessions() as session:
            ids = session.scalars(select(Brief.id)).all()
        for brief_id in ids:
            compile_brief(self.sessions, self.press, brief_id, now)

    def ready(self, send_at: datetime) -> list[int]:
        """Plan and compile just before ``send_at``; returns the ids of the batches."""
        self.plan(send_at - self.policy.lead)
        self.compile(send_at - self.policy.lead)
        return [batch.id for batch in self.batches() if batch.state is BatchState.READY]

    def send(self, batch_id: int, now: datetime) -> Sent:
        """One hand-over."""
        return send_batch(self.sessions, self.provider, self.press.links, self.policy, batch_id, now)

    def turn(self, now: datetime) -> Turn:
        """One turn of everything."""
        return take_turn(self.sessions, self.provider, self.press, self.policy, now)

    def turns(self, start: datetime, end: datetime, every: timedelta = timedelta(minutes=5)) -> None:
        """A turn every so often, both ends included."""
        while start <= end:
            self.turn(start)
            start += every

    def batches(self) -> list[Batch]:
        """Every batch by id."""
        with self.sessions() as session:
            return list(session.scalars(select(Batch).order_by(Batch.id)))

    def briefs(self) -> list[Brief]:
        """Every brief by id."""
        with self.sessions() as session:
            return list(session.scalars(select(Brief).order_by(Brief.id)))

    def subscriber(self, subscriber_id: int) -> Subscriber:
        """The row of a reader."""
        with self.sessions() as session:
            return session.get_one(Subscriber, subscriber_id)

    def ledger(self, address: str = "") -> list[Entry]:
        """The deliveries, oldest date first."""
        with self.sessions() as session:
            return sorted(entries(session, email=address), key=lambda entry: (entry.on, entry.email))

    def states(self, address: str = "") -> list[tuple[date, str, str | None]]:
        """Date, status and reason of the deliveries, oldest first."""
        return [(entry.on, entry.status, entry.reason) for entry in self.ledger(address)]

    def sent(self, address: str = "") -> list[tuple[datetime, date]]:
        """When each brief was taken, and which date it is for."""
        return [
            (t.at, datetime.strptime(t.key.rpartition("-")[2], "%Y%m%d").replace(tzinfo=UTC).date())
            for t in self.provider.briefs(address)
        ]
