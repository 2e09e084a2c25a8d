"""``digest bench``: how fast a part is, beside a baseline measured in the same run. Each bench adds a command here."""

import signal
import sys
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

from digest.cli.bench_compile import compiling
from digest.cli.bench_curves import curves, memory
from digest.cli.bench_curves import plot as plot_curves
from digest.cli.bench_database import fill, scratch_application, server_version
from digest.cli.bench_import import import_
from digest.cli.bench_load import run_load
from digest.cli.bench_plan import planning
from digest.cli.bench_punctual import morning
from digest.cli.bench_report import (
    Report,
    Run,
    Runs,
    Subscribers,
    Workers,
    machine,
    measure,
    middle,
    rate_of,
    show,
    spread,
)
from digest.cli.bench_scale import SIZES, as_document, cases, plot, read_measured
from digest.cli.bench_sendgrid import sending
from digest.cli.bench_smtp import mailing
from digest.cli.bench_tick import IDLE_AT, explain, statements_of
from digest.cli.bench_web import WARMING, Rates, servers, waits_row
from digest.cli.context import application, utc_now
from digest.cli.output import AsJson, print_json, print_table, say, warn
from digest.domain.errors import BadInputError
from digest.domain.language import Language
from digest.steps.take_turn import take_turn
from digest.store.database import ping

bench = typer.Typer(help="Benchmarks, each with its own baseline.", no_args_is_help=True)


@bench.callback()
def begin() -> None:
    """Benchmarks, each with its own baseline."""
    # Told to end, a bench ends its servers and workers too, as it does at Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


@bench.command("tick")
def tick(
    subscribers: Subscribers = 1_000_000,
    runs: Runs = 5,
    show_plans: Annotated[bool, typer.Option("--explain", help="Print EXPLAIN (ANALYZE) of each query.")] = False,
    as_json: AsJson = False,
) -> None:
    """A tick with nothing due, beside as many bare round trips to the database as it has queries."""
    with scratch_application() as app:
        warn(f"Filling a scratch database with {subscribers:,} subscribers …")
        fill(app, subscribers, IDLE_AT)
        turn = partial(take_turn, app.sessions, app.provider, app.press, app.settings.policy, IDLE_AT)
        turn()
        statements = statements_of(turn, app.engine)
        found = measure(
            turn,
            lambda: ping(app.engine, len(statements)),
            runs,
            times=10,
        )
        plans = explain(app.engine, statements) if show_plans else []
    more = {"milliseconds": round(1000 / median(run.rate for run in found), 1), "queries": len(statements)}
    show(Report("tick", subscribers, "ticks/s", found, more).row(), as_json=as_json)
    for plan in plans:
        (warn if as_json else say)(plan)


@bench.command("compile")
def compile_(
    subscribers: Subscribers = 20_000,
    runs: Runs = 5,
    stories: Annotated[int, typer.Option(min=1, max=12, help="Stories in a brief.")] = 12,
    as_json: AsJson = False,
) -> None:
    """A morning's words, two briefs and every reader's finished message, beside MJML run for each reader."""
    found: list[Run] = []
    costs: list[dict[str, float]] = []
    with application() as app:
        work = compiling(app, Language.ENGLISH, stories)
        for step in (work.brief, work.mail, work.naive):
            step()
        for _ in range(runs):
            brief, mail = rate_of(work.brief, times=10), rate_of(work.mail, subscribers)
            naive, template = rate_of(work.naive, times=50), rate_of(work.template, times=5)
            found.append(Run(subscribers / (len(Language) / brief + subscribers / mail), naive))
            costs.append(
                {
                    "template_ms": 1e3 / template,
                    "brief_ms": 1e3 / brief,
                    "reader_us": 1e6 / mail,
                    "naive_reader_us": 1e6 / naive,
                }
            )
    more = {name: round(median(cost[name] for cost in costs), 1) for name in costs[0]}
    size = round(len(work.message.html.encode()) / 1000, 1)
    show(Report("compile", subscribers, "messages/s", found, {**more, "html_kb": size}).row(), as_json=as_json)


