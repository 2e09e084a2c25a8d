"""Benches that start the whole installation, at its smallest: what they measure is what they say."""

import json
from pathlib import Path

import pytest

from digest.cli.bench_processes import seconds_together
from digest.cli.bench_punctual import Morning
from digest.cli.bench_sendgrid import sending
from digest.cli.bench_smtp import taker

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


def test_the_baseline_of_bench_smtp_writes_what_our_sink_takes_text_with_dots_too(tmp_path: Path) -> None:
    mail = {
        "sender": "brief@example.com",
        "recipient": "reader@example.com",
        "text": "Subject: x\r\n\r\n.\r\n..\r\nend\r\n",
    }
    file = tmp_path / "mails.json"
    file.write_text(json.dumps([mail, mail | {"text": "Subject: y\r\n\r\n" + "long line\r\n" * 9000}]))
    with taker() as sink:
        task = {"file": str(file), "port": sink.port, "messages": 7}

        assert seconds_together("digest.cli.bench_pipeline", [task, task])[0] > 0
        assert sink.count() in {14, None}


def test_percentiles_of_a_morning_count_readers_not_requests() -> None:
    found = Morning([(-0.5, 1), (0.25, 98), (3.0, 1)]).row()

    assert found == {"first_s": -0.5, "p50_s": 0.25, "p99_s": 0.25, "last_s": 3.0, "early": 1}
