"""Stories as the templates show them: cleaned, cut to their places, with the addresses a reader follows."""

from collections.abc import Sequence
from dataclasses import dataclass

from digest.domain.brief import BriefStory
from digest.domain.language import Language
from digest.links import Links
from digest.rendering.clean import clean, label, shorten, web_address
from digest.rendering.text import tied

TITLE_CELLS = 240
SOURCE_CELLS = 60
ANSWER_CELLS = 700
TAKE_CELLS = 600
POINT_CELLS = 320
REASON_CELLS = 900
MOST_POINTS = 6
MOST_NAMES = 3
_BETWEEN_NAMES = {Language.ENGLISH: ", ", Language.CHINESE: "、"}
STRONG, SOLID = 75, 50
"""From which score a signal is called so; the brief's last lines say it too."""


@dataclass(frozen=True, slots=True)
class StoryView:
    """One story, ready for a template; every text is on one line.

    Attributes:
        url: the story's page on our site.
        source_url: the original; empty where it is no web address.
        lang: BCP 47 tag of its texts.
        is_foreign: whether that is not the language of the brief.
        number: its place in the brief, from 1.
        strength: what its score means: ``strong``, ``solid`` or ``early``.
        other_title: its title in the other language, for readers of both; else empty.
        also_by: names of other sources that report it; empty where none does.
    """

    title: str
    url: str
    source: str
    source_url: str
    topic: str
    score: int
    lang: str
    language: str
    is_foreign: bool
    answer: str
    take: str
    key_points: tuple[str, ...]
    why_it_matters: str
    number: int
    strength: str
    other_title: str
    other_lang: str
    also_by: str = ""


def story_views(
    stories: Sequence[BriefStory], links: Links, language: Language, *, is_both: bool = False
) -> list[StoryView]:
    """The stories for a brief in ``language``, in their order; for readers of both with the other title."""
    return [_view(story, links, language, number, is_both=is_both) for number, story in enumerate(stories, 1)]


def strength(score: int) -> str:
    """What a score means, in a word."""
    return "strong" if score >= STRONG else "solid" if score >= SOLID else "early"


def _view(story: BriefStory, links: Links, language: Language, number: int, *, is_both: bool) -> StoryView:
    text, other = story.text, next(tongue for tongue in Language if tongue is not story.language)
    return StoryView(
        title=tied(label(clean(text.title), TITLE_CELLS)),
        url=links.story(story.slug, language),
        source=label(clean(story.source), SOURCE_CELLS),
        source_url=web_address(story.url),
        topic=story.topics[0] if story.topics else "",
        score=story.score,
        lang=story.language.tag,
        language=str(story.language),
        is_foreign=story.language is not language,
        answer=_first(ANSWER_CELLS, text.quick_answer, text.quick_take, text.what_happened, text.source_excerpt),
        take=_first(TAKE_CELLS, *summaries(story)),
        key_points=tuple(tied(shorten(clean(point), POINT_CELLS)) for point in text.key_points[:MOST_POINTS]),
        why_it_matters=tied(shorten(clean(text.why_it_matters), REASON_CELLS)),
        number=number,
        strength=strength(story.score),
        other_title=tied(label(clean(story.other_title), TITLE_CELLS)) if is_both else "",
        other_lang=other.tag,
        also_by=_names(story.also_by, language),
    )


def _names(names: Sequence[str], language: Language) -> str:
    between = _BETWEEN_NAMES[language]
    return between.join(label(clean(name), SOURCE_CELLS) for name in names[:MOST_NAMES])


def summaries(story: BriefStory) -> tuple[str, ...]:
    """What sums a story up beside its title, the best first; a quoted take is but the second-best sentence."""
    text = story.text
    first = (text.quick_answer, text.quick_take) if story.is_quoted else (text.quick_take, text.quick_answer)
    return (*first, text.what_happened, text.source_excerpt)


def _first(limit: int, *texts: str) -> str:
    """The first of the texts that says something."""
    return next((tied(shorten(said, limit)) for text in texts if (said := clean(text))), "")
