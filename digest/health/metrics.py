"""What Prometheus scrapes: read from the database and the broker at that moment, so that every process says the same.

Nothing here counts rows of a big table: mornings come from their kept counts, work that waits from the partial indexes
that the workers use, totals from shared counters. Names follow Prometheus' practice: base units, ``_total`` for
counters.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import accumulate

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeHistogramMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from digest.bootstrap import Application
from digest.health.examine import look_here
from digest.health.findings import Finding, State, fault
from digest.health.machine import tzdata_release
from digest.health.now import Snapshot, broker_depths, snapshot
from digest.providers.counted import ANSWERS, BEYOND, BOUNDS, OUTCOMES, SECONDS, SECONDS_SUM
from digest.steps.record_posts import EVENTS
from digest.store.database import newest_revision
from digest.store.figures import LATENESS

DEGREE = {State.OK: 0, State.WARNING: 1, State.FAULT: 2}


class ServiceCollector(Collector):
    """Reads the state of the service at every scrape.

    Args:
        application: whose database and broker are read.
        clock: gives the instant of the scrape.
    """

    def __init__(self, application: Callable[[], Application], clock: Callable[[], datetime]) -> None:
        self._application, self._clock = application, clock

    def describe(self) -> list[Metric]:
        """Nothing in advance: registering it must not read the database."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Every metric; without the database those that need none, and a check that says so."""
        app, now = self._application(), self._clock()
        findings = look_here(app, now)
        state = None
        if not findings[0].stops:
            try:
                state = snapshot(app.sessions, app.settings.policy, now)
            except SQLAlchemyError as error:
                why = type(error).__name__
                findings[0] = fault("database", "went away while it was read ({why})", why=why)
        yield _build()
        yield _checks(findings, state)
        yield _depths(app)
        if state is not None:
            yield from _of_mornings(state, now)
            yield from _of_work(state)
            yield from _of_counters(state)


def _build() -> Metric:
    words = "Version of the time zone rules and of the schema this process works with."
    family = GaugeMetricFamily("digest_build_info", words, labels=["tzdata", "schema"])
    family.add_metric([tzdata_release(), newest_revision()], 1)
    return family


def _checks(findings: list[Finding], state: Snapshot | None) -> Metric:
    """The live ones, and from the kept examination those that ask the world outside."""
    words = "What digest doctor says of a check: 0 well, 1 to be mended, 2 stops briefs."
    family = GaugeMetricFamily("digest_check_state", words, labels=["check"])
    kept = {one.check: one for one in (state.kept.findings if state else [])}
    for check, finding in (kept | {one.check: one for one in findings}).items():
        family.add_metric([check], DEGREE[finding.state])
    return family


def _depths(app: Application) -> Metric:
    words = "Messages that wait in the broker; none is a brief, the database holds those."
    family = GaugeMetricFamily("digest_broker_messages", words, labels=["queue"])
    for queue, number in broker_depths(app.settings.broker_url).items():
        family.add_metric([queue], number)
    return family


def _of_mornings(state: Snapshot, now: datetime) -> Iterator[Metric]:
    total = state.last_day
    briefs = GaugeMetricFamily(
        "digest_briefs",
        "Briefs of the last 24 hours and those prepared now.",
        labels=["status", "reason"],
    )
    for word, number in sorted(total.status.items()):
        status, _, reason = word.partition(":")
        briefs.add_metric([status, reason], number)
    reported = GaugeMetricFamily("digest_reported", "What the provider reported of these briefs.", labels=["kind"])
    for kind, number in sorted(total.events.items()):
        reported.add_metric([kind], number)
    bounds = [*map(str, LATENESS), BEYOND]
    counts = accumulate(total.late[bound] for bound in bounds)
    yield briefs
    yield reported
    yield GaugeHistogramMetricFamily(
        "digest_lateness_seconds",
        "How long after their instant the hand-over of the last day's sent briefs began; over a window, so no rate().",
        buckets=list(zip(bounds, map(float, counts), strict=True)),
        gsum_value=total.late_seconds,
    )
    yield GaugeMetricFamily(
        "digest_figures_age_seconds",
        "Age of the oldest count of an instant of the last hour; the numbers of briefs are as old.",
        value=max(((now - each).total_seconds() for each in state.counted_at), default=0.0),
    )


def _of_work(state: Snapshot) -> Iterator[Metric]:
    waiting = GaugeMetricFamily("digest_queue_waiting", "Work that is due, by queue.", labels=["queue"])
    oldest = GaugeMetricFamily("digest_queue_oldest_seconds", "For how long the oldest of it is due.", labels=["queue"])
    for queue, work in state.queues.items():
        waiting.add_metric([queue], work.number)
        oldest.add_metric([queue], work.oldest_seconds)
    batches = GaugeMetricFamily("digest_open_batches", "Batches that are not done, by state.", labels=["state"])
    for name, number in state.open_batches.items():
        batches.add_metric([name], number)
    sources = GaugeMetricFamily("digest_sources", "Feeds by how they are.", labels=["state"])
    for name, number in state.sources.items():
        sources.add_metric([name], number)
    yield from (waiting, oldest, batches, sources)
    yield GaugeMetricFamily("digest_sending_paused", "1 while the sending switch is off.", value=int(state.is_paused))
    for name, words, at in (
        ("last_tick", "When the scheduler took its last turn.", state.ticked_at),
        ("examined", "When the workers last examined the service.", state.kept.at),
        ("newest_story", "When the newest story was seen.", state.newest_story_at),
        ("good_morning", "When the last good morning was reported.", state.good_morning_at),
    ):
        if at is not None:
            yield GaugeMetricFamily(f"digest_{name}_timestamp_seconds", words, value=at.timestamp())


def _of_counters(state: Snapshot) -> Iterator[Metric]:
    for name, words, label, counter in (
        ("provider_answers", "Answers of providers, by their own codes.", "code", ANSWERS),
        ("hand_overs", "Recipients given to providers, by what became of them.", "outcome", OUTCOMES),
        ("events", "Events read from providers’ posts, repeats too.", "kind", EVENTS),
    ):
        family = CounterMetricFamily(f"digest_{name}", words, labels=["provider", label])
        for key, number in sorted(state.tallies.get(counter, {}).items()):
            provider, _, what = key.partition(":")
            family.add_metric([provider, what], number)
        yield family
    readers = GaugeMetricFamily("digest_subscribers", "Subscribers by state, counted twice an hour.", labels=["state"])
    for name, number in sorted(state.tallies.get("subscribers", {}).items()):
        readers.add_metric([name], number)
    yield readers
    yield _hand_over_seconds(state)


def _hand_over_seconds(state: Snapshot) -> Metric:
    family = HistogramMetricFamily("digest_hand_over_seconds", "How long a hand-over took.", labels=["provider"])
    counts, sums = state.tallies.get(SECONDS, {}), state.tallies.get(SECONDS_SUM, {})
    bounds = [*map(str, BOUNDS), BEYOND]
    for provider in sorted({key.partition(":")[0] for key in counts}):
        numbers = accumulate(counts.get(f"{provider}:{bound}", 0) for bound in bounds)
        buckets = list(zip(bounds, map(float, numbers), strict=True))
        family.add_metric([provider], buckets, sum_value=sums.get(f"{provider}:", 0) / 1000)
    return family
