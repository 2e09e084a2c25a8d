"""Corrections as the templates show them."""

from dataclasses import dataclass

from digest.domain.correction import Notice
from digest.domain.language import Language
from digest.links import Links
from digest.rendering.clean import clean, label, shorten

TITLE_CELLS = 160
NOTE_CELLS = 900


@dataclass(frozen=True, slots=True)
class NoticeView:
    """One correction, ready for a template; every text is on one line."""

    title: str
    note: str
    url: str


def notice_view(notice: Notice, links: Links, language: Language) -> NoticeView:
    """The correction for a brief or a page in ``language``."""
    return NoticeView(
        title=label(clean(notice.title_in(language)), TITLE_CELLS),
        note=shorten(clean(notice.note_in(language)), NOTE_CELLS),
        url=links.story(notice.slug, language),
    )
