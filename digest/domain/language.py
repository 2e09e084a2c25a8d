"""The languages a brief is written in, and what a reader may choose among them."""

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


class LanguageChoice(StrEnum):
    """What a reader reads: one language, or one with the title of each story in the other under its own."""

    ENGLISH = "en"
    CHINESE = "zh"
    ENGLISH_FIRST = "en+zh"
    CHINESE_FIRST = "zh+en"

    @property
    def language(self) -> Language:
        """The language of everything but those second titles."""
        return Language(self.value.partition("+")[0])

    @property
    def is_both(self) -> bool:
        """Whether titles stand in both languages."""
        return "+" in self.value


BOTH = "both"
"""What forms, the API and imports call both languages side by side; the first is the one the reader is spoken to in."""
LANGUAGE_CHOICES = ("en", "zh", BOTH)
"""The values of a form's field ``language``."""
_BOTH_SPELLINGS = frozenset({BOTH, "bilingual", "双语", "中英双语"})


def language_choice(first: Language, *, is_both: bool = False) -> LanguageChoice:
    """The choice of a reader whose first language is ``first``."""
    other = next(tongue for tongue in Language if tongue is not first)
    return LanguageChoice(f"{first}+{other}" if is_both else first.value)


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


def choices_of(first: Language) -> tuple[LanguageChoice, ...]:
    """The choices in which ``first`` comes first: alone, then with the other language."""
    return tuple(choice for choice in LanguageChoice if choice.language is first)


def parse_language_choice(text: str, first: Language) -> LanguageChoice:
    """The choice that ``text`` names: as :func:`parse_language`, or ``both``, or with its order, ``en+zh``.

    Args:
        first: the reader's first language where ``both`` doesn't tell.

    Raises:
        BadInputError: for anything else.
    """
    wanted = text.strip().lower()
    if wanted in _BOTH_SPELLINGS:
        return language_choice(first, is_both=True)
    # "+" means a space in a form that was encoded by hand.
    one, plus, other = wanted.replace(" ", "+").partition("+")
    if not plus:
        return language_choice(parse_language(text))
    pair = [found for word in (one, other) if (found := _SPELLINGS.get(word))]
    if len(set(pair)) != len(Language):
        raise BadInputError("language", text, "is not a language of the brief: use en, zh or both.")
    return language_choice(pair[0], is_both=True)
