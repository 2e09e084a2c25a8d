"""``digest suppressions``: what the mail provider keeps about people, held against our own list."""

from contextlib import closing
from datetime import datetime
from typing import Any

import typer

from digest.bootstrap import Application
from digest.cli.context import application, utc_now
from digest.cli.output import AsJson, print_json, say
from digest.domain.errors import BadInputError
from digest.steps.mirror_suppressions import mirror_suppressions
from digest.steps.pass_on_erasures import PassedOn, pass_on_erasures

suppressions = typer.Typer(help="The provider's suppression lists and ours.", no_args_is_help=True)


@suppressions.callback()
def group() -> None:
    """Keep a command of one from becoming the group itself."""


@suppressions.command("mirror")
def mirror(as_json: AsJson = False) -> None:
    """Take over what SendGrid holds back from our readers, free there who confirmed since, and pass on erasures."""
    with application() as app:
        account = app.account()
        if account is None:
            raise BadInputError("DIGEST_PROVIDER", app.settings.provider, "keeps no suppression lists; sendgrid does.")
        with closing(account):
            found = mirror_suppressions(app.sessions, account, utc_now(), app.settings.soft_bounce_rule)
        passed_on = pass_on(app, utc_now())
    if as_json:
        row = {"held": found.held, "ours": found.ours, "new": found.new, "let_go": found.let_go}
        print_json(row | {"faults": found.faults} | passed_on_row(passed_on))
        return
    say(
        f"{found.held} held back at {app.keeps_records}, {found.ours} of them readers here; {found.new} facts were new."
    )
    say(f"{found.let_go} let go there, since their owners confirmed later.")


def pass_on(app: Application, now: datetime) -> PassedOn | None:
    """Tell the provider of erasures; None where no provider keeps records."""
    account = app.account()
    if account is None:
        return None
    with closing(account):
        return pass_on_erasures(app.sessions, account, now)


def passed_on_row(passed_on: PassedOn | None) -> dict[str, Any]:
    """For a report; empty where no provider keeps records."""
    if passed_on is None:
        return {}
    row = {"taken": passed_on.taken, "refused": passed_on.refused, "waiting": passed_on.waiting}
    return {"at_provider": row | ({"fault": passed_on.fault} if passed_on.fault else {})}
