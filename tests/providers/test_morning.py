"""A short morning through the double with every fault that a long one has."""

from tests.providers.morning import BAD, Options, live_through

SHORT = Options(readers=600, batch_size=12, bad=0.03, busy=0.04, broken=0.05, silent=0.05, timeout=0.5)


def test_through_every_fault_each_good_reader_is_taken_once_each_bad_one_has_a_reason_and_no_doubt_is_left(
    postgres_url: str,
) -> None:
    verdict = live_through(SHORT, postgres_url)
    assert verdict.faults == []
    assert (verdict.good, verdict.bad, verdict.twice) == (582, dict.fromkeys(BAD, 6), 0)
    assert set(verdict.statuses) == {"202", "400", "429", "500", "502"}
    assert verdict.settled_by_events > 0
    assert verdict.settled_by_silence > 0
    assert verdict.unknown == verdict.settled_by_events + verdict.settled_by_silence
