"""A realistic day for the staff's pages: some thousand readers where readers live, the real pipeline, and a provider
that takes it all, loses one answer, and reports on nearly all; for half an hour nothing ran.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

from sqlalchemy import insert, select

from digest.bootstrap import Application, build
from digest.cli.world import make_news
from digest.domain.event import EventKind, ProviderEvent
from digest.domain.schedule import Cadence, sends_between
from digest.domain.source import after_failure
from digest.domain.subscriber import EndReason, SubscriberState
from digest.domain.suppression import SuppressionReason
from digest.ports import HandOver, Message, Recipient
from digest.settings import Settings
from digest.steps.count_mornings import count_mornings
from digest.steps.keep_sources import add_source
from digest.steps.record_events import record_events
from digest.steps.take_turn import take_turn
from digest.store.cadences import all_cadences, cadence_id
from digest.store.database import migrate
from digest.store.sources import health_of, set_health
from digest.store.subscribers import suppress
from digest.store.tables import Consent, Source, Subscriber

NOW = datetime(2026, 12, 2, 14, 20, tzinfo=UTC)
START = NOW - timedelta(hours=26)
READERS = 4000
SHARES = {
    "Asia/Shanghai": 34,
    "America/New_York": 11,
    "America/Los_Angeles": 9,
    "Europe/London": 8,
    "America/Chicago": 5,
    "Europe/Berlin": 5,
    "Asia/Singapore": 4,
    "Asia/Tokyo": 4,
    "Asia/Hong_Kong": 4,
    "Asia/Kolkata": 4,
    "Europe/Paris": 3,
    "Australia/Sydney": 3,
    "America/Toronto": 2,
    "America/Sao_Paulo": 2,
    "Asia/Taipei": 2,
    "Pacific/Auckland": 1,
    "Asia/Kathmandu": 0.4,
    "America/St_Johns": 0.3,
    "Africa/Lagos": 1,
    "Asia/Dubai": 1,
    "Pacific/Honolulu": 0.4,
}
"""Zone -> its share, in percent or so."""
OUTAGE = (datetime(2026, 12, 2, 12, 55, tzinfo=UTC), datetime(2026, 12, 2, 13, 25, tzinfo=UTC))
"""While nothing ran: New York's hour."""
LOST_AT = datetime(2026, 12, 2, 8, 0, tzinfo=UTC)
"""London's hour: one answer gets lost on the way."""


@dataclass
class Carrier:
    """Takes what it is given, loses the answer to one hand-over of London's hour, and says what became of all."""

    name: str = "sendgrid"
    batch_size: int = 100
    events: list[ProviderEvent] = field(default_factory=list)
    has_lost: bool = False

    def hand_over(self, message: Message, recipients: Sequence[Recipient], now: datetime) -> HandOver:
        keys = frozenset(recipient.key for recipient in recipients)
        if now >= LOST_AT and not self.has_lost and len(keys) > 3 and message.kind == "brief":
            self.has_lost = True
            for recipient in recipients[::2]:
                self.events += self._reports(recipient, now)
            return HandOver(unknown=keys)
        for recipient in recipients:
            self.events += self._reports(recipient, now)
        return HandOver(accepted=keys, receipt=blake2b(message.key.encode(), digest_size=8).hexdigest())

    def _reports(self, recipient: Recipient, now: datetime) -> Iterator[ProviderEvent]:
        number = int.from_bytes(blake2b(recipient.key.encode(), digest_size=4).digest()) % 1000
        kind, words = EventKind.DELIVERED, "250 2.0.0 OK"
        if number < 4:
            kind, words = EventKind.BOUNCED, "550 5.1.1 no such user"
        elif number < 10:
            kind, words = EventKind.SOFT_BOUNCED, "452 4.2.2 mailbox full"
        elif number < 12:
            kind, words = EventKind.BLOCKED, "554 5.7.1 message refused by policy"
        at = now + timedelta(seconds=2 + number % 50)
        yield ProviderEvent(
            self.name, f"{recipient.key}-{kind}", kind, at, recipient.key, recipient.address, words, "{}"
        )

    def close(self) -> None:
        """Nothing is held open."""


