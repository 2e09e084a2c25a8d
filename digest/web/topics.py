"""The topics that a reader may choose."""

from sqlalchemy import select

from digest.rendering.topics import TOPICS
from digest.store.database import Sessions
from digest.store.sources import all_sources
from digest.store.tables import Story

RECENT_STORIES = 500


def known_topics(sessions: Sessions) -> frozenset[str]:
    """The brief's own topics, those of its sources, and those of recent stories, in lower case."""
    with sessions() as session:
        of_sources = [source.topics for source in all_sources(session)]
        recent = session.scalars(select(Story.topics).order_by(Story.id.desc()).limit(RECENT_STORIES)).all()
    return frozenset(TOPICS) | {str(topic).strip().lower() for topics in [*of_sources, *recent] for topic in topics}
