"""Why a morning came out as it did: the nearest cause, and never none."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from digest.domain.delivery import BatchState
from digest.domain.event import EventKind
from digest.domain.explanation import MorningFacts, ReaderFacts, Why, explain
from digest.domain.schedule import Send
from digest.domain.subscriber import EndReason, SubscriberState

DUE = datetime(2026, 12, 1, 0, tzinfo=UTC)
TUESDAY = date(2026, 12, 1)
NOW = DUE + timedelta(days=1)
READER = ReaderFacts(
    state=SubscriberState.ACTIVE,
    reason=None,
    created_at=DUE - timedelta(days=90),
    changed_at=DUE - timedelta(days=90),
    active_from_at=DUE - timedelta(days=90),
    kept_since=TUESDAY - timedelta(days=60),
)
MORNING = MorningFacts(TUESDAY, Send(TUESDAY, DUE))
BEFORE, AFTER = DUE - timedelta(hours=2), DUE + timedelta(hours=2)


def why(reader: ReaderFacts = READER, now: datetime = NOW, **morning: object) -> Why:
    return explain(reader, replace(MORNING, **morning), now)  # type: ignore[arg-type] # a test's own values


def test_a_delivery_speaks_for_itself_and_the_mailbox_has_the_last_word() -> None:
    assert why(status="sent") is Why.SENT
    assert why(status="sent", events={EventKind.PROCESSED, EventKind.DELIVERED}) is Why.DELIVERED
    assert why(status="sent", events={EventKind.OPENED}) is Why.DELIVERED
    assert why(status="sent", events={EventKind.DEFERRED, EventKind.SOFT_BOUNCED}) is Why.SOFT_BOUNCED
    assert why(status="sent", events={EventKind.DELIVERED, EventKind.BOUNCED}) is Why.BOUNCED
    assert why(status="sent", events={EventKind.BLOCKED}) is Why.BLOCKED
    assert why(status="sent", events={EventKind.DROPPED}) is Why.DROPPED
    assert why(status="skipped", reason="late") is Why.SKIPPED
    assert why(status="unknown", reason="answer_lost") is Why.UNKNOWN
    assert why(status="failed", reason="refused") is Why.FAILED
    assert why(status="ready") is Why.WAITING
    assert why(replace(READER, sending_paused_at=BEFORE), status="ready") is Why.HELD


def test_without_a_delivery_the_nearest_cause_is_named() -> None:
    ended = replace(READER, state=SubscriberState.ENDED, reason=EndReason.COMPLAINED)
    assert why(send=None) is Why.OTHER_DAYS
    assert why(send=None, zone_is_known=False) is Why.ZONE_UNKNOWN
    assert why(now=DUE - timedelta(hours=1)) is Why.NOT_YET
    assert why(now=DUE + timedelta(minutes=1)) is Why.NOT_YET
    barred = replace(READER, is_barred=True)
    assert why(barred, now=DUE - timedelta(hours=1)) is Why.BARRED
    assert why(barred, was_missed=True) is Why.MISSED
    assert why(replace(READER, created_at=AFTER)) is Why.BEFORE_SIGN_UP
    assert why(replace(READER, state=SubscriberState.PENDING)) is Why.UNCONFIRMED
    assert why(replace(ended, changed_at=BEFORE)) is Why.ENDED
    assert why(replace(ended, changed_at=AFTER)) is Why.CHANGED_THEN
    assert why(replace(READER, state=SubscriberState.PAUSED, changed_at=BEFORE)) is Why.PAUSED
    assert why(replace(READER, active_from_at=AFTER, changed_at=AFTER)) is Why.INACTIVE_THEN
    assert why(was_missed=True) is Why.MISSED
    assert why(replace(READER, changed_at=AFTER)) is Why.CHANGED_THEN
    assert why(replace(READER, kept_since=TUESDAY + timedelta(days=1))) is Why.FORGOTTEN
    assert why() is Why.NO_TRACE


@given(
    state=st.sampled_from(SubscriberState),
    changed=st.timedeltas(timedelta(days=-3), timedelta(days=3)),
    status=st.sampled_from([*BatchState, None]),
    events=st.frozensets(st.sampled_from(EventKind), max_size=3),
)
def test_no_delivery_is_explained_by_the_lack_of_one(
    state: SubscriberState, changed: timedelta, status: BatchState | None, events: frozenset[EventKind]
) -> None:
    said = why(replace(READER, state=state, changed_at=DUE + changed), status=status, events=events)
    lacking = {Why.NO_TRACE, Why.CHANGED_THEN, Why.UNCONFIRMED, Why.ENDED, Why.PAUSED, Why.MISSED, Why.NOT_YET}
    assert (said in lacking) is (status is None)