@bench.command("plan")
def plan(subscribers: Subscribers = 1_000_000, runs: Runs = 5, as_json: AsJson = False) -> None:
    """A morning's deliveries written for a list of one zone, beside COPY of the same rows into a table like theirs."""
    with scratch_application() as app:
        warn(f"Filling a scratch database with {subscribers:,} subscribers …")
        work = planning(app, subscribers)
        found = [work.run() for _ in range(runs)]
        server = server_version(app.engine)
    more = {"microseconds_a_row": round(1e6 / median(run.rate for run in found), 1), "server": server}
    show(Report("plan", subscribers, "deliveries/s", found, more).row(), as_json=as_json)


bench.command("import")(import_)


@bench.command("sendgrid")
def sendgrid(
    subscribers: Subscribers = 1_000_000, runs: Runs = 5, workers: Workers = 2, as_json: AsJson = False
) -> None:
    """Briefs from due to recorded through SendGrid's double, beside the same built in memory and only posted."""
    with sending(subscribers, workers) as work:
        found = [work.run() for _ in range(runs)]
        more = {
            "beforehand_rate": round(median(work.beforehand), 1),
            "cpu_us": middle(work.cpu),
            "baseline_cpu_us": middle(work.baseline_cpu),
            "workers": workers,
            "peak_rss_mb": work.stage.peak_rss_mb(),
            "server": server_version(work.stage.app.engine),
        }
    show(Report("sendgrid", subscribers, "briefs/s", found, more).row(), as_json=as_json)


@bench.command("scaling")
def scaling(subscribers: Subscribers = 200_000, runs: Runs = 5, workers: Workers = 2, as_json: AsJson = False) -> None:
    """Briefs through SendGrid's double by several worker processes, beside the same by one."""
    with sending(subscribers, workers) as several, sending(subscribers, 1) as one:
        found = [Run(several.send(), one.send()) for _ in range(runs)]
        more = {"workers": workers, "cpu_us": middle(several.cpu), "cpu_us_of_one": middle(one.cpu)}
    show(Report("scaling", subscribers, "briefs/s", found, more).row(), as_json=as_json)


@bench.command("curves")
def curves_(
    most: Annotated[int, typer.Option(min=1, help="Subscribers of the longest list.")] = 1_000_000,
    plot_to: Annotated[Path | None, typer.Option("--plot", help="Write the curves as SVG, a file for each.")] = None,
    as_json: AsJson = False,
) -> None:
    """What a brief costs over subscribers, distinct briefs, cadences and workers."""
    found = []
    for point in curves(most):
        warn(f"{point.axis} {point.value:,}: {point.rate:,} briefs/s")
        found.append(point)
    if plot_to is not None:
        plot_curves(found, plot_to)
    if as_json:
        print_json({"name": "curves", "machine": machine(), "points": [point.row() for point in found]})
        return
    parts = list(found[0].cpu_us)
    rows = [(one.axis, one.value, one.rate, one.planning_us, *(one.cpu_us[part] for part in parts)) for one in found]
    print_table(["axis", "value", "briefs/s", "planning µs", *(f"{part} µs" for part in parts)], rows)


