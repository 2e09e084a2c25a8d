"""Something said to an operator: words with gaps, and what goes into them, put into a language where it is read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Union

BETWEEN = ", "
"""Stands between the items of a list; a message of the catalogue like all others."""
Value = Union[str, "Notice", Sequence["Value"]]
Translate = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Notice:
    """Words and what goes into their gaps.

    Attributes:
        text: English with ``{name}`` for each value; the message's id in the catalogue.
        values: name -> a word that is nobody's language, another notice, or a list of either.
    """

    text: str
    values: Mapping[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        """In English."""
        return self.told(str)

    def told(self, translate: Translate) -> str:
        """In the language that ``translate`` leads to."""
        values = {name: _told(value, translate) for name, value in self.values.items()}
        return translate(self.text).format(**values) if self.text else ""


def _told(value: Value, translate: Translate) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Notice):
        return value.told(translate)
    return translate(BETWEEN).join(_told(each, translate) for each in value)


def notice(text: str, /, **values: Value) -> Notice:
    """Say something; ``text`` is written out where this is called, or no catalogue finds it."""
    return Notice(text, values)


def as_json(value: Value) -> object:
    """A notice as JSON: ``[text, values]``; lists as ``{"all": […]}``."""
    if isinstance(value, str):
        return value
    if isinstance(value, Notice):
        return [value.text, {name: as_json(each) for name, each in value.values.items()}]
    return {"all": [as_json(each) for each in value]}


def from_json(kept: object) -> Value:
    """What :func:`as_json` wrote.

    Raises:
        ValueError: it wrote something else.
    """
    match kept:
        case str():
            return kept
        case [str(text), dict(values)]:
            return Notice(text, {str(name): from_json(each) for name, each in values.items()})
        case {"all": list(each)}:
            return [from_json(one) for one in each]
    raise ValueError("not a notice")
