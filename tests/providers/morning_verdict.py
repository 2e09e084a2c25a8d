"""What came of a morning: the ledger, the list and what the double took, held against each other."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from digest.bootstrap import Application
from digest.domain.delivery import BatchState, DeliveryReason
from digest.domain.subscriber import EndReason
from digest.store.audit import audit
from digest.store.ledger import Entry, entries
from digest.store.tables import Batch, Event, Subscriber, Suppression
from tests.doubles.sendgrid import SendGridDouble
from tests.doubles.sendgrid_events import FATES
from tests.doubles.sendgrid_rules import REFUSED


@dataclass(frozen=True)
class Verdict:
    """Counts of readers, unless said otherwise.

    Attributes:
        requests: requests, with how often each status was answered.
        good: taken once and *sent*, of the good ones.
        bad: recorded with their reason, by what is wrong with them.
        twice: messages taken more than once per reader.
        unknown: batches whose answer was lost.
        settled_by_events: of these, by what SendGrid reported.
        settled_by_silence: of these, never taken, as its silence told, and then given again.
        events: recorded.
        faults: all that should not be; empty when the morning went as promised.
    """

    requests: int
    statuses: dict[str, int]
    good: int
    bad: dict[str, int]
    twice: int
    unknown: int
    settled_by_events: int
    settled_by_silence: int
    events: int
    last_at: str
    seconds: float
    faults: list[str]

    @property
    def ok(self) -> bool:
        """Whether all that was promised is true."""
        return not self.faults


def judge(
    own: Application,
    double: SendGridDouble,
    lost: Mapping[int, int],
    faults: Sequence[str],
    now: datetime,
    seconds: float,
) -> Verdict:
    """Look at every reader; addresses are named in faults, since they are made up."""
    with own.sessions() as session:
        ledger = {entry.email: entry for entry in entries(session)}
        ended = set(session.scalars(select(Subscriber.email).where(Subscriber.reason == EndReason.BOUNCED)))
        barred = set(session.scalars(select(Suppression.email_key).where(Suppression.event_id.is_not(None))))
        events = session.scalar(select(func.count()).select_from(Event)) or 0
        broken = [f"audit: {check.name}: {check.found}" for check in audit(session, now) if not check.ok]
        readers = list(session.scalars(select(Subscriber.email)))
        batches = select(Batch.id, Batch.state, Batch.attempts).where(Batch.id.in_(lost))
        doubtful = {batch_id: (state, tries) for batch_id, state, tries in session.execute(batches)}
    found: Counter[str] = Counter()
    wrong: list[str] = []
    for email in readers:
        kind = _kind(email)
        is_right = _is_right(kind, ledger.get(email), double.counts[email], is_out=email in ended & barred)
        found[kind] += is_right
        wrong += [] if is_right else [f"{email}: {ledger.get(email)}, taken {double.counts[email]} times"]
    open_ones = [f"batch {one} is {state}" for one, (state, _) in doubtful.items() if state is not BatchState.SENT]
    again = sum(tries > lost[one] for one, (_, tries) in doubtful.items())
    return Verdict(
        requests=double.requests,
        statuses=double.stats()["statuses"],
        good=found.pop("", 0),
        bad=dict(found),
        twice=double.stats()["twice"],
        unknown=len(lost),
        settled_by_events=len(lost) - again,
        settled_by_silence=again,
        events=events,
        last_at=now.isoformat(),
        seconds=round(seconds, 1),
        faults=[*faults, *broken, *open_ones, *wrong],
    )


def _kind(email: str) -> str:
    return next((start for start in (*FATES, REFUSED) if email.startswith(start)), "")


def _is_right(kind: str, entry: Entry | None, taken: int, *, is_out: bool) -> bool:
    """Whether a reader's row says what became of them, and only one message did."""
    if entry is None:
        return False
    if kind == REFUSED:
        reasoned = entry.reason == DeliveryReason.INVALID_ADDRESS and "valid address" in entry.detail
        return (taken, entry.status) == (0, "failed") and reasoned
    return (taken, entry.status) == (1, "sent") and is_out == bool(kind)
