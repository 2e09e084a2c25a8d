"""Benches that start the whole installation, at its smallest: what they measure is what they say."""

import pytest

from digest.cli.bench_sendgrid import sending

READERS, WORKERS = 30, 1


@pytest.mark.usefixtures("servers")
def test_bench_sendgrid_hands_a_brief_to_everybody_and_its_baseline_posts_as_many() -> None:
    with sending(READERS, WORKERS) as work:
        before = work.double.ask("/stats")["recipients"]

        run = work.run()

        assert work.double.ask("/stats")["recipients"] - before == 3 * READERS
        assert run.rate > 0
        assert run.baseline_rate > 0
        assert work.cpu[0]["workers"] > 0
        assert work.cpu[0]["postgresql"] > 0
        assert work.stage.peak_rss_mb() > 1
