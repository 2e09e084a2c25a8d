"""Which stories report one event: candidates by an index of what they share, the word of a matcher, one leader."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import case, func, insert, select, update
from sqlalchemy.orm import Session, aliased

from digest.domain.canonical import canonical_url
from digest.domain.story import Sighting
from digest.domain.story import Story as CollectedStory
from digest.ports import Matcher
from digest.store.groups import hand_on
from digest.store.tables import Source, Story, StoryKey, StoryTextRow

STRONG = "="
"""Begins a key that is enough by itself to look at a pair; two of the others are."""
_MOST_SHARING = 100
"""A key that more stories of the days around share than this tells nothing and is passed over."""
_MOST_CANDIDATES = 12
_DAY_ZERO = 719163
_AT_ONCE = 200
_LONGEST_KEY = 80


def group(
    session: Session, matcher: Matcher, source: Source, new: Sequence[tuple[int, CollectedStory]], now: datetime
) -> int:
    """Let stories just stored join the groups of the events they report; returns how many did.

    The leader is always the story that was there first, so that one which a reader was sent keeps its id and a late
    twin is not sent as new. The cost grows with the number of new stories, not with that of stored ones: a pair is
    looked at when it shares rare keys within the matcher's reach.
    """
    joined = 0
    for start in range(0, len(new), _AT_ONCE):
        sightings = [(story_id, _sighting(matcher, source, story, now)) for story_id, story in new[start:][:_AT_ONCE]]
        _keep_keys(session, sightings)
        joined += _join(session, matcher, sightings)
    return joined


def _sighting(matcher: Matcher, source: Source, story: CollectedStory, now: datetime) -> Sighting:
    plain = Sighting(
        title=story.texts[story.language].title if story.language in story.texts else "",
        language=story.language,
        url=canonical_url(story.url),
        at=story.published_at or now,
        source=source.name,
        links=tuple(dict.fromkeys(canonical_url(link) for link in story.links)),
    )
    return replace(plain, keys=frozenset(key[:_LONGEST_KEY] for key in matcher.keys(plain)))


def _keep_keys(session: Session, sightings: Iterable[tuple[int, Sighting]]) -> None:
    rows = [
        {"story_id": story_id, "key": key, "day": _day(sighting.at)}
        for story_id, sighting in sightings
        for key in sorted(sighting.keys)
    ]
    if rows:
        session.execute(insert(StoryKey), rows)


def _day(at: datetime) -> int:
    return at.toordinal() - _DAY_ZERO


def _join(session: Session, matcher: Matcher, sightings: Sequence[tuple[int, Sighting]]) -> int:
    pairs = _candidates(session, matcher.reach, sightings)
    known = dict(sightings) | _stored(session, {other for others in pairs.values() for other in others})
    leads = _leads(session, known)
    joined = 0
    for story_id, sighting in sightings:
        twin = next((o for o in pairs.get(story_id, ()) if o in known and matcher.is_same(sighting, known[o])), None)
        if twin is not None:
            leads[story_id] = leads[twin]
            session.execute(update(Story).where(Story.id == story_id).values(lead_id=leads[twin]))
            joined += 1
    return joined


def _leads(session: Session, known: Iterable[int]) -> dict[int, int]:
    rows = session.execute(select(Story.id, func.coalesce(Story.lead_id, Story.id)).where(Story.id.in_(list(known))))
    return {story_id: lead for story_id, lead in rows}  # noqa: C416 - rows are not pairs to mypy


def _candidates(
    session: Session, reach: timedelta, sightings: Sequence[tuple[int, Sighting]]
) -> dict[int, Sequence[int]]:
    """For each story the earlier ones it may be the same as, the likeliest first."""
    pairs: dict[int, list[int]] = defaultdict(list)
    for story_id, other in _same_address(session, sightings):
        pairs[story_id].append(other)
    for story_id, other in _sharing(session, reach, sightings):
        if other not in pairs[story_id] and len(pairs[story_id]) < _MOST_CANDIDATES:
            pairs[story_id].append(other)
    return dict(pairs)


def _same_address(session: Session, sightings: Sequence[tuple[int, Sighting]]) -> Iterable[tuple[int, int]]:
    by_address = {sighting.url: story_id for story_id, sighting in sightings}
    wanted = select(Story.id, Story.canonical_url).where(Story.canonical_url.in_(list(by_address))).order_by(Story.id)
    for other, address in session.execute(wanted):
        if other < by_address[address]:
            yield by_address[address], other


def _sharing(
    session: Session, reach: timedelta, sightings: Sequence[tuple[int, Sighting]]
) -> Iterable[tuple[int, int]]:
    days = -(-reach // timedelta(days=1))
    telling = _telling(session, days, sightings)
    if not telling:
        return []
    own, other = aliased(StoryKey), aliased(StoryKey)
    weight = func.sum(case((own.key.startswith(STRONG), 2), else_=1))
    wanted = (
        select(own.story_id, other.story_id)
        .join(other, (other.key == own.key) & other.day.between(own.day - days, own.day + days))
        .where(own.story_id.in_([story_id for story_id, _ in sightings]), own.key.in_(telling))
        .where(other.story_id < own.story_id)
        .group_by(own.story_id, other.story_id)
        .having(weight >= 2)  # noqa: PLR2004 - see STRONG
        .order_by(own.story_id, weight.desc(), other.story_id)
    )
    return [(story_id, found) for story_id, found in session.execute(wanted)]


def _telling(session: Session, days: int, sightings: Sequence[tuple[int, Sighting]]) -> list[str]:
    """The keys that some other stories share, but not so many that they tell nothing."""
    keys = sorted({key for _, sighting in sightings for key in sighting.keys})
    around = [_day(sighting.at) for _, sighting in sightings]
    number = func.count()
    wanted = (
        select(StoryKey.key)
        .where(StoryKey.key.in_(keys), StoryKey.day.between(min(around) - days, max(around) + days))
        .group_by(StoryKey.key)
        .having(number.between(2, _MOST_SHARING * _spans(around, days)))
    )
    return list(session.scalars(wanted))


def _spans(around: Sequence[int], days: int) -> int:
    """How many stretches of the matcher's reach the new stories lie over."""
    return 1 + (max(around) - min(around)) // (2 * days + 1)


