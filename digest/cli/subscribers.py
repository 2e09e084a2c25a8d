"""``digest subscribers``: one reader at a time; the list as files is in :mod:`digest.cli.lists`."""

from typing import Annotated

import typer
from sqlalchemy.orm import Session

from digest.cli.context import application, instant_text, utc_now
from digest.cli.lists import Email, data, export_file, import_file
from digest.cli.output import AsJson, print_json, print_table, say, warn
from digest.cli.suppressions import pass_on, passed_on_row
from digest.domain.errors import BadInputError, PermanentError
from digest.domain.schedule import is_known_zone, weekdays_text
from digest.steps.erase_subscribers import erase_subscriber
from digest.steps.manage_subscriptions import send_preferences_link, unsubscribe_address
from digest.steps.read_subscribers import reader_of
from digest.steps.readmit import readmit
from digest.store.ledger import Entry, entries
from digest.store.subscribers import confirmed_consent, count_by_leave_reason, count_by_state, find
from digest.store.tables import Consent, Subscriber

subscribers = typer.Typer(help="The list: import, export, show, link, leave, erase, stats.", no_args_is_help=True)
subscribers.command("import")(import_file)
subscribers.command("export")(export_file)
subscribers.command("data")(data)


@subscribers.command("show")
def show(email: Email, as_json: AsJson = False) -> None:
    """Show one subscriber: state, settings, consent, next send, every delivery."""
    with application() as app, app.sessions() as session:
        subscriber = find(session, email)
        if subscriber is None:
            raise PermanentError(f"there is no subscriber {email}")
        record = _record(session, subscriber)
        consent = _consent_row(confirmed_consent(session, subscriber.id))
        deliveries = [_delivery_row(entry) for entry in entries(session, email=email)]
    if as_json:
        print_json(record | {"consent": consent, "deliveries": deliveries})
        return
    print_table(("", ""), [*record.items(), *(consent or {}).items()])
    columns = ("date", "status", "reason", "sent_at")
    print_table(columns, [[row[name] for name in columns] for row in deliveries])


def _delivery_row(entry: Entry) -> dict[str, object]:
    return {
        "date": entry.on.isoformat(),
        "status": entry.status,
        "reason": entry.reason,
        "batch": entry.batch,
        "brief": entry.brief,
        "sent_at": instant_text(entry.sent_at) if entry.sent_at else None,
    }


def _consent_row(consent: Consent | None) -> dict[str, object] | None:
    if consent is None:
        return None
    return {
        "source": consent.source,
        "wording": consent.wording,
        "requested_at": instant_text(consent.requested_at),
        "confirmed_at": instant_text(consent.confirmed_at) if consent.confirmed_at else None,
    }


def _record(session: Session, subscriber: Subscriber) -> dict[str, object]:
    reader = reader_of(session, subscriber, utc_now())
    known = is_known_zone(reader.cadence.timezone)
    return {
        "email": subscriber.email,
        "name": subscriber.name,
        "status": reader.state.value,
        "reason": reader.reason.value if reader.reason else None if known else "unknown_zone",
        "language": reader.language.value,
        "languages": reader.languages.value,
        "timezone": reader.cadence.timezone,
        "time": f"{reader.cadence.at:%H:%M}",
        "weekdays": weekdays_text(reader.cadence.weekdays),
        "topics": list(reader.topics),
        "paused_until": reader.paused_until_on.isoformat() if reader.paused_until_on else None,
        "next_send": instant_text(reader.next_send.at) if reader.next_send else None,
    }


@subscribers.command("unsubscribe")
def unsubscribe(email: Email, as_json: AsJson = False) -> None:
    """End a subscription on the reader's request, however they spelled the address."""
    with application() as app:
        reader = unsubscribe_address(app.sessions, email, utc_now())
    if reader is None:
        raise PermanentError(f"there is no subscriber {email}")
    if as_json:
        print_json({"status": reader.state, "reason": reader.reason})
    else:
        say(f"{reader.state}: {reader.reason}")


@subscribers.command("link")
def link(email: Email, as_json: AsJson = False) -> None:
    """Send a reader who cannot find a brief any more the link to their settings; it is not shown here."""
    with application() as app:
        reader = send_preferences_link(app.sessions, email, utc_now())
    if reader is None:
        raise PermanentError(f"nobody is subscribed as {email}")
    if as_json:
        print_json({"status": reader.state, "letter": "preferences_link"})
    else:
        say("The link goes to that address with the next tick.")


@subscribers.command("readmit")
def readmit_address(
    email: Email,
    because: Annotated[str, typer.Option(help="Why, in a few words; kept with the reader's events.")],
    as_json: AsJson = False,
) -> None:
    """Lift the bar on an address after a bounce, complaint or erasure; its owner still has to sign up and confirm."""
    if not because.strip():
        raise BadInputError("because", because, "must say why, in a few words.")
    with application() as app:
        reason = readmit(app.sessions, email, app.address_hashes(email), because, utc_now())
    if reason is None:
        raise PermanentError(f"nothing bars {email}")
    if as_json:
        print_json({"barred": False, "was": reason})
    else:
        say(f"Readmitted; it was barred as {reason}. They can sign up and confirm again.")


@subscribers.command("erase")
def erase(email: Email, as_json: AsJson = False) -> None:
    """Erase everything about an address; a keyed hash keeps it from being written to again."""
    with application() as app:
        known = erase_subscriber(app.sessions, email, app.address_hashes(email)[0], utc_now(), app.keeps_records)
        passed_on = pass_on(app, utc_now())
    if passed_on and passed_on.fault:
        warn(f"The provider has still to be told, and will be: {passed_on.fault}")
    if not known:
        raise PermanentError(f"there is no subscriber {email}; the address is barred all the same")
    if as_json:
        print_json({"erased": True} | passed_on_row(passed_on))
    else:
        say("Erased.")


@subscribers.command("stats")
def stats(as_json: AsJson = False) -> None:
    """Count subscribers by state, and those who left by what they said about it."""
    with application() as app, app.sessions() as session:
        counts, said = count_by_state(session), count_by_leave_reason(session)
    if as_json:
        print_json(counts | ({"left_because": said} if said else {}))
    else:
        print_table(("state", "subscribers"), sorted(counts.items()))
        if said:
            print_table(("left because", "subscribers"), sorted(said.items()))
