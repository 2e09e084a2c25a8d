"""Does a text say only what its source says? Every figure and every name in it must stand there."""

from dataclasses import fields
from datetime import datetime

from digest.domain.figures import figures, figures_of_source, stands_in
from digest.domain.glossary import Glossary
from digest.domain.language import Language
from digest.domain.names import named_in, names
from digest.domain.story import Story, StoryText

WEEKDAYS = (
    ("Monday", "周一", "星期一"),
    ("Tuesday", "周二", "星期二"),
    ("Wednesday", "周三", "星期三"),
    ("Thursday", "周四", "星期四"),
    ("Friday", "周五", "星期五"),
    ("Saturday", "周六", "星期六"),
    ("Sunday", "周日", "星期日", "星期天", "周日"),
)


def source_of(story: Story) -> str:
    """Everything that a text of the story may rest on: titles, the source's text, its name and its date."""
    titles = [text.title for text in story.texts.values()]
    return "\n".join([*titles, story.body, story.source, story.url, *_dates(story.published_at)])


def inventions(text: StoryText, language: Language, source: str, glossary: Glossary) -> list[str]:
    """The figures and names of a text that its source does not have, as they stand in the text.

    Args:
        source: as :func:`source_of` gives it.
        glossary: knows the same name in both languages.
    """
    said = as_prose(text)
    known = figures_of_source(source)
    wrong = [figure.shown for figure in figures(said) if not stands_in(figure, known)]
    return list(
        dict.fromkeys([*wrong, *_strange_names(said, language, source, glossary), *_strange_days(said, source)])
    )


def as_prose(text: StoryText) -> str:
    """Every word of a text, a line each."""
    values = (getattr(text, each.name) for each in fields(text))
    return "\n".join(line for value in values for line in ([value] if isinstance(value, str) else value) if line)


def _strange_names(said: str, language: Language, source: str, glossary: Glossary) -> list[str]:
    in_source = glossary.found_in(source)
    in_text = glossary.found_in(said)
    wrong = [term.names[language] for term in in_text if term not in in_source]
    accounted = "\n".join(spelling for term in in_text for spelling in term.spellings)
    for name in names(said, language):
        if name in glossary.common or named_in(name, source) or named_in(name, accounted) or _is_weekday(name):
            continue
        wrong.append(name)
    return wrong


def _strange_days(said: str, source: str) -> list[str]:
    return [
        word
        for spellings in WEEKDAYS
        for word in spellings
        if word in said and not any(spelling in source for spelling in spellings)
    ]


def _is_weekday(name: str) -> bool:
    return any(name.rstrip("s") in spellings for spellings in WEEKDAYS)


def _dates(published_at: datetime | None) -> list[str]:
    if published_at is None:
        return []
    return [published_at.date().isoformat(), WEEKDAYS[published_at.weekday()][0]]
