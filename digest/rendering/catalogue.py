"""Translations read straight from the ``.po`` files: what an editor saves is what readers get, with no build step.

The English text is the message id, so English needs no file. Fuzzy messages are left out, as gettext does.
"""

from functools import cache
from gettext import NullTranslations
from io import BytesIO
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import Translations

from digest.domain.language import Language

LOCALE = Path(__file__).resolve().parents[2] / "emails" / "locale"


def catalogue_path(language: Language, domain: str, folder: Path = LOCALE) -> Path:
    """Where the messages of a domain (``emails``, ``web``) are kept for a language."""
    return folder / str(language) / "LC_MESSAGES" / f"{domain}.po"


@cache
def translations(language: Language, domain: str, folder: Path = LOCALE) -> NullTranslations:
    """The messages of ``domain`` in ``language``; English returns every message as it is.

    Raises:
        FileNotFoundError: there is no catalogue of that domain.
    """
    if language is Language.ENGLISH:
        return NullTranslations()
    with catalogue_path(language, domain, folder).open("rb") as file:
        catalogue = read_po(file, locale="zh_Hans", domain=domain)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Translations(compiled, domain)
