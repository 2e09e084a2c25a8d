"""What the words of a morning cost: the brief's own, and those of the usual way, MJML for every reader."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from itertools import count

from mjml import mjml2html

from digest.bootstrap import Application, sender_of
from digest.domain.brief import BriefStory
from digest.domain.language import Language
from digest.ports import Message, Recipient
from digest.rendering.brief import render_brief
from digest.rendering.compiler import compile_source, expand, read_tokens, with_tokens
from digest.rendering.dates import full_date
from digest.rendering.mime import Encoded
from digest.rendering.templates import Templates
from digest.sources.story_file import bundled_stories

AT = datetime(2026, 12, 3, tzinfo=UTC)
READER = "reader@example.com"


@dataclass(frozen=True, slots=True)
class Compiling:
    """The work that the bench measures; each call does one piece of it.

    Attributes:
        template: what the first brief of a process costs more: MJML to HTML, and Jinja read.
        brief: one distinct brief, to what is kept of it.
        mail: the next reader's finished MIME message, out of a brief compiled before.
        naive: the next reader's message from the start: Jinja, MJML and MIME for each, as most mailers do it.
        message: the brief that the readers get.
    """

    template: Callable[[], object]
    brief: Callable[[], Message]
    mail: Callable[[], bytes]
    naive: Callable[[], bytes]
    message: Message


class MjmlPerReader(Templates):
    """Templates as they are mostly used: values first, then MJML, so that MJML has to run for each message."""

    values: Mapping[str, object]

    def html(self, name: str, language: Language, values: Mapping[str, object]) -> str:
        """The HTML part; the values of the last one are kept."""
        self.values = values
        page = self._pages.get((name, language))
        if page is None:
            source = expand(self.folder / name / "body.mjml", self.folder)
            page = self._pages_env[language].from_string(with_tokens(source, read_tokens(self.folder), name))
            self._pages[name, language] = page
        html: str = mjml2html(page.render(values), fonts={}, disable_comments=False)
        return html


def compiling(app: Application, language: Language, stories: int) -> Compiling:
    """The work over a brief of that many bundled stories."""
    chosen = bundled_briefs(language, stories)
    message = written(app, app.templates, chosen, language)
    encoded = Encoded(message, sender_of(app.settings))
    naive = MjmlPerReader(app.templates.folder)
    written(app, naive, chosen, language)
    since, mine, theirs = full_date(AT.date(), language), count(1), count(1)
    return Compiling(
        template=lambda: from_nothing(app, chosen[:1], language),
        brief=lambda: written(app, app.templates, chosen, language),
        mail=lambda: encoded.for_recipient(reader(app, next(mine), since), AT),
        naive=lambda: by_itself(app, naive, message, reader(app, next(theirs), since)),
        message=message,
    )


def from_nothing(app: Application, stories: list[BriefStory], language: Language) -> Message:
    """A brief as the first of a new process is written."""
    compile_source.cache_clear()
    return written(app, Templates(app.templates.folder), stories, language)


def bundled_briefs(language: Language, stories: int) -> list[BriefStory]:
    """The first bundled stories, as a brief gets them."""
    return [
        BriefStory(
            id=number,
            slug=story.slug,
            url=story.url,
            source=story.source,
            text=story.texts[language],
            language=language,
            published_at=story.published_at,
            topics=story.topics,
            score=50,
        )
        for number, story in enumerate(bundled_stories()[:stories], 1)
    ]


def written(app: Application, templates: Templates, stories: list[BriefStory], language: Language) -> Message:
    """The brief of these stories."""
    return render_brief(
        templates,
        app.links,
        app.site,
        brief_id=1,
        stories=stories,
        language=language,
        on=AT.date(),
        nonce=secrets.token_hex(8),
    )


def reader(app: Application, number: int, since: str) -> Recipient:
    """One of the readers, with addresses signed for them; a hand-over writes each date out once."""
    leave = app.links.unsubscribe(number)
    values = {"unsubscribe_url": leave, "preferences_url": app.links.preferences(number), "subscribed_on": since}
    return Recipient(f"{number}-bench", READER, values, leave)


def by_itself(app: Application, templates: MjmlPerReader, message: Message, recipient: Recipient) -> bytes:
    """A message that shares only its plain text with the others."""
    mail = EmailMessage(SMTP.clone(max_line_length=998))
    mail["From"], mail["To"], mail["Subject"] = app.settings.sender, recipient.address, message.subject
    mail["List-Unsubscribe"] = f"<{recipient.unsubscribe_url}>"
    mail.set_content(message.text, cte="base64")
    html = templates.html("brief", message.language, {**templates.values, **recipient.values})
    mail.add_alternative(html, subtype="html", cte="base64")
    return mail.as_bytes()
