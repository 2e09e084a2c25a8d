"""Each thing that must be true is shown to be able to fail, so that a run that held says something."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.faults.verdict import Look, faults_at_rest, faults_at_the_end

BEGAN_AT = datetime(2026, 12, 2, 8, tzinfo=UTC)
WELL = Look(
    planned=2,
    accepted=2,
    twice=[],
    unknown={},
    unlisted=[],
    denied=[],
    claimed=[],
    states={"sent": 2},
    open={},
    first_at=BEGAN_AT,
)
DOUBT = replace(WELL, accepted=1, unknown={7: 1}, states={"sent": 1, "unknown lease_expired": 1})


def test_a_run_in_which_all_is_well_has_no_fault() -> None:
    assert faults_at_rest(WELL, 2, BEGAN_AT) == []
    assert faults_at_the_end(WELL, 2, BEGAN_AT) == []


def test_a_doubt_that_is_listed_is_a_fault_only_once_the_events_are_in() -> None:
    assert faults_at_rest(DOUBT, 2, BEGAN_AT) == []
    assert len(faults_at_the_end(DOUBT, 2, BEGAN_AT)) == 3


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"planned": 1}, "every subscriber"),
        ({"twice": ["1-20261202"]}, "twice"),
        ({"unlisted": ["1-20261202"]}, "listed as unknown"),
        ({"denied": ["1-20261202"]}, "denies"),
        ({"claimed": ["1-20261202"]}, "claims"),
        ({"open": {"sending": 1}}, "sending"),
        ({"audit": ["each event once"]}, "audit"),
        ({"first_at": BEGAN_AT - timedelta(seconds=1)}, "instant"),
        ({"leaks": 1}, "address"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, object], word: str) -> None:
    (fault,) = faults_at_rest(replace(WELL, **change), 2, BEGAN_AT)
    assert word in fault