def _stored(session: Session, ids: Iterable[int]) -> dict[int, Sighting]:
    wanted = list(ids)
    keys: dict[int, set[str]] = defaultdict(set)
    for story_id, key in session.execute(select(StoryKey.story_id, StoryKey.key).where(StoryKey.story_id.in_(wanted))):
        keys[story_id].add(key)
    rows = session.execute(
        select(
            Story.id,
            StoryTextRow.title,
            Story.language,
            Story.canonical_url,
            func.coalesce(Story.published_at, Story.seen_at).label("at"),
            Source.name,
        )
        .join(StoryTextRow, (StoryTextRow.story_id == Story.id) & (StoryTextRow.language == Story.language))
        .join(Source, Source.id == Story.source_id)
        .where(Story.id.in_(wanted))
    )
    return {
        story_id: Sighting(title, language, url, at, source, keys=frozenset(keys[story_id]))
        for story_id, title, language, url, at, source in rows
    }


def hand_on_groups(session: Session, source_id: int) -> None:
    """Before a source goes with its stories: the groups they lead are led by the next story of another source."""
    led = select(Story.id).where(Story.source_id == source_id)
    heirs = session.execute(
        select(Story.lead_id, func.min(Story.id))
        .where(Story.lead_id.in_(led), Story.source_id != source_id)
        .group_by(Story.lead_id)
    ).all()
    for lead, heir in heirs:
        if lead is not None:
            hand_on(session, lead, heir)
