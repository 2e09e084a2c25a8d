"""What a form or a JSON body asks for, checked field by field; every fault is told, not only the first."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TypeVar

from digest.domain.errors import BadInputError
from digest.domain.language import Language, LanguageChoice, parse_language_choice
from digest.domain.schedule import Cadence, parse_time, parse_weekdays
from digest.domain.subscriber import topics_key
from digest.steps.check_address import check_address, check_for_slips
from digest.web.fields import Fields
from digest.web.zones import read_zone

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Languages, mornings and topics."""

    languages: LanguageChoice
    cadence: Cadence
    topics: str = ""

    @property
    def language(self) -> Language:
        """The language to speak to the reader in."""
        return self.languages.language


@dataclass(slots=True)
class Faults:
    """Field -> what is wrong with it."""

    errors: dict[str, BadInputError] = field(default_factory=dict)

    def keep(self, read: Callable[[], Value], otherwise: Value) -> Value:
        """What ``read`` returns, or ``otherwise`` with its complaint kept."""
        try:
            return read()
        except BadInputError as error:
            self.errors.setdefault(error.field, error)
            return otherwise


def read_address(fields: Fields, faults: Faults) -> str:
    """The address to write to."""

    def read() -> str:
        address = check_address(fields.text("email_meant") or fields.text("email") or "")
        check_for_slips(address, fields.text("email_checked") or "")
        return address

    return faults.keep(read, "")


def read_wanted(
    fields: Fields, otherwise: Wanted, known_topics: Callable[[], Collection[str]], faults: Faults
) -> Wanted:
    """What is wanted; a field that was not sent stays as in ``otherwise``.

    Args:
        known_topics: the topics of the brief; asked only where some were sent.
    """
    given = otherwise.cadence
    cadence = Cadence(
        timezone=faults.keep(lambda: _zone(fields, given), given.timezone),
        at=faults.keep(lambda: parse_time(text) if (text := fields.text("time")) else given.at, given.at),
        weekdays=faults.keep(lambda: _weekdays(fields, given), given.weekdays),
    )
    languages = faults.keep(lambda: _languages(fields, otherwise), otherwise.languages)
    topics = faults.keep(lambda: _topics(fields, otherwise, known_topics), otherwise.topics)
    return Wanted(languages, cadence, topics)


def _languages(fields: Fields, otherwise: Wanted) -> LanguageChoice:
    text = fields.text("language")
    return otherwise.languages if text is None else parse_language_choice(text, otherwise.language)


def _zone(fields: Fields, otherwise: Cadence) -> str:
    text = fields.text("timezone")
    return otherwise.timezone if text is None else read_zone(text)


def _weekdays(fields: Fields, otherwise: Cadence) -> int:
    days = fields.words("weekdays")
    if not days and fields.text("shows") == "choices":
        raise BadInputError("weekdays", "", "needs at least one day.")
    return otherwise.weekdays if days is None else parse_weekdays(",".join(days))


def _topics(fields: Fields, otherwise: Wanted, known_topics: Callable[[], Collection[str]]) -> str:
    words = fields.words("topics")
    if words is None:
        return "" if fields.text("shows") == "choices" else otherwise.topics
    key = topics_key(words)
    if not key:
        return key
    known = known_topics()
    for word in key.split(","):
        if word not in known:
            raise BadInputError("topics", word, f"is not a topic of the brief: choose from {', '.join(sorted(known))}.")
    return key