def make_day(database_url: str, **settings: object) -> Application:
    """The application of that day, at NOW."""
    values = {"database_url": database_url, "site_name": "The Daily Brief", "secret_keys": ["a-key-for-pictures-only"]}
    carrier = Carrier()
    app = build(Settings(_env_file=None, **values | settings), carrier)
    migrate(app.engine)
    make_news(app, START, NOW)
    make_list(app)
    for now in instants(app):
        if not OUTAGE[0] <= now < OUTAGE[1]:
            take_turn(app.sessions, carrier, app.press, app.settings.policy, now)
            carrier.events, told = [], carrier.events
            record_events(app.sessions, told, now + timedelta(minutes=1))
    make_sources(app)
    count_mornings(app.sessions, app.settings.policy, NOW)
    return app


def instants(app: Application) -> list[datetime]:
    """Every send instant, what lies a lead before it, and a few minutes after."""
    found = {NOW, *OUTAGE}
    with app.sessions() as session:
        cadences = [row.cadence for row in all_cadences(session)]
    for cadence in cadences:
        for send in sends_between(cadence, START, NOW):
            found |= {max(START, send.at - app.settings.policy.lead), send.at, send.at + timedelta(minutes=4)}
    return sorted(at for at in found if at <= NOW)


def make_list(app: Application) -> None:
    """Readers where readers live, each with a consent; a few are not active."""
    chance = random.Random(7)  # noqa: S311 - the same list each time
    long_ago = START - timedelta(days=60)
    with app.sessions.begin() as session:
        cadences = {zone: cadence_id(session, Cadence(zone), START) for zone in SHARES}
        rows = [_reader(number, cadences, chance) for number in range(READERS)]
        session.execute(insert(Subscriber), rows)
        asked = [
            {
                "subscriber_id": number + 1,
                "source": "form",
                "wording": f"2026-12-{row['languages']}",
                "languages": row["languages"],
                "cadence_id": row["cadence_id"],
                "topics": row["topics"],
                "remote": "192.0.2.17",
                "requested_at": long_ago,
                "confirmed_at": None if row["state"] is SubscriberState.PENDING else long_ago + timedelta(minutes=3),
            }
            for number, row in enumerate(rows)
        ]
        session.execute(insert(Consent), asked)
        for number in range(40, 52):
            suppress(session, f"reader{number}@example.com", SuppressionReason.COMPLAINED, START)


def _reader(number: int, cadences: dict[str, int], chance: random.Random) -> dict[str, object]:
    zone = chance.choices(list(SHARES), list(SHARES.values()))[0]
    is_chinese = chance.random() < (0.85 if zone in {"Asia/Shanghai", "Asia/Hong_Kong", "Asia/Taipei"} else 0.05)
    other = [SubscriberState.PENDING, SubscriberState.PAUSED, SubscriberState.ENDED]
    state = chance.choice(other) if chance.random() < 0.06 else SubscriberState.ACTIVE
    return {
        "email": f"reader{number}@example.com",
        "email_key": f"reader{number}@example.com",
        "state": state,
        "reason": EndReason.UNSUBSCRIBED if state is SubscriberState.ENDED else None,
        "languages": "zh" if is_chinese else "en",
        "cadence_id": cadences[zone],
        "topics": chance.choice(["", "", "", "chips,models", "agents"]),
        "active_from_at": START - timedelta(days=60),
        "created_at": START - timedelta(days=60),
        "changed_at": START - timedelta(days=20),
    }


def make_sources(app: Application) -> None:
    """Some feeds, of which one fails and one has gone."""
    for name in ("Harbour News", "City Science", "Chip Weekly"):
        add_source(
            app.sessions, f"https://{name.lower().replace(' ', '-')}.example.com/feed.xml", name, None, [], START
        )
    every = timedelta(minutes=15)
    with app.sessions.begin() as session:
        rows = {row.name: row for row in session.scalars(select(Source))}
        for name in ("Harbour News", "City Science", "Chip Weekly"):
            rows[name].fetched_at = NOW - timedelta(minutes=6)
            rows[name].fetch_after_at = NOW + timedelta(minutes=9)
        failing, gone = rows["City Science"], rows["Chip Weekly"]
        failing.error = "city-science.example.com answered 503: fetch it by hand, or ask its owner"
        for _ in range(4):
            set_health(failing, after_failure(health_of(failing), NOW - timedelta(hours=2), every))
        gone.error = "chip-weekly.example.com answered 410: it is gone for good"
        set_health(gone, after_failure(health_of(gone), NOW - timedelta(days=1), every, gone=True))
