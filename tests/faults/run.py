"""One run: a morning during which things die, until nothing is open; then the provider's events; then the verdict."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from shutil import copytree
from threading import Event
from time import monotonic

from tests.faults.installation import Installation, installation
from tests.faults.killer import Killer
from tests.faults.options import Options
from tests.faults.servers import own_broker, own_database
from tests.faults.verdict import Look, as_json, faults_at_rest, faults_at_the_end, look

TOPICS = ("", "models", "chips", "policy")
STEP_SECONDS = 0.05
LOOK_SECONDS = 0.5
WORDS_SECONDS = 5.0
TICK_SECONDS = 3.0
"""What a turn by hand takes to start, so that the first two are there at the instant."""
PREPARATION = timedelta(seconds=8)
PER_READER = timedelta(milliseconds=3)
"""What starting the parts and importing the list takes, so that the send instant lies behind it."""
LONGEST_LOG = 60_000
TICKS = ("tick0", "tick1")
DELIVERIES = "SELECT count(*) FROM deliveries"
OPEN_BATCHES = "SELECT count(*) FROM batches WHERE state IN ('planned', 'ready', 'sending')"
UNKNOWN_DELIVERIES = (
    "SELECT count(*) FROM deliveries JOIN batches ON batches.id = batch_id"
    " WHERE coalesce(deliveries.state, batches.state) = 'unknown'"
)
Say = Callable[[str], None]


@dataclass
class Report:
    """What came of a run; ``faults`` is empty when all that was promised is true."""

    options: Options
    faults: list[str] = field(default_factory=list)
    kills: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    at_rest: Look | None = None
    at_the_end: Look | None = None
    parts: dict[str, object] = field(default_factory=dict)
    provider: dict[str, object] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the run went as promised."""
        return not self.faults

    def as_json(self) -> dict[str, object]:
        """The report as one document."""
        looks = {
            name: as_json(found)
            for name, found in (("at_rest", self.at_rest), ("at_the_end", self.at_the_end))
            if found
        }
        return {
            "ok": self.ok,
            "faults": self.faults,
            "command": self.options.command(),
            "options": asdict(self.options),
            "kills": self.kills,
            "seconds": {name: round(value, 1) for name, value in self.seconds.items()},
            "parts": self.parts,
            "provider": self.provider,
            **looks,
        }

    def words(self) -> str:
        """The report for a person."""
        rest, end = self.at_rest, self.at_the_end
        lines = [f"{'Held' if self.ok else 'BROKEN'}: {self.options.subscribers} subscribers, seed {self.options.seed}"]
        lines += [f"  killed {count} × {kind}" for kind, count in sorted(self.kills.items())]
        if rest:
            doubt = f"{sum(rest.unknown.values())} unknown in {len(rest.unknown)} batches"
            lines.append(f"  at rest: {rest.accepted} accepted, {len(rest.twice)} twice, {doubt}")
        if end:
            lines.append(f"  after the events: {end.accepted} accepted, {len(end.twice)} twice, {end.states}")
        lines += [f"  not true: {fault}" for fault in self.faults]
        if not self.ok:
            lines.append(f"  again with: {self.options.command()}")
        return "\n".join(lines)


def run(options: Options, say: Say) -> Report:
    """Set everything up, let the morning happen, and judge it. Whatever was started is ended, also after a failure."""
    report = Report(options)
    with own_database() as database, own_broker() as broker, installation(options, database, broker) as place:
        _Run(place, Killer(place, broker), report, say).all()
        if options.keep:
            copytree(place.folder, options.keep, dirs_exist_ok=True)
        elif not report.ok:
            say(place.crew.logs()[-LONGEST_LOG:])
    return report


