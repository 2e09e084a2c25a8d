"""A stretch of world time with a moved clock: real scheduler, compiler and provider code, and a mailbox that counts."""

import time as stopwatch
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import Select, func, select

from digest.bootstrap import Application
from digest.domain.edition import Policy
from digest.domain.schedule import Send, sends_between
from digest.domain.subscriber import SubscriberState
from digest.providers.outbox import Posted
from digest.steps.take_turn import take_turn
from digest.store.cadences import all_cadences
from digest.store.ledger import count_by_zone
from digest.store.tables import Batch, Brief, CadenceRow, Delivery, Edition, Subscriber

STEP = timedelta(minutes=5)
"""How often the simulated scheduler looks, beside the instants at which something is due."""
Key = tuple[int, date]


@dataclass(slots=True)
class CountingMailbox:
    """Keeps what a provider accepted: who, for which date, when. The message itself was really built."""

    accepted: dict[Key, datetime] = field(default_factory=dict)
    times: Counter[Key] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    wrong_language: int = 0
    expected_language: dict[int, str] = field(default_factory=dict)

    def put(self, posted: Posted) -> None:
        """Count the message."""
        subscriber, _, on = posted.recipient.key.partition("-")
        key = (int(subscriber), date.fromisoformat(on))
        self.accepted.setdefault(key, posted.at)
        self.times[key] += 1
        language = posted.message.language.value
        self.languages[language] += 1
        self.wrong_language += language != self.expected_language[key[0]]


@dataclass(frozen=True, slots=True)
class Due:
    """A reader's send as the schedule alone says it."""

    send: Send
    zone: str


def run(app: Application, start: datetime, end: datetime) -> None:
    """Move the clock from ``start`` to ``end`` and take a turn at every step and every instant of the schedule."""
    with app.sessions() as session:
        cadences = all_cadences(session)
    for now in _instants(cadences, start, end, app.settings.policy):
        take_turn(app.sessions, app.provider, app.press, app.settings.policy, now)


def _instants(cadences: Iterable[CadenceRow], start: datetime, end: datetime, policy: Policy) -> list[datetime]:
    steps = int((end - start) / STEP)
    found = {start + STEP * number for number in range(steps)}
    for row in cadences:
        for send in sends_between(row.cadence, start, end):
            found |= {max(start, send.at - policy.lead), send.at}
    return sorted(found)


def due_sends(app: Application, start: datetime, end: datetime) -> dict[Key, Due]:
    """What the schedule owes to each active reader, computed without the ledger."""
    owed: dict[Key, Due] = {}
    with app.sessions() as session:
        for row in all_cadences(session):
            sends = sends_between(row.cadence, start, end)
            active = (Subscriber.cadence_id == row.id, Subscriber.state == SubscriberState.ACTIVE)
            for reader in session.scalars(select(Subscriber.id).where(*active)):
                owed |= {(reader, send.on): Due(send, row.timezone) for send in sends}
    return owed


def expect_languages(app: Application, mailbox: CountingMailbox) -> None:
    """Tell the mailbox which language each reader asked for."""
    with app.sessions() as session:
        rows = session.execute(select(Subscriber.id, Subscriber.languages))
        mailbox.expected_language = {reader: languages.language.value for reader, languages in rows}


def report(app: Application, mailbox: CountingMailbox, owed: dict[Key, Due], began: float) -> dict[str, object]:
    """The ledger and the mailbox, each counted for itself and held against what was owed."""
    zones = _zones(app, mailbox, owed)
    ledger, skipped = _ledger(app)
    grace = app.settings.policy.grace
    with app.sessions() as session:
        recorded = {(reader, on) for reader, on in session.execute(select(Delivery.subscriber_id, Delivery.on))}
        briefs = session.scalar(select(func.count()).where(Brief.html != "")) or 0
        early = session.scalar(_early()) or 0
    return {
        "due": len(owed),
        "sent": ledger["sent"],
        "accepted": len(mailbox.accepted),
        "skipped": dict(skipped),
        "unknown": ledger["unknown"],
        "failed": ledger["failed"],
        "early": early + sum(at < owed[key].send.at for key, at in mailbox.accepted.items() if key in owed),
        "late_over_grace": sum(at > owed[key].send.at + grace for key, at in mailbox.accepted.items() if key in owed),
        "duplicates": sum(times - 1 for times in mailbox.times.values()),
        "missing": len(owed.keys() - recorded) + abs(ledger["sent"] - len(mailbox.accepted)),
        "unowed": len(mailbox.accepted.keys() - owed.keys()),
        "wrong_language": mailbox.wrong_language,
        "zones": zones,
        "languages": dict(mailbox.languages),
        "distinct_briefs": briefs,
        "seconds": round(stopwatch.perf_counter() - began, 1),
    }


def _early() -> Select[int]:
    rows = select(Batch.id).join(Brief, Brief.id == Batch.brief_id).join(Edition, Edition.id == Brief.edition_id)
    return select(func.count()).select_from(rows.where(Batch.sent_at < Edition.send_at).subquery())


def _ledger(app: Application) -> tuple[Counter[str], Counter[str]]:
    by_status: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    with app.sessions() as session:
        for _, status, reason, number in count_by_zone(session):
            by_status[status] += number
            if status == "skipped":
                skipped[str(reason)] += number
    return by_status, skipped


def _zones(app: Application, mailbox: CountingMailbox, owed: dict[Key, Due]) -> dict[str, dict[str, object]]:
    """Per zone: what was due, what the ledger says, and the local times at which the mailbox took it."""
    due = Counter(one.zone for one in owed.values())
    sent: Counter[str] = Counter()
    skipped: dict[str, Counter[str]] = {zone: Counter() for zone in due}
    with app.sessions() as session:
        for zone, status, reason, number in count_by_zone(session):
            sent[zone] += number if status == "sent" else 0
            if status == "skipped":
                skipped.setdefault(zone, Counter())[str(reason)] += number
    times = _local_times(mailbox, owed)
    return {
        zone: {
            "due": due[zone],
            "sent": sent[zone],
            "skipped": dict(skipped[zone]),
            "earliest_local": min(times[zone], default=None),
            "latest_local": max(times[zone], default=None),
        }
        for zone in sorted(due)
    }


def _local_times(mailbox: CountingMailbox, owed: dict[Key, Due]) -> dict[str, list[str]]:
    local: dict[str, list[str]] = {one.zone: [] for one in owed.values()}
    for key, at in mailbox.accepted.items():
        if key in owed:
            zone = owed[key].zone
            local[zone].append(at.astimezone(ZoneInfo(zone)).time().isoformat())
    return local
