"""Many sources at once; ``python -m tests.sources.many`` is the long form, with the limits of 500 feeds."""

from tests.sources.many.farm import kinds
from tests.sources.many.run import Options, run


def test_good_feeds_are_read_beside_bad_ones_and_a_second_round_writes_and_transfers_nothing() -> None:
    said: list[str] = []
    report = run(Options(feeds=20, items=10, drip=0.3, seconds=0, megabytes=0), said.append)
    assert report.faults == []
    first, second = report.rounds
    bad = [kind for kind in kinds(20) if kind not in {"fine", "slow", "lying"}]
    assert (first.new, first.failed) == (10 * (20 - len(bad)), len(bad))
    assert (second.new, second.answers["304"], second.failed) == (0, 20 - len(bad), len(bad))