class _Run:
    """The stages of one run."""

    def __init__(self, place: Installation, killer: Killer, report: Report, say: Say) -> None:
        self._place, self._killer, self._report, self._say = place, killer, report, say
        self._until = 0.0
        self._ticks_from = 0.0
        self._last_words = 0.0
        self._told = self._delivered = 0
        self._tell_at = 0.0

    def all(self) -> None:
        """Every stage; the ones after a failure are left out."""
        place = self._place
        begun = monotonic()
        ahead = PREPARATION + PER_READER * place.options.subscribers
        place.prepare(ahead, TOPICS)
        place.start()
        self._say(f"send instant {place.began_at:%H:%M:%S}Z, now {datetime.now(UTC):%H:%M:%S}Z")
        self._note("preparation", begun)
        begun = monotonic()
        until_then = max(0.0, (place.began_at - datetime.now(UTC)).total_seconds())
        self._until = begun + until_then + place.options.deadline
        self._ticks_from = begun + until_then - TICK_SECONDS
        if not self._wait(self._is_at_rest, ticks=True):
            self._report.faults.append(f"it did not come to rest within {place.options.deadline:.0f} s")
        self._note("morning", begun)
        self._report.kills = dict(self._killer.done)
        self._report.at_rest = look(place)
        self._report.faults += faults_at_rest(self._report.at_rest, place.options.subscribers, place.began_at)
        if self._report.ok:
            self._settle()
        self._finish()

    def _settle(self) -> None:
        """The provider tells of everything it took, and goes on telling, until no doubt is left."""
        place, begun = self._place, monotonic()
        self._until = begun + place.options.deadline
        if not self._wait(self._is_settled, ticks=False):
            self._report.faults.append("the provider's events did not settle every doubt")
        self._note("settling", begun)
        found = self._report.at_the_end = look(place)
        self._report.faults += faults_at_the_end(found, place.options.subscribers, place.began_at)

    def _is_settled(self) -> bool:
        """Report what is new, else once in a while what became of the oldest; silence alone says nothing."""
        place = self._place
        if news := place.provider.taken[self._told :]:
            place.reporter.report(place.post, news)
            self._told += len(news)
        elif monotonic() >= self._tell_at:
            place.reporter.report(place.post, place.provider.taken[self._delivered : self._delivered + 1], "delivered")
            self._delivered += 1
            self._tell_at = monotonic() + place.options.settle
        return self._count(UNKNOWN_DELIVERIES) == 0 and self._is_at_rest()

    def _finish(self) -> None:
        begun, crew = monotonic(), self._place.crew
        orphans = len(crew.orphans())
        left = crew.stop()
        self._note("stop", begun)
        self._report.parts = {
            "restarts": dict(crew.restarts),
            "ended": dict(crew.ended),
            "stopped": left,
            "orphans": orphans,
        }
        self._report.provider = self._place.provider.stats()
        wrong = {name: code for name, code in left.items() if code != 0}
        if wrong:
            self._report.faults.append(f"asked to stop, these parts did not end with 0: {wrong}")

    def _wait(self, reached: Callable[[], bool], *, ticks: bool) -> bool:
        """Tend, kill and look until it is reached; False when the deadline came first."""
        next_look = 0.0
        while monotonic() < self._until:
            self._step(ticks=ticks)
            if monotonic() >= next_look:
                if reached():
                    return True
                next_look = monotonic() + LOOK_SECONDS
            Event().wait(STEP_SECONDS)
        return False

    def _step(self, *, ticks: bool) -> None:
        place = self._place
        place.crew.tend()
        served = len(place.provider.taken)
        done = self._killer.step(served)
        if ticks:
            self._take_ticks()
        if done or monotonic() - self._last_words > WORDS_SECONDS:
            self._last_words = monotonic()
            self._say(f"{served:6} accepted, {self._killer.done.total():3} killed  {done}")

    def _take_ticks(self) -> None:
        """Two turns by hand at once, again and again."""
        crew = self._place.crew
        if any(crew.is_running(name) for name in TICKS):
            self._ticks_from = monotonic() + self._place.options.tick_pause
        elif monotonic() >= self._ticks_from:
            for name in TICKS:
                crew.start(name, "tick", "--json", kept_up=False)

    def _is_at_rest(self) -> bool:
        """Everything was killed that was to be, everybody is planned, and no batch is open."""
        if not self._killer.is_done or any(self._place.crew.is_running(name) for name in TICKS):
            return False
        return self._count(DELIVERIES) == self._place.options.subscribers and self._count(OPEN_BATCHES) == 0

    def _count(self, statement: str) -> int:
        """What a counting query says; -1 while the database recovers."""
        found = self._place.database.rows(statement)
        return int(str(found[0][0])) if found else -1

    def _note(self, stage: str, begun: float) -> None:
        self._report.seconds[stage] = monotonic() - begun
