"""The words that a visitor agrees to, by version: a consent names its version, so they stay here for good."""

from digest.domain.language import Language
from digest.web.phrases import marked, say

WORDING = "2026-12"
"""The version that the form shows now. New words get a new version; a test holds the old ones to what they were."""
PROMISES = {
    "2026-12": (
        marked("One e-mail a day, at 8:00 where you are, or at the time you choose."),
        marked("We ask you to confirm first. Nothing else is sent until you do."),
        marked("One click in any brief and it stops."),
    ),
}


def wording_of(language: Language) -> str:
    """The version as a consent keeps it: ``2026-12-en``."""
    return f"{WORDING}-{language}"


def words_of(wording: str) -> list[str]:
    """The words behind a version that a consent names; none for one that is not ours, such as an import's."""
    version, _, tongue = wording.rpartition("-")
    if version not in PROMISES or tongue not in set(Language):
        return []
    return [say(words, Language(tongue)) for words in PROMISES[version]]
