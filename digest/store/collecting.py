"""Collected stories -> rows, each once, many at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from sqlalchemy import Row, insert, or_, select, update
from sqlalchemy.orm import Session

from digest.domain.canonical import canonical_url, slug_for
from digest.domain.language import Language
from digest.domain.story import Story as CollectedStory
from digest.domain.story import enters_at
from digest.ports import Matcher
from digest.store.dialects import wait_for_turn
from digest.store.grouping import group
from digest.store.search import index_new_texts
from digest.store.stories import save_texts, text_columns
from digest.store.tables import Source, Story, StoryTextRow

_SAVING = 1
"""The turn that writers of stories wait for: two who find the same slug free, or the same event new, would both be
right at the same time."""


@dataclass(frozen=True, slots=True)
class _Facts:
    """A collected story with what it is known by, and as the editor left it where it was written already."""

    story: CollectedStory
    canonical: str
    identifier: str
    feed_hash: str
    written: CollectedStory | None = None


def new_stories(session: Session, source: Source, stories: Sequence[CollectedStory]) -> list[CollectedStory]:
    """Those of a source's stories that are not stored yet."""
    facts = [_facts(story) for story in stories]
    known = _Known(session, source, facts)
    return [fact.story for fact in facts if known.find(fact) is None]


def save_stories(
    session: Session,
    source: Source,
    stories: Sequence[CollectedStory],
    now: datetime,
    matcher: Matcher,
    written: Mapping[str, CollectedStory] = MappingProxyType({}),
) -> int:
    """Store what a source gave, or bring the stored stories up to date; returns how many are new.

    It is the same story when its canonical address or its own id is known from this source: titles, ids and hosts
    change, and a reader must not get it twice for that. The instant it entered never changes. A new story that reports
    the event of one already there joins that one's group.

    Args:
        written: stories as the editor left them, by their id; they are stored so where they are new.
    """
    wait_for_turn(session, _SAVING)
    facts = [_facts(story, written.get(story.identifier)) for story in stories]
    known = _Known(session, source, facts)
    new: dict[str, _Facts] = {}
    identifiers: set[str] = set()
    for fact in facts:
        row = known.find(fact)
        if row is None and fact.canonical not in new and fact.identifier not in identifiers:
            new[fact.canonical] = fact
            identifiers.add(fact.identifier)
        elif row is not None and row.feed_hash != fact.feed_hash:
            _bring_up_to_date(session, source, row, fact, now)
    ids = _insert(session, source, list(new.values()), now)
    group(session, matcher, source, list(zip(ids, (fact.story for fact in new.values()), strict=True)), now)
    return len(new)


def save_story(
    session: Session, source: Source, story: CollectedStory, now: datetime, *, enters: datetime | None = None
) -> bool:
    """Store one story that was collected elsewhere, in no group; returns whether it is new.

    Args:
        enters: when it counts as new, where that is not for its dates to say.
    """
    wait_for_turn(session, _SAVING)
    fact = _facts(story)
    row = _Known(session, source, [fact]).find(fact)
    if row is None:
        _insert(session, source, [fact], now, enters)
        return True
    if row.feed_hash != fact.feed_hash:
        _bring_up_to_date(session, source, row, fact, now)
    return False


def save_edited_story(
    session: Session, source: Source, story: CollectedStory, now: datetime, *, enters: datetime | None = None
) -> bool:
    """Store a story from a person's file, whose texts count more than a feed's; returns whether it is new.

    A story of any source with the same address is the one that is meant.
    """
    wait_for_turn(session, _SAVING)
    fact = _facts(story)
    found = _meant(session, source, fact)
    story_id = found or _insert(session, source, [fact], now, enters)[0]
    row = session.get_one(Story, story_id)
    row.edited, row.written_at, row.page_due_at = True, None, None
    row.topics = list(story.topics) or row.topics
    save_texts(session, story_id, story.texts)
    return found is None


def _meant(session: Session, source: Source, fact: _Facts) -> int | None:
    own = (Story.source_id == source.id) & (Story.identifier == fact.identifier)
    wanted = select(Story.id).where(or_(Story.canonical_url == fact.canonical, own))
    return session.scalars(wanted.order_by(Story.lead_id.is_not(None), Story.id).limit(1)).one_or_none()


