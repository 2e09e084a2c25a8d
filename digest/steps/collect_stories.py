"""Sources -> stories: fetch what is due, read it, store what is new. One bad feed never stops another."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import TypeVar

from sqlalchemy import update
from sqlalchemy.orm import Session

from digest.domain.errors import BadInputError, DigestError, GoneError, TryAgainError
from digest.domain.source import RestReason, after_failure, after_redirect, after_success
from digest.domain.story import Story
from digest.ports import Editor, FeedParser, Fetched, Fetcher, Matcher, PageReader, ParsedFeed, Runner
from digest.steps.write_texts import edited, write_texts
from digest.store.collecting import new_stories, save_edited_story, save_stories
from digest.store.database import Sessions
from digest.store.sources import claim_host, due_sources, health_of, host_of, set_health, source_at, source_named
from digest.store.tables import Source

Result = TypeVar("Result")
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
        rest: why the source is no longer fetched by itself, if so.
        put_off_until: its host was visited a moment ago; nothing was done, and it may be asked then.
    """

    source: str
    new: int = 0
    known: int = 0
    notes: Sequence[str] = field(default_factory=tuple)
    error: str = ""
    rest: RestReason | None = None
    put_off_until: datetime | None = None


def at_once(work: Callable[[], Result]) -> Result:
    """Implements :class:`digest.ports.Runner` in this very thread."""
    return work()


@dataclass(frozen=True, slots=True)
class Desk:
    """What collecting needs besides the database.

    Attributes:
        every: the usual time between two fetches of a source.
        spacing: the least time between two visits of one host.
        run: does what keeps a processor busy.
        alone: held while the database is spoken to. Threads that queue here go on at once, where those that wait for
            another's transaction in SQLite sleep and look again.
    """

    fetcher: Fetcher
    parse: FeedParser
    pages: PageReader
    matcher: Matcher
    editor: Editor
    every: timedelta
    spacing: timedelta
    run: Runner = at_once
    alone: AbstractContextManager[object] = field(default_factory=nullcontext)


def take_sources(sessions: Sessions, now: datetime) -> list[int]:
    """The ids of the sources to fetch now; they rest for :data:`WAITING`, so that no tick asks for them twice."""
    with sessions.begin() as session:
        ids = list(due_sources(session, now))
        session.execute(update(Source).where(Source.id.in_(ids)).values(fetch_after_at=now + WAITING))
    return ids


def collect_source(sessions: Sessions, desk: Desk, source_id: int, now: datetime) -> Collected:
    """Fetch one source, store its stories and have their texts written."""
    collected = fetch_source(sessions, desk, source_id, now)
    if collected.new or collected.known:
        write_texts(sessions, desk.editor, now)
    return collected


def fetch_source(sessions: Sessions, desk: Desk, source_id: int, now: datetime) -> Collected:
    """Fetch one source and store its stories. A failure is written to the source, with a growing rest."""
    with desk.alone, sessions.begin() as session:
        source = session.get_one(Source, source_id)
        if not source.feed_url:
            raise BadInputError("source", source.name, "has no feed address.")
        busy_until = claim_host(session, host_of(source.feed_url), now, desk.spacing)
        if busy_until is not None:
            source.fetch_after_at = busy_until
            return Collected(source.name, put_off_until=busy_until)
    try:
        return _fetched(sessions, desk, source, source.feed_url, now)
    except DigestError as error:
        return _failed(sessions, desk, source, error, now)


def _fetched(sessions: Sessions, desk: Desk, source: Source, address: str, now: datetime) -> Collected:
    document = desk.fetcher.fetch(address, source.etag, source.last_modified)
    hashed = None if document.not_modified else sha256(document.body).hexdigest()
    if document.not_modified or hashed == source.body_hash:
        return _done(sessions, desk, source, _Read(document, hashed or source.body_hash), now)
    return _read(sessions, desk, source, document, hashed, now)


def read_document(sessions: Sessions, desk: Desk, source: Source, document: Fetched, now: datetime) -> Collected:
    """Store the stories of a saved document as if it came from ``source``, and have their texts written."""
    collected = _read(sessions, desk, source, document, None, now)
    write_texts(sessions, desk.editor, now)
    return collected


@dataclass(frozen=True, slots=True)
class _Read:
    """A document whose tags and hash may be kept, what was in it, and stories of it as the editor left them."""

    document: Fetched
    body_hash: str | None = None
    stories: Sequence[Story] = ()
    notes: Sequence[str] = ()
    written: Mapping[str, Story] = field(default_factory=dict)


def _read(
    sessions: Sessions, desk: Desk, source: Source, document: Fetched, hashed: str | None, now: datetime
) -> Collected:
    """The server's ETag is kept together with the stories, in one transaction, and only for a document that was whole.

    Else a crash or a cut body would make the server say "not modified" for ever.
    """
    read = partial(desk.parse, document, source=source.name, language=source.language)
    work = partial(_understood, partial(read, topics=source.topics, seen_at=now), desk.editor, source.topics)
    # Of a source that was never read all is new: its texts are written on the same way, wherever that is done.
    feed, written = desk.run(partial(work, with_texts=source.fetched_at is None))
    if not written and feed.stories:
        with desk.alone, sessions() as session:
            new = new_stories(session, source, feed.stories)
        written = edited(desk.editor, new, source.topics)
    kept, hashed = (document, hashed) if feed.whole else (Fetched(document.url, b""), None)
    return _done(sessions, desk, source, _Read(kept, hashed, feed.stories, feed.notes, written), now)


def _understood(
    read: Callable[[], ParsedFeed], editor: Editor, about: Sequence[str], *, with_texts: bool
) -> tuple[ParsedFeed, Mapping[str, Story]]:
    feed = read()
    return feed, edited(editor, feed.stories, about) if with_texts else {}


def _done(sessions: Sessions, desk: Desk, source: Source, read: _Read, now: datetime) -> Collected:
    document = read.document
    with desk.alone, sessions.begin() as session:
        row = session.get_one(Source, source.id)
        new = save_stories(session, row, read.stories, now, desk.matcher, read.written) if read.stories else 0
        if not document.not_modified:
            row.etag, row.last_modified = document.etag, document.last_modified
        row.body_hash, row.fetched_at, row.error = read.body_hash, now, ""
        set_health(row, after_success(now, desk.every))
        notes = [*read.notes, *_moved(session, row, document.moved_to)]
    return Collected(source.name, new, len(read.stories) - new, notes)


def _moved(session: Session, row: Source, told: str) -> Sequence[str]:
    """Follow a permanent redirect that was told twice; returns what to say of it."""
    move = after_redirect(row.feed_url or "", row.moved_to or "", told)
    row.moved_to = move.pending or None
    if not row.feed_url or move.address == row.feed_url:
        return [f"is said to have moved for good to {move.pending}"] if move.pending else []
    if source_at(session, move.address) is not None:
        return [f"has moved for good to {move.address}, which is another source: remove one of the two"]
    row.feed_url = move.address
    return [f"has moved for good to {move.address}, which is its address from now on"]


def _failed(sessions: Sessions, desk: Desk, source: Source, error: DigestError, now: datetime) -> Collected:
    asked = error.after_seconds if isinstance(error, TryAgainError) else None
    with desk.alone, sessions.begin() as session:
        row = session.get_one(Source, source.id)
        row.fetched_at, row.error, row.moved_to = now, str(error), None
        gone = isinstance(error, GoneError)
        set_health(row, after_failure(health_of(row), now, desk.every, gone=gone, asked=asked))
        return Collected(source.name, error=str(error), rest=row.rest)


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
