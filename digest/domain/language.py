"""The languages a brief is written in."""

from enum import StrEnum

from digest.domain.errors import BadInputError


class Language(StrEnum):
    """English or Simplified Chinese; the value is what the database, the forms and the commands use."""

    ENGLISH = "en"
    CHINESE = "zh"

    @property
    def tag(self) -> str:
        """The BCP 47 tag for ``lang`` attributes and Content-Language."""
        return "zh-Hans" if self is Language.CHINESE else "en"


_SPELLINGS = {
    "en": Language.ENGLISH,
    "english": Language.ENGLISH,
    "zh": Language.CHINESE,
    "cn": Language.CHINESE,
    "中文": Language.CHINESE,
    "chinese": Language.CHINESE,
}


def parse_language(text: str) -> Language:
    """The language that ``text`` names: ``en``, ``zh``, or a tag that begins so (``zh-CN``, ``en_US``).

    Raises:
        BadInputError: for anything else.
    """
    wanted = text.strip().lower().replace("_", "-")
    found = _SPELLINGS.get(wanted) or _SPELLINGS.get(wanted.partition("-")[0] if wanted.isprintable() else "")
    if found is None:
        raise BadInputError("language", text, "is not a language of the brief: use en or zh.")
    return found
