"""``digest brief``: look at one before it goes, or send one now."""

import secrets
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from digest.bootstrap import Application, sender_of
from digest.cli.context import application, read_date, utc_now
from digest.cli.output import AsJson, print_json, say
from digest.domain.brief import BriefStory, choose
from digest.domain.correction import Notice
from digest.domain.edition import edition_for
from digest.domain.errors import BadInputError, PermanentError
from digest.domain.language import Language, parse_language
from digest.domain.schedule import Cadence, Send, parse_timezone, send_on
from digest.domain.subscriber import topics_key, topics_of
from digest.ports import Message, Recipient
from digest.rendering.brief import render_brief
from digest.rendering.dates import full_date
from digest.rendering.mime import Encoded
from digest.steps.send_now import send_now
from digest.store.corrections import notices_between
from digest.store.stories import candidates

brief = typer.Typer(help="Briefs: preview one, send one now.", no_args_is_help=True)
READER = "reader@example.com"


@brief.command("preview")
def preview(
    language: Annotated[str, typer.Option(help="en or zh.")] = "",
    timezone: Annotated[str, typer.Option(help="An IANA zone.")] = "",
    on: Annotated[str, typer.Option("--date", help="Local date, or tomorrow; default the next brief's.")] = "",
    topics: Annotated[str, typer.Option(help="As a reader follows them: chips,models; -policy mutes.")] = "",
    out: Annotated[Path, typer.Option(help="Folder for brief.html, brief.txt and brief.eml.")] = Path("var/preview"),
    as_json: AsJson = False,
) -> None:
    """Write a brief as a reader of that zone would get it on that date."""
    with application() as app:
        tongue = parse_language(language) if language else app.settings.default_language
        cadence = Cadence(parse_timezone(timezone or app.settings.default_timezone))
        send = _send(cadence, on, utc_now())
        stories, notices = _stories(app, cadence, send, tongue, topics)
        if not stories:
            raise PermanentError(f"nothing new for {send.on.isoformat()} in {tongue}: there would be no brief")
        message, recipient = _written(app, stories, notices, tongue, send)
        _save(app, message, recipient, send, out)
    if as_json:
        print_json(
            {"stories": len(stories), "subject": message.subject, "date": send.on.isoformat(), "folder": str(out)}
        )
    else:
        say(f"{len(stories)} stories: {out / 'brief.html'}, brief.txt, brief.eml")


def _send(cadence: Cadence, on: str, now: datetime) -> Send:
    today = now.astimezone(ZoneInfo(cadence.timezone)).date()
    named = {"today": today, "tomorrow": today + timedelta(days=1)}.get(on)
    date = named or read_date(on, "date") if on else now.astimezone(ZoneInfo(cadence.timezone)).date()
    if not on and now.astimezone(ZoneInfo(cadence.timezone)).time() > time(8):
        date += timedelta(days=1)
    send = send_on(cadence, date)
    if send is None:
        raise BadInputError("date", on, f"is a date that {cadence.timezone} never had.")
    return send


def _stories(
    app: Application, cadence: Cadence, send: Send, language: Language, topics: str
) -> tuple[list[BriefStory], list[Notice]]:
    edition = edition_for(cadence, send, frozenset(), app.settings.policy)
    with app.sessions() as session:
        found = candidates(session, edition.window_start, edition.window_end)
        notices = notices_between(session, language, edition.window_start, edition.window_end)
    wanted = topics_of(topics_key(topics.split(",")))
    return choose(found, language, wanted, app.settings.limits, app.settings.other_language), notices


def _written(
    app: Application, stories: list[BriefStory], notices: list[Notice], language: Language, send: Send
) -> tuple[Message, Recipient]:
    message = render_brief(
        app.templates,
        app.links,
        app.site,
        brief_id=0,
        stories=stories,
        language=language,
        on=send.on,
        nonce=secrets.token_hex(8),
        notices=notices,
        limit_bytes=app.settings.limits.html_bytes,
    )
    values = {
        "unsubscribe_url": app.links.unsubscribe(0),
        "preferences_url": app.links.preferences(0),
        "subscribed_on": full_date(send.on, language),
    }
    return message, Recipient("0-preview", READER, values, app.links.unsubscribe(0))


def _save(app: Application, message: Message, recipient: Recipient, send: Send, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, words in (("brief.html", message.html), ("brief.txt", message.text)):
        for slot, marker in message.slots.items():
            words = words.replace(marker, recipient.values[slot])  # noqa: PLW2901 - filled slot by slot
        (out / name).write_text(words, encoding="utf-8")
    source = Encoded(message, sender_of(app.settings)).for_recipient(recipient, send.at)
    (out / "brief.eml").write_bytes(source)


@brief.command("send")
def send(email: str, as_json: AsJson = False) -> None:
    """Send today's brief to one subscriber, now; refused when they have had it."""
    with application() as app:
        status = send_now(app.sessions, app.provider, app.press, app.settings.policy, email, utc_now())
    if as_json:
        print_json({"status": status})
    else:
        say(f"Today's brief: {status}.")
