"""``digest tick``, ``digest deliveries`` and ``digest audit``: the morning and its ledger."""

from typing import Annotated

import typer

from digest.bootstrap import EVENT_READERS
from digest.cli.context import LARGEST_ID, application, instant_text, read_date, read_instant, utc_now
from digest.cli.output import AsJson, print_json, print_table, say, warn
from digest.domain.errors import BadInputError, PermanentError
from digest.steps.begin_turn import declare_restored
from digest.steps.record_posts import record_waiting
from digest.steps.take_turn import Turn, take_turn
from digest.steps.tell_news import make_waiting_calls, prepare_calls
from digest.steps.tidy_ledger import tidy_if_time
from digest.store.audit import audit as run_audit
from digest.store.ledger import Entry, entries, retry_batch
from digest.store.sending import set_paused

deliveries = typer.Typer(help="The ledger and the sending switch.", no_args_is_help=True)
STATUSES = ("planned", "ready", "sending", "sent", "skipped", "failed", "unknown")


def tick(
    now: Annotated[str | None, typer.Option(help="ISO 8601 instant; default now.")] = None, as_json: AsJson = False
) -> None:
    """Take one turn of the scheduler and everything due, in this process."""
    at = read_instant(now, "now")
    with application() as app:
        faults = record_waiting(app.sessions, EVENT_READERS, at, app.settings.soft_bounce_rule)
        turn = take_turn(app.sessions, app.provider, app.press, app.settings.policy, at, app.witness)
        tidy_if_time(app.sessions, app.settings.keep_for, at)
        turn.faults[:0] = faults
        prepare_calls(app.sessions, app.settings.webhook_urls, at)
        make_waiting_calls(app.sessions, app.teller, at, with_address=app.settings.webhook_addresses)
    if as_json:
        print_json(turn_row(turn))
    else:
        print_table(("", ""), turn_row(turn).items())
    for fault in turn.faults:
        warn(f"digest: {fault}")
    for alarm in turn.alarms:
        warn(alarm)
    if turn.faults:
        raise typer.Exit(1)


def turn_row(turn: Turn) -> dict[str, object]:
    """A turn as commands print it."""
    return {
        "now": instant_text(turn.now),
        "editions": turn.editions,
        "planned": turn.planned,
        "sent": turn.sent,
        "skipped": dict(turn.skipped),
        "failed": turn.failed,
        "unknown": turn.unknown,
        "letters": turn.letters,
        "delayed": dict(turn.delayed),
        "unknown_zones": turn.unknown_zones,
    }


@deliveries.command("list")
def list_deliveries(
    status: Annotated[str, typer.Option(help=f"One of {', '.join(STATUSES)}.")] = "",
    email: str = "",
    on: Annotated[str, typer.Option("--date", help="Local date.")] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many; default all.")] = None,
    as_json: AsJson = False,
) -> None:
    """List deliveries, the newest date first."""
    if status and status not in STATUSES:
        raise BadInputError("status", status, f"is not a status: use one of {', '.join(STATUSES)}.")
    date = read_date(on, "date") if on else None
    with application() as app, app.sessions() as session:
        rows = [_row(entry) for entry in entries(session, status=status, email=email, on=date, limit=limit)]
    if as_json:
        print_json(rows)
    else:
        columns = ("email", "date", "status", "reason", "batch", "detail")
        print_table(columns, [tuple(row[column] for column in columns) for row in rows])


def _row(entry: Entry) -> dict[str, object]:
    return {
        "email": entry.email,
        "date": entry.on.isoformat(),
        "status": entry.status,
        "reason": entry.reason,
        "batch": entry.batch,
        "brief": entry.brief,
        "send_at": instant_text(entry.send_at),
        "sent_at": instant_text(entry.sent_at) if entry.sent_at else None,
        "detail": entry.detail,
    }


@deliveries.command("retry")
def retry(batches: Annotated[list[int], typer.Argument(min=1, max=LARGEST_ID)], as_json: AsJson = False) -> None:
    """Hand over these unknown, failed or late batches (again), within a new grace; your word, not a guess."""
    now = utc_now()
    with application() as app, app.sessions.begin() as session:
        for batch_id in batches:
            if not retry_batch(session, batch_id, now, now + app.settings.policy.grace):
                raise PermanentError(f"batch {batch_id} is not unknown, failed or late: nothing was changed")
    if as_json:
        print_json({"batches": batches})
    else:
        say(f"{len(batches)} to be handed over at the next tick.")


@deliveries.command("pause")
def pause(as_json: AsJson = False) -> None:
    """Stop every hand-over, everywhere, until resume."""
    _switch("Sending is paused. Go on with: digest deliveries resume", paused=True, as_json=as_json)


@deliveries.command("resume")
def resume(as_json: AsJson = False) -> None:
    """Let hand-overs go on."""
    _switch("Sending goes on at the next tick.", paused=False, as_json=as_json)


@deliveries.command("restored")
def restored(as_json: AsJson = False) -> None:
    """Say that this database came back from a back-up: what may have left since is unknown and goes to nobody."""
    with application() as app:
        is_noted = declare_restored(app.sessions, app.witness, utc_now())
    if as_json:
        print_json({"noted": is_noted})
    elif is_noted:
        say("Noted. The next tick marks what may have gone out; see digest deliveries list --status unknown.")
    else:
        say("Nothing to note: the scheduler has never run on this database.")


def _switch(words: str, *, paused: bool, as_json: bool) -> None:
    with application() as app, app.sessions.begin() as session:
        set_paused(session, paused=paused, now=utc_now(), why="operator" if paused else "")
    if as_json:
        print_json({"paused": paused})
    else:
        say(words)


def audit(as_json: AsJson = False) -> None:
    """Prove the invariants of the ledger, the list and the suppressions."""
    with application() as app, app.sessions() as session:
        checks = run_audit(session, utc_now())
    ok = all(check.ok for check in checks)
    if as_json:
        print_json({"ok": ok, "checks": [{"name": c.name, "ok": c.ok, "found": c.found} for c in checks]})
    else:
        print_table(("", "check", "found"), [("ok" if c.ok else "BROKEN", c.name, c.found) for c in checks])
    if not ok:
        raise typer.Exit(1)
