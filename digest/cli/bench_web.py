"""The site under visitors: sign-ups and one-click unsubscribes over real connections, beside the bare framework."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from digest.bootstrap import Application
from digest.cli.bench_database import fill, scratch_application
from digest.cli.bench_load import Answers, Post, Visitors, as_fast_as_it_can, at_a_rate, visitors
from digest.cli.bench_processes import free_port, listens, process, wait_until
from digest.cli.bench_servers import broker_server

AT_ONCE = 16
"""Visitors of the measurement without pauses: enough that the server never waits for one."""
WARMING = 200
"""Forms before any is counted: the first ones of a process read templates, zones and catalogues."""
NETWORKS = 2**15
DOMAINS = 1009
DIGEST = ("-c", "from digest.main import main; main()", "web", "--processes")
BARE = ("-m", "uvicorn", "digest.cli.bench_bare:app", "--log-level", "warning", "--no-access-log")
PERCENTILES = (50, 95, 99)


@dataclass(frozen=True, slots=True)
class Rates:
    """Answers a second without pauses, of the site and of the bare framework."""

    signups: float
    unsubscribes: float
    bare: float


class Forms:
    """Forms that no two visitors send alike."""

    def __init__(self, app: Application) -> None:
        self._app, self._number, self._reader = app, count(), count(1)

    def signups(self) -> Iterator[Post]:
        """Sign-ups, each of an address of its own, from many networks and at many mail domains."""
        for number in self._number:
            address = f"visitor{number}@d{number % DOMAINS}.example.com"
            fields = {"email": address, "language": "zh" if number % 2 else "en", "timezone": "Asia/Shanghai"}
            yield Post("/subscribe", fields, _network(number))

    def unsubscribes(self) -> Iterator[Post]:
        """One click each of the readers of the list, as a mail client sends it (RFC 8058 §3.2)."""
        links = self._app.links
        for reader in self._reader:
            path = links.unsubscribe(reader).removeprefix(links.base_url)
            yield Post(path, {"List-Unsubscribe": "One-Click"}, _network(reader))


def _network(number: int) -> str:
    high, low = divmod(number % NETWORKS, 256)
    return f"198.{high}.{low}.7"


@dataclass(frozen=True, slots=True)
class Bench:
    """The servers that are measured."""

    site: Visitors
    bare: Visitors
    forms: Forms

    async def rates(self, forms: int) -> Rates:
        """How much each server answers without pauses, one after the other, over that many forms."""
        signups, leaving = self.forms.signups(), self.forms.unsubscribes()
        return Rates(
            signups=await self._rate(self.site, signups, forms),
            unsubscribes=await self._rate(self.site, leaving, forms),
            bare=await self._rate(self.bare, self.forms.signups(), forms),
        )

    async def waits(self, rate: float, seconds: float) -> dict[str, Answers]:
        """What visitors wait for who come at their own times."""
        return {
            "signup": await at_a_rate(self.site, self.forms.signups(), rate, seconds),
            "unsubscribe": await at_a_rate(self.site, self.forms.unsubscribes(), rate, seconds),
            "bare": await at_a_rate(self.bare, self.forms.signups(), rate, seconds),
        }

    def close(self) -> None:
        """Let go of the connections."""
        self.site.connections.close()
        self.bare.connections.close()

    async def _rate(self, crowd: Visitors, posts: Iterator[Post], number: int) -> float:
        return await as_fast_as_it_can(crowd, list(islice(posts, number)), AT_ONCE)


@contextmanager
def servers(subscribers: int, broker: str, now: datetime, processes: int = 1) -> Iterator[Bench]:
    """The site as ``digest web`` runs it over a scratch list, and the bare framework.

    Args:
        subscribers: length of the list; each can leave once.
        processes: of the site; the bare framework has one.
        broker: where limits are counted and letters announced, nobody's who sends mail; empty: one of its own.
    """
    with ExitStack() as stack:
        app = stack.enter_context(scratch_application())
        own = app.settings.model_copy(update={"broker_url": broker or "memory://"})
        counters = stack.enter_context(broker_server(own))
        folder = stack.enter_context(TemporaryDirectory())
        fill(app, subscribers, now)
        here = stack.enter_context(_running([*DIGEST, str(processes)], _settings(app, counters, folder)))
        there = stack.enter_context(_running(BARE, {}))
        yield Bench(visitors(here), visitors(there), Forms(app))


def _settings(app: Application, broker: str, folder: str) -> dict[str, str]:
    """As in production behind a proxy on this machine, with limits that this many visitors keep within."""
    settings = app.settings
    return {
        "DIGEST_DATABASE_URL": app.engine.url.render_as_string(hide_password=False),
        "DIGEST_BROKER_URL": broker,
        "DIGEST_SECRET_KEYS": ",".join(app.links.secret_keys),
        "DIGEST_PROVIDER": "outbox",
        "DIGEST_FALLBACK_PROVIDER": "",
        "DIGEST_OUTBOX_DIR": str(Path(folder) / "outbox"),
        "DIGEST_BASE_URL": "",
        "DIGEST_TRUSTED_PROXIES": "127.0.0.1",
        "DIGEST_LIMIT_NETWORK": settings.limit_network,
        "DIGEST_LIMIT_OVERALL": "1000000/hour",
        "DIGEST_MOST_PENDING": "1000000",
    }


@contextmanager
def _running(command: Sequence[str], settings: Mapping[str, str]) -> Iterator[str]:
    """A server of this program; gives its address."""
    port = free_port()
    with process([*command, "--port", str(port)], settings):
        wait_until(lambda: listens(port), "no server listened")
        yield f"http://127.0.0.1:{port}"


def waits_row(waits: Mapping[str, Answers]) -> dict[str, float]:
    """The percentiles of each kind of answer in milliseconds, and how many were refused."""
    row: dict[str, float] = {}
    for name, answers in waits.items():
        row |= {f"{name}_p{percentile}_ms": answers.milliseconds(percentile) for percentile in PERCENTILES}
        row[f"{name}_failed"] = answers.failed
    return row
