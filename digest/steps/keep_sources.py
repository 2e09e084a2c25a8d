"""The list of sources: add, find, remove."""

from collections.abc import Sequence
from datetime import datetime
from urllib.parse import urlsplit

from digest.domain.errors import BadInputError
from digest.domain.language import Language
from digest.domain.source import Health
from digest.store.database import Sessions
from digest.store.grouping import hand_on_groups
from digest.store.sources import all_sources, set_health, source_at, source_named
from digest.store.tables import Source


def add_source(
    sessions: Sessions, url: str, name: str, language: Language | None, topics: Sequence[str], now: datetime
) -> Source:
    """A new feed.

    Raises:
        BadInputError: the address is no http(s) address, or it or the name is taken.
    """
    parts = urlsplit(url.strip())
    if parts.scheme not in {"http", "https"} or not parts.hostname or not url.strip().isprintable():
        raise BadInputError("url", url, "is not the address of a feed: write https://….")
    shown = name.strip() or parts.hostname.removeprefix("www.")
    with sessions.begin() as session:
        if source_at(session, url.strip()) is not None:
            raise BadInputError("url", url, "is a source already.")
        source = source_named(session, shown, now)
        if source.feed_url:
            raise BadInputError("name", shown, f"is the name of another source ({source.feed_url}): give --name.")
        source.feed_url, source.language = url.strip(), language
        source.topics = sorted({topic.strip().lower() for topic in topics if topic.strip()})
        return source


def change_source(
    sessions: Sessions, source_id: int, *, reads_pages: bool | None = None, weight: float | None = None
) -> Source:
    """Change what is given of a source.

    Args:
        reads_pages: whether the full text of its new stories is read from their pages.
        weight: how much its stories count, 0 to 1.
    """
    with sessions.begin() as session:
        source = session.get_one(Source, source_id)
        source.reads_pages = source.reads_pages if reads_pages is None else reads_pages
        source.weight = source.weight if weight is None else weight
        return source


def wake_source(sessions: Sessions, source_id: int, now: datetime) -> None:
    """Let a source that rests be fetched at the next look, with a clean slate."""
    with sessions.begin() as session:
        set_health(session.get_one(Source, source_id), Health(fetch_after_at=now))


def list_sources(sessions: Sessions) -> list[Source]:
    """Every source by name."""
    with sessions() as session:
        return list(all_sources(session))


def find_source(sessions: Sessions, wanted: str) -> Source:
    """The source with this name, id or feed address.

    Raises:
        BadInputError: there is none.
    """
    for source in list_sources(sessions):
        if wanted in {source.name, source.feed_url, str(source.id)}:
            return source
    raise BadInputError("source", wanted, "is not a source: see digest sources list.")


def remove_source(sessions: Sessions, source_id: int) -> None:
    """Delete a source with its stories; briefs that went out keep their words, and groups get another leader."""
    with sessions.begin() as session:
        hand_on_groups(session, source_id)
        session.delete(session.get_one(Source, source_id))
