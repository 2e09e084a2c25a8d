"""Why an act of the staff could not be done, in the language of whoever tried."""

from digest.domain.errors import BadInputError, PermanentError, shown
from digest.domain.language import Language
from digest.steps.edit_stories import AlreadySentError
from digest.web.phrases import marked, say

SENT = marked("The story is in a brief already, and nobody gets it twice.")
FIELDS = {
    "at": marked("That moment has passed: name one to come."),
    "note": marked("A note is missing: write one in each language in which briefs went out with the story."),
    "title": marked("A text needs a title."),
}
OTHER = marked("{field}: {value} {mend}")


def refusal_words(error: PermanentError, language: Language) -> str:
    """One sentence that says what to do."""
    if isinstance(error, AlreadySentError):
        return say(SENT, language)
    if not isinstance(error, BadInputError):
        return str(error)
    field = error.field.rpartition(".")[2]
    if field == "at" or (field in FIELDS and not str(error.value).strip()):
        return say(FIELDS[field], language)
    return say(OTHER, language, field=error.field, value=shown(error.value), mend=error.mend)
