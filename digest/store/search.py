"""Finding stories by their words: FTS5 on SQLite, a GIN index over ``tsvector`` on PostgreSQL."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlalchemy import String, TextClause, bindparam, delete, exists, func, insert, select, text
from sqlalchemy.orm import Session, aliased

from digest.domain.language import Language
from digest.domain.search_words import question_words, search_words
from digest.domain.story import StoryText
from digest.store.tables import Story, StorySearch, StoryTextRow

_MATCHES = {
    "sqlite": "story_search.id IN (SELECT rowid FROM story_search_fts WHERE story_search_fts MATCH :question)",
    "postgresql": "array_to_tsvector(string_to_array(story_search.words, ' ')) @@ CAST(:question AS tsquery)",
}


def index_texts(session: Session, story_id: int, texts: Mapping[Language, StoryText]) -> None:
    """Make a story findable by title, quick answer, quick take and key points in these languages."""
    for language, words in texts.items():
        session.execute(delete(StorySearch).where(StorySearch.story_id == story_id, StorySearch.language == language))
        found = search_words(words.title, words.quick_answer, words.quick_take, *words.key_points)
        session.add(StorySearch(story_id=story_id, language=language, words=found))
    session.flush()


def index_new_texts(session: Session, texts: Iterable[tuple[int, Language, StoryText]]) -> None:
    """Make texts findable that were not there before, all in one go."""
    rows = [
        {
            "story_id": story_id,
            "language": language,
            "words": search_words(words.title, words.quick_answer, words.quick_take, *words.key_points),
        }
        for story_id, language, words in texts
    ]
    if rows:
        session.execute(insert(StorySearch), rows)


def index_missing(session: Session, limit: int) -> int:
    """Make stories from before there was a search findable, some at a time; returns how many texts."""
    is_known = exists().where(
        StorySearch.story_id == StoryTextRow.story_id, StorySearch.language == StoryTextRow.language
    )
    rows = session.scalars(select(StoryTextRow).where(~is_known).limit(limit)).all()
    for row in rows:
        found = search_words(row.title, row.quick_answer, row.quick_take, *row.key_points)
        session.add(StorySearch(story_id=row.story_id, language=row.language, words=found))
    return len(rows)


def find_stories(session: Session, question: str, now: datetime, limit: int, offset: int = 0) -> list[int]:
    """The ids of stories that readers may see by ``now`` with every word of ``question`` in one of their texts, the
    newest first. A story whose event another one leads is found as that one.
    """
    words = question_words(question)
    if not words:
        return []
    lead = aliased(Story)
    found = (
        select(lead.id)
        .join(Story, func.coalesce(Story.lead_id, Story.id) == lead.id)
        .join(StorySearch, StorySearch.story_id == Story.id)
        .where(Story.enters_at <= now, Story.hidden.is_(False), lead.enters_at <= now, lead.hidden.is_(False))
        .where(_matching(session.get_bind().dialect.name, words))
        .group_by(lead.id)
        .order_by(lead.enters_at.desc(), lead.id.desc())
    )
    return list(session.scalars(found.limit(limit).offset(offset)))


def _matching(dialect: str, words: list[tuple[str, bool]]) -> TextClause:
    question = " AND ".join(f'"{word}"{"*" if begins else ""}' for word, begins in words)
    if dialect == "postgresql":
        question = " & ".join(f"'{word}'{':*' if begins else ''}" for word, begins in words)
    # The words are letters and digits only, so no sign of either query language is among them.
    return text(_MATCHES[dialect]).bindparams(bindparam("question", question, String))