@bench.command("memory")
def memory_(
    subscribers: Annotated[list[int] | None, typer.Option(min=1, help="List lengths; may be given again.")] = None,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> None:
    """Peak MiB of the largest process of each part over a morning that the workers plan, compile and send."""
    found = {size: memory(size, workers) for size in subscribers or (10_000, 100_000, 1_000_000)}
    if as_json:
        print_json({"name": "memory", "machine": machine(), "peak_mb": found})
        return
    parts = list(next(iter(found.values())))
    print_table(["subscribers", *parts], [(size, *(peaks[part] for part in parts)) for size, peaks in found.items()])


@bench.command("scale")
def scale(
    measured: Annotated[Path, typer.Option(help="Costs of a brief, measured.")] = Path("docs/scale/measured.json"),
    readers: Annotated[list[int] | None, typer.Option(min=1000, help="List sizes; may be given again.")] = None,
    answer: Annotated[float, typer.Option(min=0.001, help="Mean seconds until the provider answers.")] = 0.2,
    requests: Annotated[float, typer.Option(min=1, help="Requests a second that the provider takes.")] = 10_000,
    core_price: Annotated[float, typer.Option(min=0, help="Of one core for one hour, in any currency.")] = 0.05,
    plot_to: Annotated[Path | None, typer.Option("--plot", help="Write the curves as SVG.")] = None,
    as_json: AsJson = False,
) -> None:
    """A morning on machines that are not here: a queueing model over measured costs."""
    costs = read_measured(measured)
    found = [case for size in readers or SIZES for case in cases(size, costs, answer, requests)]
    if plot_to is not None:
        plot(found, plot_to)
    if as_json:
        print_json(as_document(found, costs, core_price))
        return
    rows = [case.row(core_price) for case in found]
    print_table([name for name in rows[0] if name != "busy"], [list(_without(row, "busy").values()) for row in rows])


def _without(row: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}


@bench.command("web")
def web(
    subscribers: Subscribers = 30_000,
    runs: Runs = 3,
    rate: Annotated[float, typer.Option(min=1, max=2000, help="Sign-ups a second, at random moments.")] = 200,
    seconds: Annotated[float, typer.Option(min=1, max=600, help="How long they come.")] = 60,
    forms: Annotated[int, typer.Option(min=1, max=100_000, help="Forms of each measurement without pauses.")] = 2000,
    processes: Annotated[int, typer.Option(min=1, max=64, help="Of the site, as digest web has them.")] = 2,
    broker: Annotated[str, typer.Option(help="redis://… that no worker reads; unset: one of its own.")] = "",
    as_json: AsJson = False,
) -> None:
    """Sign-ups and one-click unsubscribes over PostgreSQL, beside the bare framework that only answers."""

    async def measured() -> tuple[list[Rates], dict[str, float]]:
        await one.rates(warming)
        rates = [await one.rates(forms) for _ in range(runs)]
        waits = await one.waits(rate, seconds)
        one.close()
        return rates, waits_row(waits)

    warming = min(forms, WARMING)
    if subscribers < (needed := round(warming + runs * forms + rate * seconds)):
        raise BadInputError("--subscribers", subscribers, f"are too few to leave once each: this takes {needed}.")
    warn(f"Filling a scratch database with {subscribers:,} subscribers …")
    with servers(subscribers, broker, utc_now(), processes) as one:
        rates, waits = run_load(measured())
    offered = {"unsubscribes_rate": round(median(run.unsubscribes for run in rates), 1), "offered_rate": rate}
    found = [Run(run.signups, run.bare) for run in rates]
    more = offered | {"seconds": seconds, "processes": processes, **waits}
    show(Report("web", subscribers, "sign-ups/s", found, more).row(), as_json=as_json)


@bench.command("smtp")
def smtp(subscribers: Subscribers = 20_000, runs: Runs = 5, workers: Workers = 2, as_json: AsJson = False) -> None:
    """Briefs from due to recorded into a mail server that takes all, beside their finished bytes on plain sockets."""
    with mailing(subscribers, workers) as work:
        found = [work.run() for _ in range(runs)]
        more = {
            "message_kb": work.kilobytes,
            "sink": work.taker.name,
            "cpu_us": middle(work.cpu),
            "baseline_cpu_us": middle(work.baseline_cpu),
            "workers": workers,
            "peak_rss_mb": work.stage.peak_rss_mb(),
            "server": server_version(work.stage.app.engine),
        }
    show(Report("smtp", subscribers, "messages/s", found, more).row(), as_json=as_json)


@bench.command("punctual")
def punctual(subscribers: Subscribers = 100_000, runs: Runs = 5, workers: Workers = 2, as_json: AsJson = False) -> None:
    """When briefs of one zone are taken by SendGrid's double, after an instant that the scheduler really waits for."""
    with sending(subscribers, workers) as work:
        found = [morning(work).row() for _ in range(runs)]
        server = server_version(work.stage.app.engine)
    row = {"name": "punctual", "subscribers": subscribers, "runs": found, **middle(found)}
    row |= {"early": sum(one["early"] for one in found), "workers": workers, "machine": machine(), "server": server}
    row["spread"] = {name: spread([one[name] for one in found], 3) for name in found[0]}
    show(row, as_json=as_json)
