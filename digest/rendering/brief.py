"""A brief's stories -> its message, once for everybody who shares it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from digest.domain.brief import BriefStory, reading_minutes
from digest.domain.correction import Notice
from digest.domain.language import Language
from digest.domain.story import StoryText
from digest.links import Links
from digest.ports import Message
from digest.rendering.dates import weekday_date
from digest.rendering.notices import notice_view
from digest.rendering.site import Site
from digest.rendering.stories import StoryView, story_views, summaries
from digest.rendering.subject import also, subject_line
from digest.rendering.templates import Templates, Words

SLOTS = ("unsubscribe_url", "preferences_url", "subscribed_on")
_DATE_CELLS = 17
"""As wide as ``2 December 2026`` gets in either language."""
_HIGHEST_ID = 2**63 - 1
_NONCE = re.compile(r"[A-Za-z0-9_-]{12,}")


def render_brief(  # noqa: PLR0913 (three tools and what differs per brief; all of it by name)
    templates: Templates,
    links: Links,
    site: Site,
    *,
    brief_id: int,
    stories: Sequence[BriefStory],
    language: Language,
    on: date,
    nonce: str,
    more: Sequence[BriefStory] = (),
    notices: Sequence[Notice] = (),
    is_both: bool = False,
    limit_bytes: int = 90_000,
) -> Message:
    """The brief of local date ``on``, with a marker in the place of each value that differs per reader.

    Args:
        stories: best first, at least one.
        more: others of the first story's source that the brief has no room for.
        notices: corrections of what some of its readers got before.
        is_both: for readers of both languages: each story has its title in the other one too.
        nonce: makes the markers unguessable; at least 12 letters, digits, ``-`` or ``_``, random per brief.
        limit_bytes: where the HTML in UTF-8 with a reader's own values would be larger, the last stories are left to
            the web version; where the first alone is still too large, what follows its answer. The footer always stays.

    Raises:
        ValueError: there is no story, or the nonce is too short.
    """
    if not stories:
        raise ValueError("a brief has at least one story")
    slots = markers(nonce)
    values: dict[str, object] = {
        **slots,
        "site": site.in_language(language),
        "home_url": links.home(language),
        "web_url": links.brief(on, language, brief_id),
        "weekday_date": weekday_date(on, language),
        "headline": subject_line(stories[0].text.title, on, language),
        "more": story_views(more, links, language),
        "notices": [notice_view(notice, links, language) for notice in notices],
    }
    views = story_views(stories, links, language, is_both=is_both)
    words = _within(templates, values, stories, views, language, limit_bytes - _own_bytes(links))
    return Message(f"brief-{brief_id}", "brief", language, words.subject, words.html, words.text, slots)


def markers(nonce: str) -> dict[str, str]:
    """The marker of each slot. None is a part of another, and none has a character special to HTML or addresses."""
    if not _NONCE.fullmatch(nonce):
        raise ValueError("a nonce has at least 12 letters, digits, - or _")
    return {name: f"slot-{nonce}-{name.replace('_', '-')}-slot" for name in SLOTS}


def _own_bytes(links: Links) -> int:
    """What a reader's own values take at most: three addresses and a date."""
    return 4 * max(len(make(_HIGHEST_ID)) for make in (links.unsubscribe, links.preferences))


def _within(
    templates: Templates,
    values: Mapping[str, object],
    stories: Sequence[BriefStory],
    views: Sequence[StoryView],
    language: Language,
    limit_bytes: int,
) -> Words:
    """The words with as many stories as fit, at least the first in short."""

    def words_of(shown: Sequence[StoryView]) -> Words:
        given = {
            **values,
            "stories": shown,
            "also": also(shown, language),
            "left_out": len(views) - len(shown),
            "minutes": reading_minutes(_as_read(stories[: len(shown)])),
        }
        return templates.render("brief", language, given, {str(values["subscribed_on"]): _DATE_CELLS})

    for number in range(len(views), 0, -1):
        words = words_of(views[:number])
        if len(words.html.encode()) <= limit_bytes:
            return words
    return words_of([replace(views[0], key_points=(), why_it_matters="")])


def _as_read(stories: Sequence[BriefStory]) -> list[BriefStory]:
    """The stories with only the texts that the brief shows: everything of the first, title and summary of others."""
    lead, *others = stories
    short = [
        replace(story, text=StoryText(story.text.title, quick_take=next(filter(None, summaries(story)), "")))
        for story in others
    ]
    return [lead, *short]