def _facts(story: CollectedStory, written: CollectedStory | None = None) -> _Facts:
    canonical = canonical_url(story.url)
    titles = (f"{language}:{text.title}" for language, text in sorted(story.texts.items()))
    said = "\0".join((story.url, *titles, story.body))
    hashed = sha256(said.encode(errors="surrogatepass")).hexdigest()
    return _Facts(story, canonical, story.identifier or canonical, hashed, written)


_Stored = Row[int, str, str, str | None, bool]


class _Known:
    """The stories of a source that are stored already, by what they are known by."""

    def __init__(self, session: Session, source: Source, facts: Sequence[_Facts]) -> None:
        columns = select(Story.id, Story.canonical_url, Story.identifier, Story.feed_hash, Story.edited)
        by_address = Story.canonical_url.in_([fact.canonical for fact in facts])
        by_id = Story.identifier.in_([fact.identifier for fact in facts])
        rows = session.execute(columns.where(Story.source_id == source.id, or_(by_address, by_id))).all()
        self._by_address = {row.canonical_url: row for row in rows}
        self._by_id = {row.identifier: row for row in rows}

    def find(self, fact: _Facts) -> _Stored | None:
        """The stored row of a story; the older one where address and id belong to two."""
        found = (self._by_address.get(fact.canonical), self._by_id.get(fact.identifier))
        return min((row for row in found if row is not None), key=lambda row: row.id, default=None)


def _bring_up_to_date(session: Session, source: Source, row: _Stored, fact: _Facts, now: datetime) -> None:
    values: dict[str, Any] = {"feed_hash": fact.feed_hash}
    # A row of before the hash was kept is taken to be as the feed says: to write all of them anew helps nobody.
    if not row.edited and row.feed_hash is not None:
        values |= {"url": fact.story.url, "body": fact.story.body, "written_at": None}
        values["page_due_at"] = now if source.reads_pages else None
        save_texts(session, row.id, fact.story.texts)
    session.execute(update(Story).where(Story.id == row.id).values(values))


def _insert(
    session: Session, source: Source, facts: Sequence[_Facts], now: datetime, enters: datetime | None = None
) -> list[int]:
    if not facts:
        return []
    slugs = _free_slugs(session, [fact.story.slug or slug_for(_title(fact.story), fact.canonical) for fact in facts])
    rows = [_row(source, fact, slug, now, enters) for fact, slug in zip(facts, slugs, strict=True)]
    inserted = session.scalars(insert(Story).returning(Story.id, sort_by_parameter_order=True), rows)
    ids = list(inserted)
    texts = [
        (of, tongue, text)
        for of, fact in zip(ids, facts, strict=True)
        for tongue, text in (fact.written or fact.story).texts.items()
    ]
    columns = [{"story_id": of, "language": tongue, **text_columns(text)} for of, tongue, text in texts]
    session.execute(insert(StoryTextRow), columns)
    index_new_texts(session, texts)
    return ids


def _row(source: Source, fact: _Facts, slug: str, now: datetime, enters: datetime | None) -> Mapping[str, Any]:
    story = fact.story
    enters = enters or enters_at(story.published_at, now)
    # An archive that comes with a new source reaches no brief, so its pages are left alone.
    is_news = source.reads_pages and enters >= now
    return {
        "source_id": source.id,
        "slug": slug,
        "url": story.url,
        "canonical_url": fact.canonical,
        "identifier": fact.identifier,
        "language": story.language,
        "topics": list((fact.written or story).topics),
        "written_at": now if fact.written else None,
        "published_at": story.published_at,
        "seen_at": now,
        "enters_at": enters,
        "body": story.body,
        "feed_hash": fact.feed_hash,
        "page_due_at": now if is_news else None,
        "edited": False,
    }


def _title(story: CollectedStory) -> str:
    words = story.texts.get(Language.ENGLISH) or next(iter(story.texts.values()))
    return words.title


def _free_slugs(session: Session, wanted: Sequence[str]) -> list[str]:
    """A slug for each, the wanted one where that is free, else with a number after it."""
    taken = set(session.scalars(select(Story.slug).where(Story.slug.in_(wanted))))
    free: list[str] = []
    for slug in wanted:
        found = _numbered(session, slug, taken) if slug in taken else slug
        taken.add(found)
        free.append(found)
    return free


def _numbered(session: Session, slug: str, taken: set[str]) -> str:
    alike = taken | set(session.scalars(select(Story.slug).where(Story.slug.startswith(f"{slug}-", autoescape=True))))
    number = 2
    while f"{slug}-{number}" in alike:
        number += 1
    return f"{slug}-{number}"
