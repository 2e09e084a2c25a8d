"""Which language a page is shown in: the address, else the browser, else the site's own."""

from typing import Annotated

from fastapi import Depends, Query, Request

from digest.domain.errors import BadInputError
from digest.domain.language import Language, parse_language
from digest.web.edge import edge_of
from digest.web.phrases import marked

LANG = marked("Language of what is said: en or zh; the browser’s when left out")


def other(language: Language) -> Language:
    """The language that the switch leads to."""
    return Language.ENGLISH if language is Language.CHINESE else Language.CHINESE


def language_or_none(text: str | None) -> Language | None:
    """The language that ``text`` names, if it names one."""
    if not text:
        return None
    try:
        return parse_language(text)
    except BadInputError:
        return None


def accepted(header: str) -> list[str]:
    """The tags of an Accept-Language header, best first (RFC 9110 §12.5.4); those with weight 0 are left out."""
    weighed = []
    for place, part in enumerate(header.split(",")[:20]):
        tag, _, parameters = part.partition(";")
        if weight := _weight(parameters):
            weighed.append((-weight, place, tag.strip()))
    return [tag for _, _, tag in sorted(weighed)]


def _weight(parameters: str) -> float:
    name, _, value = parameters.partition("=")
    if name.strip().lower() != "q":
        return 1.0
    digits = value.strip()
    return min(1.0, float(digits)) if digits.replace(".", "", 1).isdecimal() and digits.isascii() else 0.0


def asked_language(request: Request) -> Language | None:
    """The language that ``?lang=`` asks for."""
    return language_or_none(request.query_params.get("lang"))


def page_language(request: Request) -> Language:
    """The language of a page whose reader is not known."""
    if asked := asked_language(request):
        return asked
    for tag in accepted(request.headers.get("accept-language", "")):
        if found := language_or_none(tag):
            return found
    return edge_of(request).application.settings.default_language


Lang = Annotated[str, Query(description=LANG)]
"""Names ``?lang=`` in the API's description."""


async def _page_language(request: Request, lang: Lang = "") -> Language:  # noqa: ARG001 - read from the request
    return page_language(request)


async def _asked_language(request: Request, lang: Lang = "") -> Language | None:  # noqa: ARG001 - likewise
    return asked_language(request)


LanguageOf = Annotated[Language, Depends(_page_language)]
AskedLanguage = Annotated[Language | None, Depends(_asked_language)]
