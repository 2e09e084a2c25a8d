"""The two lines a list of mail shows: the subject, and the preheader beside it.

The subject is the first story's point and the date. The date makes it differ from the day before even where a title is
the same. Nothing is added to what the story says: no marks of excitement, no emoji, no "you won't believe".
"""

import re
from collections.abc import Sequence
from datetime import date

from digest.domain.language import Language
from digest.rendering.clean import cells, clean, label, shorten
from digest.rendering.dates import short_date
from digest.rendering.stories import StoryView

SUBJECT_CELLS = 60
"""60 Latin letters or 30 Han; phones show about as much."""
PREHEADER_CELLS = 90
BETWEEN = " · "
LEAST_SHARE = 0.5
_BETWEEN_TITLES = {Language.ENGLISH: "; ", Language.CHINESE: "；"}
_CLAUSE_END = re.compile(r"[，；：。！？]|[,;:.!?](?= )|(?= [–—(])|——")
_SAID = "?？!！"
"""Marks that change what a clause says, so they stay."""


def subject_line(title: str, on: date, language: Language) -> str:
    """The title and the date within :data:`SUBJECT_CELLS`: whole, else its first clauses, else cut with an ellipsis."""
    day = short_date(on, language)
    return f"{_point(clean(title), SUBJECT_CELLS - cells(BETWEEN + day))}{BETWEEN}{day}"


def _point(title: str, room: int) -> str:
    """What fits of a title; a clause that says at least half of what would fit is better than a cut word."""
    if cells(title) <= room:
        return shorten(title, room)
    ends = [found.end() if found[0] in _SAID else found.start() for found in _CLAUSE_END.finditer(title)]
    fitting = [title[:end] for end in ends if room * LEAST_SHARE <= cells(title[:end]) <= room]
    return shorten(fitting[-1], room) if fitting else label(title, room)


def also(stories: Sequence[StoryView], language: Language) -> str:
    """The titles of the second and third story, for the preheader: both where they fit, else the second's.

    Empty where there is one story.
    """
    titles = [story.title for story in stories[1:3]]
    both = _BETWEEN_TITLES[language].join(titles)
    return both if cells(both) <= PREHEADER_CELLS else shorten(titles[0], PREHEADER_CELLS)
