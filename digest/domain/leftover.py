"""What a brief has no room for, yet may name: other stories of its first story's source."""

from collections.abc import Iterable, Sequence

from digest.domain.brief import BriefStory, Candidate, shown_in
from digest.domain.language import Language
from digest.domain.topics import taste_of

MOST = 3


def more_from_source(
    candidates: Iterable[Candidate], chosen: Sequence[BriefStory], language: Language, topics: Sequence[str]
) -> list[BriefStory]:
    """The best of the first story's source that are not in the brief and have a text in ``language``.

    Args:
        candidates: the stories of the window, those in the brief among them.
        topics: the reader's, as :func:`digest.domain.brief.choose` takes them.
    """
    if not chosen:
        return []
    taste, known = taste_of(topics), {story.id for story in chosen}
    others = [
        candidate
        for candidate in candidates
        if candidate.source == chosen[0].source
        and candidate.id not in known
        and language in candidate.texts
        and taste.takes(candidate.topics)
    ]
    ranked = sorted(others, key=lambda one: (-one.signal.score, one.id))
    return [shown_in(one, language) for one in ranked[:MOST]]
