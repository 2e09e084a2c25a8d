"""A correction: what readers got wrong, said once to those who got it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from digest.domain.language import Language

TOLD_FOR = timedelta(days=30)
"""A reader whose next brief comes later than this is told no more."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A correction as a brief or a page shows it.

    Attributes:
        correction_id: names it towards the database.
        slug: of the story.
        title: of the story as it is now, by language.
        notes: what was wrong and what is right, by language.
        made_at: when it was corrected.
    """

    correction_id: int
    slug: str
    title: Mapping[Language, str]
    notes: Mapping[Language, str]
    made_at: datetime

    def title_in(self, language: Language) -> str:
        """The title, in another language where there is none in this one."""
        return self.title.get(language) or next(iter(self.title.values()), "")

    def note_in(self, language: Language) -> str:
        """The note in a language; empty where nobody wrote one."""
        return self.notes.get(language, "")
