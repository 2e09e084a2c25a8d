"""``digest brief``: look at one before it goes, or send one now."""

import secrets
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from digest.bootstrap import Application, sender_of
from digest.cli.contact_sheet import write_sheet
from digest.cli.context import application, read_date, utc_now
from digest.cli.output import AsJson, print_json, say
from digest.domain.brief import OtherLanguage, choose
from digest.domain.edition import edition_for
from digest.domain.errors import BadInputError, PermanentError
from digest.domain.language import Language, LanguageChoice, language_choice, parse_language_choice
from digest.domain.leftover import more_from_source
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
    language: Annotated[str, typer.Option(help="en, zh, en+zh or zh+en.")] = "",
    timezone: Annotated[str, typer.Option(help="An IANA zone.")] = "",
    on: Annotated[str, typer.Option("--date", help="Local date, or tomorrow; default the next brief's.")] = "",
    topics: Annotated[str, typer.Option(help="As a reader follows them: chips,models; -policy mutes.")] = "",
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("var/preview"),
    with_sheet: Annotated[bool, typer.Option("--sheet/--no-sheet", help="Whether to show it at every width.")] = True,
    as_json: AsJson = False,
) -> None:
    """Write a brief as a reader of that zone would get it on that date: brief.html, brief.txt, brief.eml, and a sheet
    of it in every language at four widths, light and dark (a picture where a Chromium is installed).
    """
    with application() as app:
        first = app.settings.default_language
        languages = parse_language_choice(language, first) if language else language_choice(first)
        cadence = Cadence(parse_timezone(timezone or app.settings.default_timezone))
        morning = _Morning(app, cadence, _send(cadence, on, utc_now()), topics_of(topics_key(topics.split(","))))
        written = _written(morning, languages)
        if written is None:
            raise PermanentError(
                f"nothing new for {morning.send.on.isoformat()} in {languages}: there would be no brief"
            )
        _save(morning, written, out)
        names = write_sheet(_every_language(morning, written), out) if with_sheet else []
    subject, count = written.message.subject, written.stories
    if as_json:
        print_json({"stories": count, "subject": subject, "date": morning.send.on.isoformat(), "folder": str(out)})
    else:
        say(f"{count} stories: {', '.join([str(out / 'brief.html'), 'brief.txt', 'brief.eml', *names])}")


@dataclass(frozen=True, slots=True)
class _Morning:
    """Which brief is looked at, but for its language."""

    app: Application
    cadence: Cadence
    send: Send
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Written:
    """A brief and the reader of the preview."""

    languages: LanguageChoice
    stories: int
    message: Message
    recipient: Recipient

    def filled(self, words: str) -> str:
        """The words with the reader's values in the place of the markers."""
        for slot, marker in self.message.slots.items():
            words = words.replace(marker, self.recipient.values[slot])
        return words


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


def _every_language(morning: _Morning, written: _Written) -> dict[str, str]:
    """The HTML of that morning's brief in every language that has one."""
    wanted = dict.fromkeys([written.languages, *map(language_choice, Language)])
    briefs = [written if one is written.languages else _written(morning, one) for one in wanted]
    return {str(brief.languages): brief.filled(brief.message.html) for brief in briefs if brief is not None}


def _written(morning: _Morning, languages: LanguageChoice) -> _Written | None:
    app, language = morning.app, languages.language
    edition = edition_for(morning.cadence, morning.send, frozenset(), app.settings.policy)
    with app.sessions() as session:
        found = candidates(session, edition.window_start, edition.window_end)
        notices = notices_between(session, language, edition.window_start, edition.window_end)
    other = OtherLanguage.LABEL if languages.is_both else app.settings.other_language
    stories = choose(found, language, morning.topics, app.settings.limits, other)
    if not stories:
        return None
    message = render_brief(
        app.templates,
        app.links,
        app.site,
        brief_id=0,
        stories=stories,
        language=language,
        on=morning.send.on,
        nonce=secrets.token_hex(8),
        more=more_from_source(found, stories, language, morning.topics),
        is_both=languages.is_both,
        notices=notices,
        limit_bytes=app.settings.limits.html_bytes,
    )
    return _Written(languages, len(stories), message, _reader(morning, language))


def _reader(morning: _Morning, language: Language) -> Recipient:
    links = morning.app.links
    values = {
        "unsubscribe_url": links.unsubscribe(0),
        "preferences_url": links.preferences(0),
        "subscribed_on": full_date(morning.send.on, language),
    }
    return Recipient("0-preview", READER, values, links.unsubscribe(0))


def _save(morning: _Morning, written: _Written, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "brief.html").write_text(written.filled(written.message.html), encoding="utf-8")
    (out / "brief.txt").write_text(written.filled(written.message.text), encoding="utf-8")
    encoded = Encoded(written.message, sender_of(morning.app.settings))
    (out / "brief.eml").write_bytes(encoded.for_recipient(written.recipient, morning.send.at))


@brief.command("send")
def send(email: str, as_json: AsJson = False) -> None:
    """Send today's brief to one subscriber, now; refused when they have had it."""
    with application() as app:
        status = send_now(app.sessions, app.provider, app.press, app.settings.policy, email, utc_now())
    if as_json:
        print_json({"status": status})
    else:
        say(f"Today's brief: {status}.")
