"""Sources -> stories: fetch what is due, read it, store what is new. One bad feed never stops another."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import update

from digest.domain.errors import BadInputError, DigestError
from digest.domain.story import Story
from digest.ports import Editor, FeedParser, Fetched, Fetcher
from digest.steps.write_texts import write_texts
from digest.store.collecting import save_edited_story, save_story
from digest.store.database import Sessions
from digest.store.sources import due_sources, source_named
from digest.store.tables import Source

LONGEST_REST = timedelta(days=1)
WAITING = timedelta(minutes=5)
"""How long a source may wait to be fetched before it is asked for again."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What one source gave.

    Attributes:
        new: how many stories were not known.
        known: how many were.
        notes: what was odd about the document.
        error: why nothing could be read, in one line.
    """

    source: str
    new: int = 0
    known: int = 0
    notes: Sequence[str] = field(default_factory=tuple)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Desk:
    """What collecting needs besides the database."""

    fetcher: Fetcher
    parse: FeedParser
    editor: Editor
    every: timedelta


def take_sources(sessions: Sessions, now: datetime) -> list[int]:
    """The ids of the sources to fetch now; they rest for :data:`WAITING`, so that no tick asks for them twice."""
    with sessions.begin() as session:
        ids = list(due_sources(session, now))
        session.execute(update(Source).where(Source.id.in_(ids)).values(fetch_after_at=now + WAITING))
    return ids


def collect_source(sessions: Sessions, desk: Desk, source_id: int, now: datetime) -> Collected:
    """Fetch one source and store its stories. A failure is written to the source, with a growing rest."""
    with sessions() as session:
        source = session.get_one(Source, source_id)
    if not source.feed_url:
        raise BadInputError("source", source.name, "has no feed address.")
    try:
        document = desk.fetcher.fetch(source.feed_url, source.etag, source.last_modified)
        if document.not_modified:
            return _done(sessions, desk, source, _Read(document), now)
        return read_document(sessions, desk, source, document, now)
    except DigestError as error:
        return _failed(sessions, desk, source, str(error), now)


def read_document(sessions: Sessions, desk: Desk, source: Source, document: Fetched, now: datetime) -> Collected:
    """Store the stories of a document as if it came from ``source``.

    The server's ETag is kept together with the stories, in one transaction, and only when the document was whole: else
    a crash or a cut body would make the server say "not modified" for ever.
    """
    feed = desk.parse(document, source=source.name, language=source.language, topics=source.topics, seen_at=now)
    kept = document if feed.whole else Fetched(document.url, b"")
    return _done(sessions, desk, source, _Read(kept, feed.stories, feed.notes), now)


@dataclass(frozen=True, slots=True)
class _Read:
    """A document whose tags may be kept, and what was in it."""

    document: Fetched
    stories: Sequence[Story] = ()
    notes: Sequence[str] = ()


def _done(sessions: Sessions, desk: Desk, source: Source, read: _Read, now: datetime) -> Collected:
    new = 0
    with sessions.begin() as session:
        row = session.get_one(Source, source.id)
        for story in read.stories:
            new += save_story(session, row, story, now)
        if not read.document.not_modified:
            row.etag, row.last_modified = read.document.etag, read.document.last_modified
        row.fetched_at, row.error, row.failures, row.fetch_after_at = now, "", 0, now + desk.every
    write_texts(sessions, desk.editor, now)
    return Collected(source.name, new, len(read.stories) - new, read.notes)


def _failed(sessions: Sessions, desk: Desk, source: Source, error: str, now: datetime) -> Collected:
    with sessions.begin() as session:
        row = session.get_one(Source, source.id)
        row.fetched_at, row.error, row.failures = now, error, row.failures + 1
        row.fetch_after_at = now + min(desk.every * (1 << min(row.failures, 10)), LONGEST_REST)
    return Collected(source.name, error=error)


def import_stories(
    sessions: Sessions, editor: Editor, stories: Sequence[Story], now: datetime, *, enters: datetime | None = None
) -> tuple[int, int]:
    """Store stories from a file, all or none; returns how many were new and how many known.

    Args:
        enters: when they count as new, where that is not for their dates to say (the bundled ones).
    """
    new = 0
    with sessions.begin() as session:
        for story in stories:
            source = source_named(session, story.source, now, home_url=story.source_url)
            new += save_edited_story(session, source, story, now, enters=enters)
    write_texts(sessions, editor, now)
    return new, len(stories) - new
