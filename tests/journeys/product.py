"""The product as a reader and its operator meet it: pages, mail, and turns of the scheduler at chosen moments."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from functools import cached_property

from fastapi import FastAPI
from fastapi.testclient import TestClient

from digest.bootstrap import Application
from digest.domain.language import Language
from digest.domain.story import Story, StoryText
from digest.steps.collect_stories import import_stories
from digest.steps.take_turn import Turn, take_turn
from digest.store.audit import audit
from digest.store.ledger import entries
from digest.web.app import create_app

BASE_URL = "https://brief.example.com"
SIGN_UP_AT = datetime(2026, 12, 2, 3, 0, tzinfo=UTC)
"""11:00 in Shanghai."""
ONE_CLICK = {"List-Unsubscribe": "One-Click"}
EN, ZH = Language.ENGLISH, Language.CHINESE


@dataclass
class Product:
    """One installation and its clock."""

    application: Application
    now: datetime

    def at(self, text: str) -> Turn:
        """Move the clock to this instant (UTC) and take one turn."""
        self.now = datetime.fromisoformat(text).replace(tzinfo=UTC)
        own = self.application
        return take_turn(own.sessions, own.provider, own.press, own.settings.policy, self.now)

    @cached_property
    def site(self) -> FastAPI:
        """The web application."""
        return create_app(self.application, lambda _: None, lambda: self.now)

    def visitor(self) -> TestClient:
        """A browser without history, or curl."""
        return TestClient(self.site, base_url=BASE_URL, follow_redirects=False)

    def story(self, title: str, at: str, languages: Sequence[Language] = (EN, ZH)) -> None:
        """A story that is there from this instant (UTC) on."""
        when = datetime.fromisoformat(at).replace(tzinfo=UTC)
        texts = {tongue: StoryText(title, quick_answer=f"{title}.") for tongue in languages}
        url = f"https://news.example.com/{title.lower().replace(' ', '-')}"
        found = Story(url, "Example News", languages[0], when, texts)
        import_stories(self.application.sessions, self.application.editor, [found], when, enters=when)

    def mail(self, address: str) -> list[EmailMessage]:
        """What the reader has got, the oldest first."""
        folder = self.application.settings.outbox_dir
        files = sorted(folder.glob("*.eml"), key=lambda file: file.stat().st_mtime_ns)
        kept = [message_from_bytes(file.read_bytes(), policy=SMTP) for file in files]
        return [one for one in kept if one["To"] == address]

    def briefs(self, address: str) -> list[EmailMessage]:
        """The daily briefs among it: only they are mail of the list with stories and a date of their own."""
        return [one for one in self.mail(address) if one["Message-ID"].startswith("<brief-")]

    def sign_up(self, address: str, language: Language, zone: str) -> None:
        """Fill in the form; a confirmation is in the mailbox a turn later."""
        form = {"email": address, "language": language.value, "timezone": zone}
        answer = self.visitor().post("/subscribe", data=form)
        assert answer.status_code == 200
        self.at(self.now.replace(tzinfo=None).isoformat())

    def confirm(self, address: str) -> None:
        """Follow the newest confirmation's link and press the button."""
        path = link_in(self.mail(address)[-1], "/confirm/")
        assert self.visitor().get(path).status_code == 200
        assert self.visitor().post(path).status_code == 200

    def leave(self, message: EmailMessage) -> None:
        """What a mail client does at its own unsubscribe button (RFC 8058): one POST, no cookies."""
        assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        found = re.fullmatch(rf"<({re.escape(BASE_URL)}/unsubscribe/[^>]+)>", str(message["List-Unsubscribe"]))
        assert found is not None
        answer = self.visitor().post(found[1], data=ONE_CLICK)
        assert answer.status_code == 200
        assert "location" not in answer.headers
        assert "set-cookie" not in answer.headers

    def ledger(self, address: str) -> list[tuple[str, str, str | None]]:
        """Date, status and reason of the reader's deliveries, oldest first."""
        with self.application.sessions() as session:
            rows = entries(session, email=address)
        return sorted((row.on.isoformat(), row.status, row.reason) for row in rows)

    def holds(self) -> None:
        """Every invariant of the ledger, the list and the suppressions."""
        with self.application.sessions() as session:
            assert [check.name for check in audit(session, self.now) if not check.ok] == []


def text_of(message: EmailMessage) -> str:
    """The plain-text part."""
    part = message.get_body(("plain",))
    assert part is not None
    return str(part.get_content())


def html_of(message: EmailMessage) -> str:
    """The HTML part."""
    part = message.get_body(("html",))
    assert part is not None
    return str(part.get_content())


def link_in(message: EmailMessage, path: str) -> str:
    """The address on the site that a mail gives under ``path``."""
    found = re.search(rf"{re.escape(BASE_URL)}{path}\S+", text_of(message))
    assert found is not None
    return found[0]
