"""What must be true, looked up in the ledger, at the provider and in the logs; held against each other."""

import re
from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from sqlalchemy import func, select

from digest.domain.delivery import BatchState
from digest.steps.send_batches import delivery_key
from digest.store.audit import audit
from digest.store.ledger import REASON, STATUS
from digest.store.tables import Batch, Delivery
from tests.faults.installation import Installation

ADDRESS = re.compile(r"reader\d+@example\.com")
MOST_NAMES = 50
OPEN = (BatchState.PLANNED, BatchState.READY, BatchState.SENDING)


@dataclass(frozen=True)
class Look:
    """The state of things at one moment.

    Attributes:
        planned: deliveries in the ledger.
        accepted: readers of whom the provider took a message, each once however often.
        twice: keys of deliveries taken more than once.
        unknown: how many deliveries are *unknown*, by batch.
        unlisted: deliveries that were neither taken nor listed as *unknown*.
        denied: deliveries that were taken although the ledger says neither *sent* nor *unknown*.
        claimed: deliveries that the ledger calls *sent* and the provider never saw.
        states: deliveries by status and reason.
        open: batches *planned*, *ready* or *sending*, by state.
        first_at: when the provider took its first message.
        leaks: how often an address stands in a log.
        audit: invariants that do not hold.
    """

    planned: int
    accepted: int
    twice: list[str]
    unknown: dict[int, int]
    unlisted: list[str]
    denied: list[str]
    claimed: list[str]
    states: dict[str, int]
    open: dict[str, int]
    first_at: datetime | None = None
    leaks: int = 0
    audit: list[str] = field(default_factory=list)


def look(place: Installation) -> Look:
    """Read the ledger and the provider's count; only once nothing moves do they agree."""
    taken = place.provider.per_reader()
    with place.application.sessions() as session:
        rows = session.execute(
            select(Delivery.subscriber_id, Delivery.on, STATUS, REASON, Delivery.batch_id).join(
                Batch, Batch.id == Delivery.batch_id
            )
        ).all()
        waiting = select(Batch.state, func.count()).where(Batch.state.in_(OPEN)).group_by(Batch.state)
        is_open = {state.value: count for state, count in session.execute(waiting)}
        broken = [check.name for check in audit(session, datetime.now(UTC)) if not check.ok]
    status = {delivery_key(reader, on): str(state) for reader, on, state, _, _ in rows}
    return Look(
        planned=len(rows),
        accepted=len(taken),
        twice=sorted(key for key, count in taken.items() if count > 1),
        unknown=dict(Counter(batch for *_, state, _, batch in rows if state == "unknown")),
        unlisted=sorted(key for key, state in status.items() if key not in taken and state != "unknown"),
        denied=sorted(key for key in taken if status.get(key) not in {"sent", "unknown"}),
        claimed=sorted(key for key, state in status.items() if state == "sent" and key not in taken),
        states=dict(Counter(f"{state} {reason or ''}".strip() for *_, state, reason, _ in rows)),
        open=is_open,
        first_at=min((one.at for one in place.provider.taken), default=None),
        leaks=len(ADDRESS.findall(place.crew.logs())),
        audit=broken,
    )


def faults_at_rest(found: Look, wanted: int, began_at: datetime) -> list[str]:
    """What is wrong once nothing is planned, ready or sending; one line each, empty when all is well."""
    claims = {
        f"every subscriber has a delivery ({found.planned} of {wanted})": found.planned == wanted,
        f"nobody was written to twice ({_some(found.twice)})": not found.twice,
        f"everybody was accepted or is listed as unknown ({_some(found.unlisted)})": not found.unlisted,
        f"the ledger denies nothing that was accepted ({_some(found.denied)})": not found.denied,
        f"the ledger claims nothing that was not accepted ({_some(found.claimed)})": not found.claimed,
        f"no batch is planned, ready or sending ({found.open})": not found.open,
        f"the audit is clean ({'; '.join(found.audit)})": not found.audit,
        f"nothing left before its instant ({found.first_at})": found.first_at is None or found.first_at >= began_at,
        f"no address is in a log ({found.leaks})": not found.leaks,
    }
    return [claim for claim, holds in claims.items() if not holds]


def faults_at_the_end(found: Look, wanted: int, began_at: datetime) -> list[str]:
    """What is wrong once the provider's events are in: no doubt may be left."""
    claims = {
        f"no delivery is unknown ({found.unknown})": not found.unknown,
        f"everybody was accepted ({found.accepted} of {wanted})": found.accepted == wanted,
        f"every delivery is sent ({found.states})": found.states == {"sent": wanted},
    }
    return faults_at_rest(found, wanted, began_at) + [claim for claim, holds in claims.items() if not holds]


def _some(keys: list[str]) -> str:
    return f"{len(keys)}: {', '.join(keys[:5])}" if keys else "none"


def as_json(found: Look) -> dict[str, object]:
    """For the report; of long lists the beginning."""
    cut = {name: value[:MOST_NAMES] if isinstance(value, list) else value for name, value in asdict(found).items()}
    return cut | {"first_at": found.first_at.isoformat() if found.first_at else None}
