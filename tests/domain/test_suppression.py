from datetime import UTC, datetime, timedelta

import pytest

from digest.domain.event import PROVES_HAND_OVER, EventKind
from digest.domain.subscriber import EndReason
from digest.domain.suppression import (
    Consequence,
    SoftBounces,
    SuppressionReason,
    consequence_of,
    may_ask_again,
    meaning_of,
    weaker_than,
)

NOW = datetime(2027, 6, 10, tzinfo=UTC)
RULE = SoftBounces(limit=5)


@pytest.mark.parametrize(
    ("kind", "consequence"),
    [
        (EventKind.BOUNCED, Consequence(EndReason.BOUNCED, SuppressionReason.BOUNCED)),
        (EventKind.COMPLAINED, Consequence(EndReason.COMPLAINED, SuppressionReason.COMPLAINED)),
        (EventKind.UNSUBSCRIBED, Consequence(EndReason.UNSUBSCRIBED)),
    ],
)
def test_three_facts_end_a_subscription_at_once(kind: EventKind, consequence: Consequence) -> None:
    assert consequence_of(kind, 0, RULE) == consequence


@pytest.mark.parametrize("kind", sorted(set(EventKind) - {"bounced", "complained", "unsubscribed", "soft_bounced"}))
def test_no_other_fact_ends_one_however_often_it_comes(kind: EventKind) -> None:
    assert consequence_of(kind, 1000, RULE) is None


def test_soft_bounces_end_one_from_the_limit_on() -> None:
    assert [consequence_of(EventKind.SOFT_BOUNCED, mornings, RULE) for mornings in (1, 4)] == [None, None]
    assert consequence_of(EventKind.SOFT_BOUNCED, 5, RULE) == Consequence(
        EndReason.BOUNCED, SuppressionReason.SOFT_BOUNCED
    )


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        ("Bounced Address", EventKind.BOUNCED),
        ("5.0.0 Bounced Address", EventKind.BOUNCED),
        ("Invalid", EventKind.BOUNCED),
        ("Spam Reporting Address", EventKind.COMPLAINED),
        ("Unsubscribed Address", EventKind.UNSUBSCRIBED),
        ("Invalid SMTPAPI header", EventKind.DROPPED),
        ("Spam Content", EventKind.DROPPED),
        ("Recipient List over Package Quota", EventKind.DROPPED),
        ("", EventKind.DROPPED),
    ],
)
def test_a_dropped_message_is_read_by_its_reason(words: str, meaning: EventKind) -> None:
    assert meaning_of(EventKind.DROPPED, words) is meaning
    assert meaning_of(EventKind.BLOCKED, words) is EventKind.BLOCKED


def test_whatever_ends_a_subscription_proves_the_hand_over() -> None:
    ending = {kind for kind in EventKind if consequence_of(kind, RULE.limit, RULE)}
    assert ending < PROVES_HAND_OVER


@pytest.mark.parametrize(
    ("reason", "days", "may"),
    [
        (SuppressionReason.SOFT_BOUNCED, 0, True),
        (SuppressionReason.BOUNCED, 29, False),
        (SuppressionReason.BOUNCED, 30, True),
        (SuppressionReason.COMPLAINED, 3650, False),
        (SuppressionReason.ERASED, 3650, False),
        (SuppressionReason.OPERATOR, 3650, False),
    ],
)
def test_who_may_be_asked_again_and_when(reason: SuppressionReason, days: int, *, may: bool) -> None:
    assert may_ask_again(reason, NOW, NOW + timedelta(days=days)) is may


def test_a_complaint_takes_the_place_of_a_bounce_and_never_the_other_way() -> None:
    assert set(weaker_than(SuppressionReason.COMPLAINED)) == {SuppressionReason.SOFT_BOUNCED, SuppressionReason.BOUNCED}
    assert weaker_than(SuppressionReason.SOFT_BOUNCED) == ()
